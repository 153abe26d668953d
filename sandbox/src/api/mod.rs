//! Creates, updates and deletes objects as an API server does, for requests, controllers and kubelets. No IO: functions over
//! the [`Store`].

mod admit;
mod delete;
pub(crate) mod events;
mod pods;
mod scale;

pub(crate) use delete::{DeleteOptions, FOREGROUND, ORPHAN};
pub(crate) use pods::disruption_allowed;
pub(crate) use scale::scale_of;

use crate::refusal::{Answer, Refusal, cause};
use crate::resources::{Feature, RESOURCES, Resource, find};
use crate::store::{Key, Store};
use crate::value::{is_deleting, list, name, namespace, number, second, text, uid};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Everything except the status, if the kind has the subresource `status`.
    Main,
    Status,
}

/// The state of the API: objects, the time of the current request, and the random number generator.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) now: Timestamp,
    rng: fastrand::Rng,
}

pub(crate) fn kind(group: &str, plural: &str) -> &'static Resource {
    // Every caller names a kind of the table; the fallback only avoids a panic.
    find(group, plural).unwrap_or(&RESOURCES[0])
}

pub(crate) fn pods() -> &'static Resource {
    kind("", "pods")
}

impl State {
    /// An API with the namespaces that every cluster has.
    pub(crate) fn new(now: Timestamp, seed: u64) -> Self {
        let mut state = Self { store: Store::default(), now, rng: fastrand::Rng::with_seed(seed) };
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            let _ = state.create(kind("", "namespaces"), "", json!({ "metadata": { "name": name } }), false);
        }
        state
    }

    pub(crate) fn get(&self, key: &Key) -> Answer<&Arc<Value>> {
        self.store.get(key).ok_or_else(|| Refusal::not_found(key.resource, &key.name))
    }

    /// All objects of a kind, cloned.
    pub(crate) fn all(&self, resource: &'static Resource) -> Vec<Arc<Value>> {
        self.store.all(resource).cloned().collect()
    }

    pub(crate) fn create(
        &mut self,
        resource: &'static Resource,
        within: &str,
        object: Value,
        is_dry: bool,
    ) -> Answer<Arc<Value>> {
        let mut object = read(resource, object)?;
        let beginning = text(&object, "/metadata/generateName");
        if name(&object).is_empty() && !beginning.is_empty() {
            object["metadata"]["name"] = format!("{beginning:.58}{}", self.suffix()).into();
        }
        if resource.is_namespaced {
            check_namespace(within, &object)?;
            self.check_open(resource, within, &object)?;
            object["metadata"]["namespace"] = within.into();
        }
        admit::check_name(resource, &object)?;
        self.set_identity(resource, &mut object);
        self.fill(resource, &mut object)?;
        admit::check(resource, &object)?;
        let key = Key::of(resource, &object);
        if self.store.get(&key).is_some() {
            return Err(Refusal::already_exists(resource, &key.name));
        }
        Ok(if is_dry { Arc::new(object) } else { self.store.put(&key, object) })
    }

    /// Five random letters and digits, as upstream appends them to `generateName`.
    fn suffix(&mut self) -> String {
        let letters = b"bcdfghjklmnpqrstvwxz2456789";
        (0..5).map(|_| char::from(letters[self.rng.usize(..letters.len())])).collect()
    }

    /// Refuses new objects in a namespace that is being deleted.
    fn check_open(&self, resource: &Resource, within: &str, object: &Value) -> Answer<()> {
        if !is_deleting(self.get(&Key::new(kind("", "namespaces"), "", within))?) {
            return Ok(());
        }
        let why =
            format!("unable to create new content in namespace {within} because it is being terminated");
        let state = format!("namespace {within} is being terminated");
        let cause = cause("NamespaceTerminating", state, "metadata.namespace");
        Err(Refusal::forbidden(resource, name(object), &why).with_cause(cause))
    }

    fn set_identity(&mut self, resource: &Resource, object: &mut Value) {
        let mut hex = format!("{:032x}", self.rng.u128(..));
        hex.replace_range(12..13, "4");
        hex.replace_range(16..17, "a");
        let uid = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
        let meta = &mut object["metadata"];
        SERVER_FIELDS.split(' ').for_each(|field| copy_field(meta, &Value::Null, field));
        meta["uid"] = uid.into();
        meta["creationTimestamp"] = second(self.now);
        if resource.has(Feature::Generation) {
            meta["generation"] = 1.into();
        }
    }

    /// Updates an object. An update without a change is not written.
    pub(crate) fn update(&mut self, key: &Key, new: Value, part: Part, is_dry: bool) -> Answer<Arc<Value>> {
        let (old, resource) = (Arc::clone(self.get(key)?), key.resource);
        let new = read(resource, new)?;
        check_identity(key, &old, &new)?;
        let mut new = with_old_parts(resource, &old, new, part);
        self.fill(resource, &mut new)?;
        admit::check(resource, &new)?;
        admit::check_change(resource, &old, &new)?;
        if part == Part::Main
            && resource.has(Feature::Generation)
            && generation_fields(&old) != generation_fields(&new)
        {
            new["metadata"]["generation"] = (number(&old, "/metadata/generation").unwrap_or(0) + 1).into();
        }
        let is_held = !list(&new, "/metadata/finalizers").is_empty() || resource.plural == "namespaces";
        let has_grace = number(&new, "/metadata/deletionGracePeriodSeconds").is_some_and(|grace| grace > 0);
        match new == *old {
            true => return Ok(old),
            false if is_dry => {}
            false if is_deleting(&new) && !is_held && !has_grace => self.store.remove(key),
            false => return Ok(self.store.put(key, new)),
        }
        Ok(Arc::new(new))
    }

    /// Writes the status of an object, as a controller does.
    pub(crate) fn set_status(&mut self, resource: &'static Resource, object: &Value, status: Value) {
        if object["status"] != status {
            let mut new = object.clone();
            new["status"] = status;
            // After a conflict the next run of the controllers tries again.
            let _ = self.update(&Key::of(resource, object), new, Part::Status, false);
        }
    }
}

