//! What is served where, and who one is: everything that clients ask before they ask for objects.

use crate::resources::{Has, RESOURCES, Resource, groups};
use serde_json::{Value, json};

/// The version of Kubernetes that is imitated.
const MINOR: u32 = 37;

/// The answer at a path that is not about objects; `None` if there is none.
pub(super) fn answer(path: &str) -> Option<Value> {
    match path.trim_end_matches('/') {
        "/version" => Some(version()),
        "/api" => {
            Some(json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [] }))
        }
        "/apis" => {
            let groups: Vec<Value> = groups().into_iter().map(group).collect();
            Some(json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups }))
        }
        "/api/v1" => Some(resources("", "v1")),
        path => {
            let rest = path.strip_prefix("/apis/")?;
            let (name, version) = rest.split_once('/').unwrap_or((rest, ""));
            groups().contains(&name).then_some(())?;
            match version {
                "" => Some(with_head(group(name), "APIGroup")),
                "v1" => Some(resources(name, rest)),
                _ => None,
            }
        }
    }
}

fn version() -> Value {
    json!({
        "major": "1", "minor": MINOR.to_string(), "gitVersion": format!("v1.{MINOR}.0+sandbox"), "gitCommit": "",
        "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z", "goVersion": "none", "compiler": "rustc", "platform": "sandbox",
    })
}

fn group(name: &str) -> Value {
    let version = json!({ "groupVersion": format!("{name}/v1"), "version": "v1" });
    json!({ "name": name, "versions": [version], "preferredVersion": version })
}

fn with_head(mut value: Value, kind: &str) -> Value {
    value["kind"] = kind.into();
    value["apiVersion"] = "v1".into();
    value
}

fn resources(group: &str, version: &str) -> Value {
    let mut all = Vec::new();
    for resource in RESOURCES.iter().filter(|one| one.group == group) {
        all.push(entry(resource));
        if resource.has(Has::Status) {
            all.push(part(resource, "status", resource.kind, &["get", "patch", "update"]));
        }
        if resource.has(Has::Scale) {
            let mut scale = part(resource, "scale", "Scale", &["get", "patch", "update"]);
            scale["group"] = "autoscaling".into();
            scale["version"] = "v1".into();
            all.push(scale);
        }
        if resource.plural == "pods" {
            all.push(part(resource, "binding", "Binding", &["create"]));
            let mut eviction = part(resource, "eviction", "Eviction", &["create"]);
            eviction["group"] = "policy".into();
            eviction["version"] = "v1".into();
            all.push(eviction);
        }
    }
    all.extend(REVIEWS.iter().filter(|(of, ..)| *of == group).map(|(_, plural, kind)| {
        json!({ "name": plural, "singularName": kind.to_lowercase(), "namespaced": false, "kind": kind, "verbs": ["create"] })
    }));
    json!({ "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": all })
}

fn entry(resource: &Resource) -> Value {
    json!({
        "name": resource.plural, "singularName": resource.kind.to_lowercase(), "namespaced": resource.is_namespaced,
        "kind": resource.kind, "shortNames": resource.short,
        "categories": if is_common(resource) { vec!["all"] } else { vec![] },
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
    })
}

/// Whether `kubectl get all` shows it.
fn is_common(resource: &Resource) -> bool {
    matches!(resource.group, "apps" | "batch")
        || matches!(resource.plural, "pods" | "services" | "replicationcontrollers")
}

fn part(resource: &Resource, name: &str, kind: &str, verbs: &[&str]) -> Value {
    let name = format!("{}/{name}", resource.plural);
    json!({ "name": name, "singularName": "", "namespaced": resource.is_namespaced, "kind": kind, "verbs": verbs })
}

/// What is asked by making it: group, plural and kind.
const REVIEWS: [(&str, &str, &str); 6] = [
    ("authentication.k8s.io", "tokenreviews", "TokenReview"),
    ("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview"),
    ("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview"),
    ("authorization.k8s.io", "localsubjectaccessreviews", "LocalSubjectAccessReview"),
    ("authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview"),
];

/// The answer to a review: here everybody is the same user, who may do anything.
pub(super) fn review(path: &str, mut asked: Value) -> Option<Value> {
    let (version, plural) = path.strip_prefix("/apis/")?.rsplit_once('/')?;
    let (.., kind) = REVIEWS.iter().find(|(group, name, _)| *name == plural && version.starts_with(group))?;
    let user = json!({ "username": "sandbox", "groups": ["system:masters", "system:authenticated"] });
    let every = json!({ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"] });
    if !asked.is_object() {
        asked = json!({});
    }
    asked["kind"] = (*kind).into();
    asked["apiVersion"] = "authorization.k8s.io/v1".into();
    if version.starts_with("authentication") {
        asked["apiVersion"] = "authentication.k8s.io/v1".into();
    }
    if !asked["metadata"].is_object() {
        asked["metadata"] = json!({});
    }
    asked["status"] = match *kind {
        "TokenReview" => json!({ "authenticated": true, "user": user }),
        "SelfSubjectReview" => json!({ "userInfo": user }),
        "SelfSubjectRulesReview" => {
            json!({ "resourceRules": [every], "nonResourceRules": [], "incomplete": false })
        }
        _ => json!({ "allowed": true, "reason": "in the sandbox everything is allowed" }),
    };
    Some(asked)
}
