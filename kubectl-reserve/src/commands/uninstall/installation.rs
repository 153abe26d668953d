//! Reads the objects of an installation by our label, and foreign objects in its namespace.

use crate::connect::Session;
use crate::error::Failure;
use crate::manifests::{KINDS, ManifestKind, Object};
use crate::objects;
use crate::reader::{readable, served};
use crate::rights::Right;
use common::api::names;
use serde_json::Value;

/// The kinds of foreign objects for whose sake the namespace is not deleted.
const FOREIGN_KINDS: [(&str, &str); 10] = [
    ("", "secrets"),
    ("", "configmaps"),
    ("", "pods"),
    ("", "services"),
    ("", "persistentvolumeclaims"),
    ("apps", "deployments"),
    ("apps", "statefulsets"),
    ("apps", "daemonsets"),
    ("batch", "jobs"),
    ("batch", "cronjobs"),
];

/// The namespace of the installation: `asked`, else the one with our label, else the default one.
pub(super) async fn namespace(session: &Session, asked: Option<&str>) -> Result<String, Failure> {
    if let Some(asked) = asked {
        return Ok(asked.to_owned());
    }
    // A caller who may not list namespaces gets an error about all missing rights later.
    let found = readable(objects::labelled(session, KINDS[0], None).await);
    let found = found.map_err(|error| error.into_failure("list namespaces", "list namespaces"))?;
    match &found.unwrap_or_default()[..] {
        [] => Ok(names::NAMESPACE.to_owned()),
        [one] => Ok(one.name.clone()),
        several => {
            let names: Vec<&str> = several.iter().map(|one| one.name.as_str()).collect();
            Err(Failure::usage(format!("there are several installations: {}", names.join(", ")))
                .hint("name one with -n"))
        }
    }
}

/// Where to look for objects: each kind, with its namespace.
fn places(namespace: &str) -> Vec<(ManifestKind, Option<String>)> {
    let place = |kind: &ManifestKind| match kind.is_namespaced {
        true => vec![(*kind, Some(namespace.to_owned())), (*kind, Some(names::SYSTEM_NAMESPACE.to_owned()))],
        false => vec![(*kind, None)],
    };
    KINDS.iter().flat_map(place).collect()
}

/// The rights that are needed to find and delete all objects.
pub(super) fn rights(namespace: &str) -> Vec<Right> {
    let each = |(kind, namespace): (ManifestKind, Option<String>)| {
        ["list", "delete"].map(|verb| Right::new(verb, kind.group, kind.plural, namespace.as_deref()))
    };
    places(namespace).into_iter().flat_map(each).collect()
}

/// All objects with our label, in the order in which they are deleted: the daemon first, its namespace last.
pub(super) async fn read(session: &Session, namespace: &str) -> Result<Vec<Object>, Failure> {
    let mut all = Vec::new();
    for (kind, place) in places(namespace) {
        let found = objects::labelled(session, kind, place.as_deref()).await;
        // A kind that this server does not have was never installed.
        let found = served(found).map_err(|error| error.into_failure("list", &kind.resource()))?;
        all.extend(found.unwrap_or_default());
    }
    all.retain(|object| object.kind.kind != "Namespace" || object.name == namespace);
    all.reverse();
    Ok(all)
}

/// The Leases of replicas, which the replicas created.
pub(super) async fn leases(session: &Session, namespace: &str) -> Result<Vec<Object>, Failure> {
    let Some((_, kind)) = ManifestKind::find("Lease") else { return Ok(Vec::new()) };
    let label = format!("labelSelector={}%3D{}", names::APP_LABEL.replace('/', "%2F"), names::APP);
    let found = objects::list(session, &kind.path(Some(namespace)), &label).await;
    let found = served(found).map_err(|error| error.into_failure("list leases", "list leases"))?;
    let object = |mut json: Value| {
        json["kind"] = kind.kind.into();
        Object::new(json)
    };
    Ok(found.unwrap_or_default().into_iter().filter_map(object).collect())
}

/// The names of the daemon's pods that still exist.
pub(super) async fn pods(session: &Session, namespace: &str) -> Result<Vec<String>, Failure> {
    let label = format!("labelSelector={}%3D{}", names::APP_LABEL.replace('/', "%2F"), names::APP);
    let found = objects::list(session, &format!("/api/v1/namespaces/{namespace}/pods"), &label).await;
    let found = found.map_err(|error| error.into_failure("list the daemon's pods", "list pods"))?;
    Ok(found.iter().map(name).collect())
}

/// The foreign objects in the namespace, as `kind/name`.
pub(super) async fn foreign_objects(session: &Session, namespace: &str) -> Vec<String> {
    let mut foreign_objects = Vec::new();
    for (group, plural) in FOREIGN_KINDS {
        let root = if group.is_empty() { "/api/v1".to_owned() } else { format!("/apis/{group}/v1") };
        match objects::list(session, &format!("{root}/namespaces/{namespace}/{plural}"), "").await {
            Ok(found) => {
                let theirs = found.iter().filter(|json| !is_own(json));
                foreign_objects
                    .extend(theirs.map(|json| format!("{}/{}", plural.trim_end_matches('s'), name(json))));
            }
            Err(error) if error.code() == Some(404) => {}
            // Objects that the caller may not list may exist.
            Err(_) => foreign_objects.push(format!("{plural} that you may not list")),
        }
    }
    foreign_objects
}

/// Whether the object is part of the installation, was created by a controller, or exists in every namespace.
fn is_own(json: &Value) -> bool {
    let labels = json.pointer("/metadata/labels");
    let has =
        |label: &str| labels.and_then(|labels| labels.get(label)).and_then(Value::as_str) == Some(names::APP);
    has(names::PART_LABEL)
        || has(names::APP_LABEL)
        || name(json) == "kube-root-ca.crt"
        || json.pointer("/metadata/ownerReferences").is_some()
}

fn name(json: &Value) -> String {
    json.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{is_own, rights};
    use serde_json::json;

    #[test]
    fn what_is_not_ours_keeps_the_namespace() {
        assert!(is_own(&json!({ "metadata": { "name": "kube-root-ca.crt" } })));
        assert!(is_own(
            &json!({ "metadata": { "labels": { "app.kubernetes.io/part-of": "kubectl-reserve" } } })
        ));
        assert!(is_own(&json!({ "metadata": { "name": "x", "ownerReferences": [{}] } })));
        assert!(!is_own(&json!({ "metadata": { "name": "reserve-extender" } })));
    }

    #[test]
    fn the_right_to_delete_is_asked_for_at_each_place() {
        let rights = rights("kube-reserve");
        let of = |resource: &str| rights.iter().filter(|right| right.resource == resource).count();
        assert_eq!((of("clusterroles"), of("rolebindings")), (2, 4));
    }
}
