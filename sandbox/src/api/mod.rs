//! What the API does with objects, whoever asks: a request, a controller or a kubelet. Plain functions over the store.

mod admit;
mod delete;
pub(crate) mod events;
mod pods;
mod scale;

pub(crate) use delete::{DeleteOptions, FOREGROUND, ORPHAN, Propagation};
pub(crate) use pods::disruption_allowed;
pub(crate) use scale::scale_of;

use crate::refusal::{Answer, Refusal};
use crate::resources::{Has, Resource, find};
use crate::store::{Key, Store};
use crate::value::{is_deleting, list, name, namespace, number, second, text, uid};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;

/// Which part of an object is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All but the status, where that is written apart.
    Main,
    /// The status.
    Status,
}

/// The whole state of the API: objects, the time of the request that is served, and chance.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) now: Timestamp,
    rng: fastrand::Rng,
}

/// A kind that is known to be served.
pub(crate) fn kind(group: &str, plural: &str) -> &'static Resource {
    // Every caller names one of the table; the first is there only so that nobody panics.
    find(group, plural).unwrap_or(&crate::resources::RESOURCES[0])
}

/// The pods.
pub(crate) fn pods() -> &'static Resource {
    kind("", "pods")
}

impl State {
    /// An API with the namespaces that every cluster has.
    pub(crate) fn new(now: Timestamp, seed: u64) -> Self {
        let mut state = Self { store: Store::default(), now, rng: fastrand::Rng::with_seed(seed) };
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            let namespace = json!({ "metadata": { "name": name } });
            let _ = state.create(kind("", "namespaces"), "", namespace, false);
        }
        state
    }

    /// One object.
    pub(crate) fn get(
        &self,
        resource: &'static Resource,
        namespace: &str,
        name: &str,
    ) -> Answer<&Arc<Value>> {
        let key = Key::new(resource, namespace, name);
        self.store.get(&key).ok_or_else(|| Refusal::not_found(resource, name))
    }

    /// Copies of all objects of a kind.
    pub(crate) fn all(&self, resource: &'static Resource) -> Vec<Arc<Value>> {
        self.store.all(resource).cloned().collect()
    }

    /// Makes an object.
    pub(crate) fn create(
        &mut self,
        resource: &'static Resource,
        within: &str,
        object: Value,
        is_dry: bool,
    ) -> Answer<Arc<Value>> {
        let mut object = read(resource, object)?;
        self.name(&mut object);
        if resource.is_namespaced {
            self.check_namespace(resource, within, &object)?;
            object["metadata"]["namespace"] = within.into();
        }
        admit::check_name(resource, &object)?;
        self.identify(resource, &mut object);
        self.fill(resource, &mut object)?;
        admit::check(resource, &object)?;
        let key = Key::new(resource, within, name(&object));
        if self.store.get(&key).is_some() {
            return Err(Refusal::already_exists(resource, key.name()));
        }
        Ok(if is_dry { Arc::new(object) } else { self.store.put(key, object) })
    }

    /// A name is made up where only its beginning was given.
    fn name(&mut self, object: &mut Value) {
        let beginning = text(object, "/metadata/generateName").to_owned();
        if name(object).is_empty() && !beginning.is_empty() {
            object["metadata"]["name"] = format!("{beginning:.58}{}", self.suffix()).into();
        }
    }

    /// Five letters and digits, as upstream adds them to names.
    fn suffix(&mut self) -> String {
        let letters = b"bcdfghjklmnpqrstvwxz2456789";
        (0..5).map(|_| char::from(letters[self.rng.usize(..letters.len())])).collect()
    }

    fn check_namespace(&self, resource: &'static Resource, within: &str, object: &Value) -> Answer<()> {
        let (own, name) = (namespace(object), name(object));
        if !own.is_empty() && own != within {
            let why = "the namespace of the provided object does not match the namespace sent on the request";
            return Err(Refusal::bad_request(why));
        }
        let found = self.get(kind("", "namespaces"), "", within)?;
        if is_deleting(found) {
            let why =
                format!("unable to create new content in namespace {within} because it is being terminated");
            let cause = crate::refusal::cause(
                "NamespaceTerminating",
                format!("namespace {within} is being terminated"),
                "metadata.namespace",
            );
            return Err(Refusal::forbidden(resource, name, &why).causing(cause));
        }
        Ok(())
    }

    fn identify(&mut self, resource: &Resource, object: &mut Value) {
        let (high, low) = (self.rng.u64(..), self.rng.u64(..));
        let id =
            (u128::from(high) << 64 | u128::from(low)) & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
        let hex = format!("{id:032x}");
        let uid = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
        let meta = &mut object["metadata"];
        for field in
            ["deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion", "generation", "selfLink"]
        {
            meta.as_object_mut().map(|meta| meta.remove(field));
        }
        meta["uid"] = uid.into();
        meta["creationTimestamp"] = second(self.now);
        if resource.has(Has::Generation) {
            meta["generation"] = 1.into();
        }
    }

    /// Writes an object that is there. Nothing happens if nothing changes.
    pub(crate) fn update(
        &mut self,
        resource: &'static Resource,
        (within, called): (&str, &str),
        new: Value,
        part: Part,
        is_dry: bool,
    ) -> Answer<Arc<Value>> {
        let key = Key::new(resource, within, called);
        let old = Arc::clone(self.get(resource, within, called)?);
        let new = read(resource, new)?;
        check_identity(resource, &key, &old, &new)?;
        let mut new = self.joined(resource, &old, new, part);
        self.fill(resource, &mut new)?;
        admit::check(resource, &new)?;
        admit::check_change(resource, &old, &new)?;
        if part == Part::Main && resource.has(Has::Generation) && counted(&old) != counted(&new) {
            new["metadata"]["generation"] = (number(&old, "/metadata/generation").unwrap_or(0) + 1).into();
        }
        if new == *old {
            return Ok(old);
        }
        let is_over = is_deleting(&new)
            && resource.plural != "namespaces"
            && list(&new, "/metadata/finalizers").is_empty();
        if is_over && number(&new, "/metadata/deletionGracePeriodSeconds").unwrap_or(0) == 0 {
            if !is_dry {
                self.store.remove(&key);
            }
            return Ok(Arc::new(new));
        }
        Ok(if is_dry { Arc::new(new) } else { self.store.put(key, new) })
    }

    /// The new object with everything of the old one that this kind of write does not change.
    fn joined(&self, resource: &Resource, old: &Value, mut new: Value, part: Part) -> Value {
        for field in [
            "uid",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "generation",
            "resourceVersion",
        ] {
            keep(&mut new["metadata"], &old["metadata"], field);
        }
        keep(&mut new["metadata"], &old["metadata"], "namespace");
        if part == Part::Main {
            if resource.has(Has::Status) {
                keep(&mut new, old, "status");
            }
            return new;
        }
        let mut joined = old.clone();
        keep(&mut joined, &new, "status");
        keep(&mut joined["metadata"], &new["metadata"], "annotations");
        keep(&mut joined["metadata"], &new["metadata"], "labels");
        joined
    }

    /// Writes the status of an object, as a controller does.
    pub(crate) fn set_status(&mut self, resource: &'static Resource, object: &Value, status: Value) {
        if object["status"] == status {
            return;
        }
        let mut new = object.clone();
        new["status"] = status;
        let place = (namespace(object).to_owned(), name(object).to_owned());
        // A conflict is a reason to look again, which the next pump does.
        let _ = self.update(resource, (&place.0, &place.1), new, Part::Status, false);
    }
}

