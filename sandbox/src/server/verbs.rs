//! What each method means at each kind of path.

use super::request::{Form, Query, Target};
use super::show::{Page, Show};
use super::watch::Watch;
use super::{Responded, Shared, json, respond, stream};
use crate::api::{DeleteOptions, Part, State, events};
use crate::patch::Patch;
use crate::refusal::{Answer, Refusal};
use crate::resources::Has;
use crate::select::Selector;
use crate::value::{name, namespace, uid};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;

/// One request about objects.
pub(super) struct Asked<'a> {
    pub(super) shared: &'a Shared,
    pub(super) parts: &'a Parts,
    pub(super) body: &'a Bytes,
    pub(super) target: &'a Target,
    pub(super) query: &'a Query,
    pub(super) form: Form,
}

/// Answers it.
pub(super) fn serve(asked: &Asked<'_>) -> Responded {
    let target = asked.target;
    match (asked.parts.method.as_str(), target.is_collection(), target.subresource.as_str()) {
        ("GET", true, _) if asked.query.is_true("watch") => asked.watch(),
        ("GET", true, _) => asked.list(),
        ("POST", true, _) => asked.create(),
        ("DELETE", true, _) => asked.delete_all(),
        ("GET", false, "" | "status") => {
            let object = asked.state(|state| target.object(state))?;
            asked.show(StatusCode::OK, &object)
        }
        ("PUT", false, "") => asked.update(Part::Main),
        ("PUT", false, "status") => asked.update(Part::Status),
        ("PATCH", false, "") => asked.patch(Part::Main),
        ("PATCH", false, "status") => asked.patch(Part::Status),
        ("DELETE", false, "") => asked.delete(),
        (_, false, "scale") if target.resource.has(Has::Scale) => asked.scale(),
        ("POST", false, "binding" | "eviction") if target.resource.plural == "pods" => asked.move_pod(),
        (_, _, "" | "status") => {
            let message = "the server does not allow this method on the requested resource";
            Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message))
        }
        _ => Err(Refusal::nowhere()),
    }
}

