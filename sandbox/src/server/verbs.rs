//! Requests about objects: what each HTTP method does at each path. Entry point: [`serve`].

use super::render::{Page, Renderer};
use super::request::{Form, Query, Target};
use super::watch::Watch;
use super::{ResponseResult, Shared, json, respond, stream};
use crate::api::{DeleteOptions, Part, State, events, scale_of};
use crate::patch::Patch;
use crate::refusal::{Answer, Refusal};
use crate::resources::{Feature, Resource};
use crate::select::Selector;
use crate::store::Key;
use crate::value::{name, namespace, uid};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) struct ObjectRequest<'a> {
    pub(super) shared: &'a Shared,
    pub(super) parts: &'a Parts,
    pub(super) body: &'a Bytes,
    pub(super) target: &'a Target,
    pub(super) query: &'a Query,
    pub(super) form: Form,
}

pub(super) fn serve(request: &ObjectRequest<'_>) -> ResponseResult {
    let (key, resource) = (&request.target.key, request.resource());
    match (request.parts.method.as_str(), key.name.is_empty(), request.target.subresource.as_str()) {
        ("GET", true, _) if request.query.is_true("watch") => request.watch(),
        ("GET", true, _) => request.list(),
        ("POST", true, _) => request.create(),
        ("DELETE", true, _) => request.delete_all(),
        ("GET", false, "" | "status") => {
            request.show(StatusCode::OK, request.state(|state| state.get(key).cloned()))
        }
        ("PUT", false, "") => request.update(Part::Main),
        ("PUT", false, "status") => request.update(Part::Status),
        ("PATCH", false, "") => request.patch(Part::Main),
        ("PATCH", false, "status") => request.patch(Part::Status),
        ("DELETE", false, "") => request.delete(),
        (_, false, "scale") if resource.has(Feature::Scale) => request.scale(),
        ("POST", false, "binding" | "eviction") if resource.plural == "pods" => request.bind_or_evict(),
        (_, _, "" | "status") => {
            let message = "the server does not allow this method on the requested resource";
            Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message))
        }
        _ => Err(Refusal::no_such_path()),
    }
}