/// The fields of the metadata that only the API server writes.
const SERVER_FIELDS: &str =
    "uid creationTimestamp deletionTimestamp deletionGracePeriodSeconds generation resourceVersion selfLink";

/// The new object with the parts of the old one that this kind of write cannot change.
fn with_old_parts(resource: &Resource, old: &Value, mut new: Value, part: Part) -> Value {
    if part == Part::Status {
        let mut new_status = old.clone();
        copy_field(&mut new_status, &new, "status");
        let meta = &mut new_status["metadata"];
        ["annotations", "labels"].iter().for_each(|field| copy_field(meta, &new["metadata"], field));
        return new_status;
    }
    let ours = SERVER_FIELDS.split(' ').chain(["namespace"]);
    ours.for_each(|field| copy_field(&mut new["metadata"], &old["metadata"], field));
    if resource.has(Feature::Status) {
        copy_field(&mut new, old, "status");
    }
    new
}

/// Validates an object by the API's type, and drops unknown fields.
fn read(resource: &Resource, object: Value) -> Answer<Value> {
    (resource.read)(object).map(events::to_core(resource)).map_err(|error| {
        let (kind, version) = (resource.kind, resource.api_version());
        Refusal::bad_request(format!("{kind} in version {version:?} cannot be handled as a {kind}: {error}"))
    })
}

/// Copies the field from `from` to `to`, or removes it there if `from` lacks it.
fn copy_field(to: &mut Value, from: &Value, field: &str) {
    match from.get(field) {
        Some(value) => to[field] = value.clone(),
        None => drop(to.as_object_mut().and_then(|to| to.remove(field))),
    }
}

/// The fields whose changes the generation counts.
fn generation_fields(object: &Value) -> Value {
    // A Deployment's annotations count, because it copies them to its ReplicaSets.
    let handed = &object["metadata"]["annotations"];
    json!([object["spec"], if object["kind"] == "Deployment" { handed } else { &Value::Null }])
}

fn check_namespace(within: &str, object: &Value) -> Answer<()> {
    if namespace(object).is_empty() || namespace(object) == within {
        return Ok(());
    }
    let why = "the namespace of the provided object does not match the namespace sent on the request";
    Err(Refusal::bad_request(why))
}

/// Checks that name, namespace, UID and version of the update match the stored object.
fn check_identity(key: &Key, old: &Value, new: &Value) -> Answer<()> {
    let (resource, called) = (key.resource, &*key.name);
    if name(new) != called {
        let object = format!("the name of the object ({})", name(new));
        return Err(Refusal::bad_request(format!("{object} does not match the name on the URL ({called})")));
    }
    check_namespace(&key.namespace, new)?;
    if !uid(new).is_empty() && uid(new) != uid(old) {
        return Err(Refusal::precondition(resource, called, "UID", uid(new), uid(old)));
    }
    match text(new, "/metadata/resourceVersion") {
        "" if resource.has(Feature::UnconditionalUpdate) => Ok(()),
        "" => {
            let why = "Invalid value: 0: must be specified for an update";
            let why = ("Invalid", "metadata.resourceVersion", why);
            let refusal = Refusal::invalid_of(&resource.qualified(), called, why);
            Err(refusal.with_details(called, resource.plural, resource.group))
        }
        version if version == text(old, "/metadata/resourceVersion") => Ok(()),
        _ => Err(Refusal::modified(resource, called)),
    }
}
