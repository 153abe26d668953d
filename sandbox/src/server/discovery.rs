//! Discovery, the version, and reviews of authentication and authorization.

use crate::resources::{Feature, RESOURCES, Resource, groups};
use serde_json::{Map, Value, json};

/// The minor version of Kubernetes that the sandbox reports.
const MINOR: u32 = 37;

/// The answer to a GET at a discovery path; `None` for other paths.
pub(super) fn answer(path: &str) -> Option<Value> {
    let path = path.trim_end_matches('/');
    if path == "/version" {
        return Some(json!({
            "major": "1", "minor": MINOR.to_string(), "gitVersion": format!("v1.{MINOR}.0+sandbox"), "gitCommit": "",
            "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "", "platform": "sandbox",
        }));
    }
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    match parts[..] {
        ["openapi", "v3"] => Some(json!({ "paths": documents() })),
        ["openapi", "v3", "api", "v1"] => Some(document("")),
        ["openapi", "v3", "apis", name, "v1"] => groups().contains(&name).then(|| document(name)),
        ["api"] => {
            Some(json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [] }))
        }
        ["apis"] => {
            let groups: Vec<Value> = groups().into_iter().map(group).collect();
            Some(json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups }))
        }
        ["api", "v1"] => Some(resources("", "v1")),
        ["apis", name] => groups().contains(&name).then(|| group(name)),
        ["apis", name, "v1"] => groups().contains(&name).then(|| resources(name, &format!("{name}/v1"))),
        _ => None,
    }
}

fn group(name: &str) -> Value {
    let version = json!({ "groupVersion": format!("{name}/v1"), "version": "v1" });
    json!({ "kind": "APIGroup", "apiVersion": "v1", "name": name, "versions": [version], "preferredVersion": version })
}

fn resources(group: &str, version: &str) -> Value {
    let change = json!(["get", "patch", "update"]);
    let mut all = Vec::new();
    for resource in RESOURCES.iter().filter(|one| one.group == group) {
        let part = |name: &str, group: &str, kind: &str, verbs: &Value| {
            json!({ "name": format!("{}/{name}", resource.plural), "singularName": "", "kind": kind, "verbs": verbs,
                    "namespaced": resource.is_namespaced, "group": group, "version": "v1" })
        };
        all.push(entry(resource));
        if resource.has(Feature::Status) {
            all.push(part("status", group, resource.kind, &change));
        }
        if resource.has(Feature::Scale) {
            all.push(part("scale", "autoscaling", "Scale", &change));
        }
        if resource.plural == "pods" {
            all.push(part("binding", group, "Binding", &json!(["create"])));
            all.push(part("eviction", "policy", "Eviction", &json!(["create"])));
        }
    }
    all.extend(REVIEWS.iter().filter(|(of, _)| *of == group).map(|(_, kind)| {
        let word = kind.to_lowercase();
        json!({ "name": format!("{word}s"), "singularName": word, "namespaced": false, "kind": kind, "verbs": ["create"] })
    }));
    json!({ "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": all })
}

fn entry(resource: &Resource) -> Value {
    let is_common =
        matches!((resource.group, resource.plural), ("apps" | "batch", _) | (_, "pods" | "services"));
    json!({
        "name": resource.plural, "singularName": resource.kind.to_lowercase(), "namespaced": resource.is_namespaced,
        "kind": resource.kind, "shortNames": resource.short, "categories": if is_common { vec!["all"] } else { vec![] },
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
    })
}

/// The path of each group's OpenAPI document.
fn documents() -> Map<String, Value> {
    let paths = groups().into_iter().map(|group| format!("apis/{group}/v1")).chain(["api/v1".to_owned()]);
    paths.map(|path| (path.clone(), json!({ "serverRelativeURL": format!("/openapi/v3/{path}") }))).collect()
}

/// As much of a group's OpenAPI document as lets kubectl leave the validation of manifests to the server: no schemas, and for each kind a
/// PATCH with the parameter `fieldValidation`.
fn document(group: &str) -> Value {
    let path = |resource: &Resource| {
        let kind = json!({ "group": group, "version": "v1", "kind": resource.kind });
        let parameter = json!({ "name": "fieldValidation", "in": "query", "schema": { "type": "string" } });
        let patch =
            json!({ "parameters": [parameter], "responses": {}, "x-kubernetes-group-version-kind": kind });
        (format!("/{}/{}/{{name}}", resource.api_version(), resource.plural), json!({ "patch": patch }))
    };
    let paths: Map<String, Value> = RESOURCES.iter().filter(|one| one.group == group).map(path).collect();
    json!({ "openapi": "3.0.0", "info": { "title": "sandbox", "version": "v1" }, "paths": paths })
}

/// The group and kind of each review.
const REVIEWS: [(&str, &str); 5] = [
    ("authentication.k8s.io", "TokenReview"),
    ("authentication.k8s.io", "SelfSubjectReview"),
    ("authorization.k8s.io", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "SubjectAccessReview"),
    ("authorization.k8s.io", "SelfSubjectRulesReview"),
];

/// The answer to a review: every client is the same user, who may do everything.
pub(super) fn review(path: &str, asked: &Value) -> Option<Value> {
    let is_asked =
        |(group, kind): &&(&str, &str)| path == format!("/apis/{group}/v1/{}s", kind.to_lowercase());
    let (group, kind) = REVIEWS.iter().find(is_asked)?;
    let user = json!({ "username": "sandbox", "groups": ["system:masters", "system:authenticated"] });
    let every = json!({ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"] });
    let status = match *kind {
        "TokenReview" => json!({ "authenticated": true, "user": user }),
        "SelfSubjectReview" => json!({ "userInfo": user }),
        "SelfSubjectRulesReview" => {
            json!({ "resourceRules": [every], "nonResourceRules": [], "incomplete": false })
        }
        _ => json!({ "allowed": true, "reason": "in the sandbox everything is allowed" }),
    };
    let version = format!("{group}/v1");
    Some(
        json!({ "kind": kind, "apiVersion": version, "metadata": {}, "spec": asked["spec"], "status": status }),
    )
}