/// Reads a value as the API's type.
pub(crate) fn read(resource: &Resource, object: Value) -> Answer<Value> {
    (resource.read)(object).map(events::stored(resource)).map_err(|error| {
        let version = resource.api_version();
        Refusal::bad_request(format!(
            "{} in version \"{version}\" cannot be handled as a {}: {error}",
            resource.kind, resource.kind
        ))
    })
}

/// Gives `to` the field as `from` has it, or takes it away.
fn keep(to: &mut Value, from: &Value, field: &str) {
    match from.get(field) {
        Some(value) => to[field] = value.clone(),
        None => drop(to.as_object_mut().and_then(|to| to.remove(field))),
    }
}

/// What the generation counts.
fn counted(object: &Value) -> Value {
    // Deployments hand their annotations on.
    let handed = &object["metadata"]["annotations"];
    json!([object["spec"], if object["kind"] == "Deployment" { handed } else { &Value::Null }])
}

/// Whether what is written is what is there.
fn check_identity(resource: &Resource, key: &Key, old: &Value, new: &Value) -> Answer<()> {
    if name(new) != key.name() {
        let (new, old) = (name(new), key.name());
        return Err(Refusal::bad_request(format!(
            "the name of the object ({new}) does not match the name on the URL ({old})"
        )));
    }
    if !namespace(new).is_empty() && namespace(new) != key.namespace() {
        let why = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Refusal::bad_request(why));
    }
    if !uid(new).is_empty() && uid(new) != uid(old) {
        return Err(Refusal::precondition(resource, key.name(), "UID", uid(new), uid(old)));
    }
    match text(new, "/metadata/resourceVersion") {
        "" if !resource.has(Has::LooseUpdate) => {
            let why =
                ("Invalid", "metadata.resourceVersion", "Invalid value: 0: must be specified for an update");
            Err(Refusal::invalid_of(&resource.qualified(), key.name(), why).on(
                key.name(),
                resource.plural,
                resource.group,
            ))
        }
        "" => Ok(()),
        version if version != text(old, "/metadata/resourceVersion") => {
            Err(Refusal::modified(resource, key.name()))
        }
        _ => Ok(()),
    }
}