impl ObjectRequest<'_> {
    fn state<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        self.shared.with(act)
    }

    fn resource(&self) -> &'static Resource {
        self.target.key.resource
    }

    fn renderer(&self) -> Renderer {
        Renderer { resource: self.resource(), form: self.form }
    }

    fn show(&self, code: StatusCode, object: Answer<Arc<Value>>) -> ResponseResult {
        Ok(respond(self.shared, code, &self.renderer().object(&*object?, self.shared.now())))
    }

    /// The selector of the request, in the namespace of the path.
    fn selector(&self) -> Answer<Selector> {
        let (labels, fields) = (self.query.get("labelSelector"), self.query.get("fieldSelector"));
        Ok(Selector::parse(self.resource(), labels, fields)?.within(&self.target.key.namespace))
    }

    fn watch(&self) -> ResponseResult {
        let watch = Watch::begin(self.shared.clone(), self.renderer(), self.query, self.selector()?)?;
        Ok(stream(self.shared, watch))
    }

    /// A list, or a page of it. All pages show the state at the time of the first page.
    fn list(&self) -> ResponseResult {
        let selector = self.selector()?;
        let limit = self.query.number("limit")?.filter(|limit| *limit > 0);
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        let (revision, after) = self.position()?;
        let (found, revision) = self.state(|state| {
            let revision = revision.unwrap_or(state.store.revision());
            let expired = "The provided continue parameter is too old to display a consistent list result.";
            let found = state.store.at(self.resource(), revision).ok_or_else(|| Refusal::too_old(expired))?;
            Ok((found, revision))
        })?;
        let is_wanted = |(path, object): &(String, Arc<Value>)| *path > after && selector.matches(object);
        let wanted: Vec<(String, Arc<Value>)> = found.into_iter().filter(is_wanted).collect();
        let left = wanted.len().saturating_sub(limit);
        let last = wanted.get(limit.saturating_sub(1)).filter(|_| left > 0);
        let next = last.map(|(path, _)| format!("{revision}:{path}"));
        let page = Page { revision, next, left: (left > 0 && selector.is_empty()).then_some(left) };
        let objects: Vec<Arc<Value>> = wanted.into_iter().take(limit).map(|(_, object)| object).collect();
        Ok(respond(self.shared, StatusCode::OK, &self.renderer().list(&objects, &page, self.shared.now())))
    }

    /// The revision of the list, and the last path of the page before.
    fn position(&self) -> Answer<(Option<u64>, String)> {
        let token = self.query.get("continue");
        if token.is_empty() {
            let is_exact = self.query.get("resourceVersionMatch") == "Exact";
            return Ok((self.query.number("resourceVersion")?.filter(|_| is_exact), String::new()));
        }
        let parsed =
            token.split_once(':').and_then(|(revision, after)| Some((revision.parse().ok()?, after)));
        let (revision, after) = parsed.ok_or_else(|| Refusal::bad_request("continue key is not valid"))?;
        Ok((Some(revision), after.to_owned()))
    }

    fn create(&self) -> ResponseResult {
        let (object, is_dry) = (self.object()?, self.query.is_dry()?);
        let within = &self.target.key.namespace;
        self.show(
            StatusCode::CREATED,
            self.state(|state| state.create(self.resource(), within, object, is_dry)),
        )
    }

    /// The object in the body, which must be of the path's kind.
    fn object(&self) -> Answer<Value> {
        let (object, resource) = (json(self.parts, self.body)?, self.resource());
        let said = |field: &str, expected: &str| object[field].as_str().is_none_or(|said| said == expected);
        if object.is_object() && said("kind", resource.kind) && said("apiVersion", &resource.api_version()) {
            return Ok(object);
        }
        let what = format!("{} of {}", resource.kind, resource.api_version());
        Err(Refusal::bad_request(format!("the object provided is not what this path is for: a {what}")))
    }

    fn update(&self, part: Part) -> ResponseResult {
        let (object, is_dry) = (self.object()?, self.query.is_dry()?);
        self.show(StatusCode::OK, self.state(|state| state.update(&self.target.key, object, part, is_dry)))
    }

    /// Applies the patch in the body. Server-side apply is not supported.
    fn patched(&self, object: Value) -> Answer<Value> {
        let kind = self.parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
        let how = Patch::of(kind).ok_or_else(Refusal::unsupported_media_type)?;
        how.apply(object, &json(self.parts, self.body)?)
    }

    fn patch(&self, part: Part) -> ResponseResult {
        let (key, is_dry) = (&self.target.key, self.query.is_dry()?);
        let written = self.state(|state| {
            let old = Arc::clone(state.get(key)?);
            let new = self.patched(events::for_resource(key.resource, &old))?;
            if uid(&new) != uid(&old) {
                let why = format!("Invalid value: {:?}: field is immutable", uid(&new));
                return Err(Refusal::invalid(key.resource, &key.name, ("Invalid", "metadata.uid", &why)));
            }
            state.update(key, new, part, is_dry)
        });
        self.show(StatusCode::OK, written)
    }

    fn scale(&self) -> ResponseResult {
        let (key, is_dry) = (&self.target.key, self.query.is_dry()?);
        let scale = self.state(|state| {
            let old = Arc::clone(state.get(key)?);
            let wanted = match self.parts.method {
                Method::GET => return Ok(scale_of(&old)),
                Method::PUT => json(self.parts, self.body)?,
                _ => self.patched(scale_of(&old))?,
            };
            state.set_scale(key, &old, &wanted, is_dry)
        })?;
        Ok(respond(self.shared, StatusCode::OK, &scale))
    }

    fn bind_or_evict(&self) -> ResponseResult {
        let (key, is_dry) = (&self.target.key, self.query.is_dry()?);
        let body = json(self.parts, self.body)?;
        if !name(&body).is_empty() && name(&body) != key.name {
            return Err(Refusal::bad_request("name in URL does not match name in the object"));
        }
        self.state(|state| match self.target.subresource.as_str() {
            "binding" => state.bind(key, &body, is_dry),
            _ => state.evict(key, &body, is_dry),
        })?;
        Ok(respond(self.shared, StatusCode::CREATED, &success("code", &201.into())))
    }

    /// The options of a deletion, from the body; without a body some of them from the URL.
    fn delete_options(&self) -> Answer<DeleteOptions> {
        let mut body = json(self.parts, self.body)?;
        let has_body = !body.is_null();
        if !has_body {
            let grace = self.query.number("gracePeriodSeconds")?;
            body = json!({ "propagationPolicy": self.query.get("propagationPolicy"), "gracePeriodSeconds": grace });
        }
        let mut options = DeleteOptions::of(&body);
        // As upstream: a body hides the query.
        options.is_dry |= !has_body && self.query.is_dry()?;
        Ok(options)
    }

    fn delete(&self) -> ResponseResult {
        let (key, options) = (&self.target.key, self.delete_options()?);
        let (object, is_gone) = self.state(|state| state.delete(key, &options))?;
        if !is_gone || key.resource.has(Feature::ReturnDeletedObject) {
            return self.show(StatusCode::OK, Ok(object));
        }
        let mut details = json!({ "name": key.name, "kind": key.resource.plural, "uid": uid(&object) });
        if !key.resource.group.is_empty() {
            details["group"] = key.resource.group.into();
        }
        Ok(respond(self.shared, StatusCode::OK, &success("details", &details)))
    }

    fn delete_all(&self) -> ResponseResult {
        let (selector, options) = (self.selector()?, self.delete_options()?);
        let gone = self.state(|state| {
            let mut all = state.all(self.resource());
            all.retain(|object| selector.matches(object));
            all.iter().try_for_each(|object| {
                let key = Key::new(self.resource(), namespace(object), name(object));
                state.delete(&key, &options).map(drop)
            })?;
            Ok(all)
        })?;
        Ok(respond(
            self.shared,
            StatusCode::OK,
            &self.renderer().list(&gone, &Page::default(), self.shared.now()),
        ))
    }
}

/// A `Status` that says that the request succeeded.
fn success(field: &str, value: &Value) -> Value {
    json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", field: value })
}
