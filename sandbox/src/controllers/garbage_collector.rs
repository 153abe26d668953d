//! The garbage collector: deletes objects whose owners are gone, carries out the finalizers of propagation policies, empties
//! namespaces that are being deleted, and removes deleted pods whose node is gone.

use crate::api::{DeleteOptions, FOREGROUND, ORPHAN, Part, State, kind, pods};
use crate::resources::{RESOURCES, Resource};
use crate::store::Key;
use crate::value::{is_deleting, is_true, list, name, namespace, text, uid};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) fn run(state: &mut State) {
    let all = everything(state);
    let known: BTreeSet<String> = all.iter().map(|(_, object)| uid(object).to_owned()).collect();
    for (resource, object) in &all {
        let owners = list(object, "/metadata/ownerReferences");
        if !owners.is_empty() && !owners.iter().any(|owner| known.contains(text(owner, "/uid"))) {
            remove(state, resource, object, None);
        }
        if is_deleting(object) {
            run_finalizers(state, resource, object, &all);
        }
    }
    empty_namespaces(state);
    delete_pods_of_gone_nodes(state);
}

type Entry = (&'static Resource, Arc<Value>);

/// All objects except events.
fn everything(state: &State) -> Vec<Entry> {
    let kinds = RESOURCES.iter().filter(|one| one.plural != "events");
    kinds.flat_map(|one| state.all(one).into_iter().map(move |object| (one, object))).collect()
}

fn remove(state: &mut State, resource: &'static Resource, object: &Value, finalizer: Option<&'static str>) {
    if !is_deleting(object) {
        let options = DeleteOptions { finalizer, ..DeleteOptions::only(object) };
        let _ = state.delete(&Key::of(resource, object), &options);
    }
}

/// Carries out the finalizers `orphan` and `foregroundDeletion` of an object.
fn run_finalizers(state: &mut State, resource: &'static Resource, object: &Value, all: &[Entry]) {
    let has = |finalizer: &str| list(object, "/metadata/finalizers").iter().any(|one| one == finalizer);
    let is_of = |owner: &Value| text(owner, "/uid") == uid(object);
    let mut owned =
        all.iter().filter(|(_, one)| list(one, "/metadata/ownerReferences").iter().any(is_of)).peekable();
    if has(ORPHAN) {
        owned.for_each(|(kind, one)| {
            update_meta(state, kind, one, |meta| remove_from(meta, "ownerReferences", is_of))
        });
        update_meta(state, resource, object, |meta| remove_from(meta, "finalizers", |one| one == ORPHAN));
    } else if has(FOREGROUND) {
        let is_blocked = owned.clone().any(|(_, one)| {
            list(one, "/metadata/ownerReferences")
                .iter()
                .any(|owner| is_of(owner) && is_true(owner, "/blockOwnerDeletion"))
        });
        if is_blocked || owned.peek().is_some() {
            owned.for_each(|(kind, one)| remove(state, kind, one, Some(FOREGROUND)));
        }
        if !is_blocked {
            update_meta(state, resource, object, |meta| {
                remove_from(meta, "finalizers", |one| one == FOREGROUND)
            });
        }
    }
}

/// Removes elements from a list in the metadata.
fn remove_from(meta: &mut Value, field: &str, is_removed: impl Fn(&Value) -> bool) {
    if let Some(all) = meta[field].as_array_mut() {
        all.retain(|one| !is_removed(one));
    }
}

fn update_meta(
    state: &mut State,
    resource: &'static Resource,
    object: &Value,
    change: impl FnOnce(&mut Value),
) {
    let mut new = object.clone();
    change(&mut new["metadata"]);
    let _ = state.update(&Key::of(resource, object), new, Part::Main, false);
}

/// Deletes the objects in namespaces that are being deleted, and removes these namespaces when they are empty.
fn empty_namespaces(state: &mut State) {
    for space in state.all(kind("", "namespaces")).iter().filter(|space| is_deleting(space)) {
        let inside: Vec<Entry> = RESOURCES
            .iter()
            .flat_map(|one| state.all(one).into_iter().map(move |object| (one, object)))
            .filter(|(_, object)| namespace(object) == name(space))
            .collect();
        inside.iter().for_each(|(kind, object)| remove(state, kind, object, None));
        if inside.is_empty() {
            state.store.remove(&Key::of(kind("", "namespaces"), space));
        }
    }
}

/// Removes deleted pods whose node is gone, because no kubelet does.
fn delete_pods_of_gone_nodes(state: &mut State) {
    let nodes: BTreeSet<String> =
        state.store.all(kind("", "nodes")).map(|node| name(node).to_owned()).collect();
    for pod in state.all(pods()) {
        let node = text(&pod, "/spec/nodeName");
        if !node.is_empty() && !nodes.contains(node) && is_deleting(&pod) {
            let options = DeleteOptions { grace: Some(0), ..DeleteOptions::only(&pod) };
            let _ = state.delete(&Key::of(pods(), &pod), &options);
        }
    }
}