impl Asked<'_> {
    fn state<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        self.shared.with(act)
    }

    fn how(&self) -> Show {
        Show { resource: self.target.resource, form: self.form }
    }

    fn show(&self, code: StatusCode, object: &Value) -> Responded {
        Ok(respond(self.shared, code, &self.how().object(object, self.shared.now())))
    }

    fn selector(&self) -> Answer<Selector> {
        Selector::parse(
            self.target.resource,
            self.query.get("labelSelector"),
            self.query.get("fieldSelector"),
        )
    }

    fn watch(&self) -> Responded {
        let watch = Watch::begin(
            self.shared.clone(),
            self.how(),
            &self.target.namespace,
            self.query,
            self.selector()?,
        )?;
        Ok(stream(self.shared, watch))
    }

    /// A list, or a page of one. All pages show the state of the first.
    fn list(&self) -> Responded {
        let selector = self.selector()?;
        let limit = self.query.number("limit")?.unwrap_or(0);
        let limit = if limit == 0 { usize::MAX } else { usize::try_from(limit).unwrap_or(usize::MAX) };
        let (revision, after) = self.position()?;
        let resource = self.target.resource;
        let within = &self.target.namespace;
        let (found, revision) = self.state(|state| {
            let revision = revision.unwrap_or(state.store.revision());
            let expired = || {
                Refusal::too_old(
                    "The provided continue parameter is too old to display a consistent list result.",
                )
            };
            Ok((state.store.at(resource, revision).ok_or_else(expired)?, revision))
        })?;
        let wanted: Vec<(String, Arc<Value>)> = found
            .into_iter()
            .map(|(key, object)| (key.path().to_owned(), object))
            .filter(|(path, _)| after.as_ref().is_none_or(|after| path > after))
            .filter(|(_, object)| {
                (within.is_empty() || namespace(object) == within) && selector.matches(object)
            })
            .collect();
        let left = wanted.len().saturating_sub(limit);
        let next = wanted
            .get(limit.saturating_sub(1))
            .filter(|_| left > 0)
            .map(|(path, _)| format!("{revision}:{path}"));
        let page = Page { revision, next, left: (left > 0 && selector.is_empty()).then_some(left) };
        let objects: Vec<Arc<Value>> = wanted.into_iter().take(limit).map(|(_, object)| object).collect();
        Ok(respond(self.shared, StatusCode::OK, &self.how().list(&objects, &page, self.shared.now())))
    }

    /// The revision at which to list, and after what.
    fn position(&self) -> Answer<(Option<u64>, Option<String>)> {
        let token = self.query.get("continue");
        if token.is_empty() {
            let is_exact = self.query.get("resourceVersionMatch") == "Exact";
            return Ok((self.query.number("resourceVersion")?.filter(|_| is_exact), None));
        }
        let parsed =
            token.split_once(':').and_then(|(revision, after)| Some((revision.parse().ok()?, after)));
        let (revision, after) = parsed.ok_or_else(|| Refusal::bad_request("continue key is not valid"))?;
        Ok((Some(revision), Some(after.to_owned())))
    }

    fn create(&self) -> Responded {
        let (target, is_dry) = (self.target, self.query.is_dry()?);
        let object = json(self.body)?;
        self.check_kind(&object)?;
        let made = self.state(|state| state.create(target.resource, &target.namespace, object, is_dry))?;
        self.show(StatusCode::CREATED, &made)
    }

    fn check_kind(&self, object: &Value) -> Answer<()> {
        let resource = self.target.resource;
        let said = |field: &str, expected: &str| {
            object.get(field).and_then(Value::as_str).is_none_or(|said| said == expected)
        };
        if object.is_object() && said("kind", resource.kind) && said("apiVersion", &resource.api_version()) {
            return Ok(());
        }
        let what = format!("{} of {}", resource.kind, resource.api_version());
        Err(Refusal::bad_request(format!(
            "the object provided is not what this path is for: expected a {what}"
        )))
    }

    fn update(&self, part: Part) -> Responded {
        let (target, is_dry) = (self.target, self.query.is_dry()?);
        let object = json(self.body)?;
        self.check_kind(&object)?;
        let written =
            self.state(|state| state.update(target.resource, target.place(), object, part, is_dry))?;
        self.show(StatusCode::OK, &written)
    }

    /// Reads the patch and its kind. Apply is not served.
    fn read_patch(&self) -> Answer<(Patch, Value)> {
        let kind = self.parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
        Ok((Patch::of(kind).ok_or_else(Refusal::media_type)?, json(self.body)?))
    }

    fn patch(&self, part: Part) -> Responded {
        let (target, is_dry) = (self.target, self.query.is_dry()?);
        let (how, patch) = self.read_patch()?;
        let written = self.state(|state| {
            let old = target.object(state)?;
            let new = how.apply(events::shown(target.resource, &old), &patch)?;
            if uid(&new) != uid(&old) {
                let why = format!("Invalid value: {:?}: field is immutable", uid(&new));
                return Err(Refusal::invalid(
                    target.resource,
                    &target.name,
                    ("Invalid", "metadata.uid", &why),
                ));
            }
            state.update(target.resource, target.place(), new, part, is_dry)
        })?;
        self.show(StatusCode::OK, &written)
    }

    fn scale(&self) -> Responded {
        let (target, is_dry) = (self.target, self.query.is_dry()?);
        let scale = self.state(|state| {
            let old = target.object(state)?;
            let scale = crate::api::scale_of(&old);
            let wanted = match self.parts.method {
                Method::GET => return Ok(scale),
                Method::PUT => json(self.body)?,
                Method::PATCH => {
                    let (how, patch) = self.read_patch()?;
                    how.apply(scale, &patch)?
                }
                _ => return Err(Refusal::nowhere()),
            };
            state.set_scale(target.resource, &old, &wanted, is_dry)
        })?;
        Ok(respond(self.shared, StatusCode::OK, &scale))
    }

    fn move_pod(&self) -> Responded {
        let (target, is_dry) = (self.target, self.query.is_dry()?);
        let body = json(self.body)?;
        if !name(&body).is_empty() && name(&body) != target.name {
            return Err(Refusal::bad_request("name in URL does not match name in the object"));
        }
        self.state(|state| match target.subresource.as_str() {
            "binding" => state.bind(&target.namespace, &target.name, &body, is_dry),
            _ => state.evict(&target.namespace, &target.name, &body, is_dry),
        })?;
        let done =
            json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201 });
        Ok(respond(self.shared, StatusCode::CREATED, &done))
    }

    /// Options of a deletion are in the body, and some of them may be in the URL instead.
    fn delete_options(&self) -> Answer<DeleteOptions> {
        let mut body = json(self.body)?;
        if body.is_null() {
            body = json!({ "propagationPolicy": self.query.get("propagationPolicy") });
            if let Some(seconds) = self.query.number("gracePeriodSeconds")? {
                body["gracePeriodSeconds"] = seconds.into();
            }
        }
        let mut options = DeleteOptions::of(&body);
        options.is_dry |= self.query.is_dry()?;
        Ok(options)
    }

    fn delete(&self) -> Responded {
        let target = self.target;
        let options = self.delete_options()?;
        let (object, is_gone) =
            self.state(|state| state.delete(target.resource, target.place(), &options))?;
        if !is_gone || target.resource.has(Has::Farewell) {
            return self.show(StatusCode::OK, &object);
        }
        let (group, kind) = (target.resource.group, target.resource.plural);
        let details = json!({ "name": target.name, "group": group, "kind": kind, "uid": uid(&object) });
        let done = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details });
        Ok(respond(self.shared, StatusCode::OK, &done))
    }

    fn delete_all(&self) -> Responded {
        let (resource, within) = (self.target.resource, &self.target.namespace);
        let (selector, options) = (self.selector()?, self.delete_options()?);
        let gone = self.state(|state| {
            let mut all = state.all(resource);
            all.retain(|object| {
                (within.is_empty() || namespace(object) == within) && selector.matches(object)
            });
            for object in &all {
                state.delete(resource, (namespace(object), name(object)), &options)?;
            }
            Ok(all)
        })?;
        Ok(respond(self.shared, StatusCode::OK, &self.how().list(&gone, &Page::default(), self.shared.now())))
    }
}
