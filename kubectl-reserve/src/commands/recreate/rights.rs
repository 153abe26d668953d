//! The user name of the caller, and what the caller may do with a node.

use crate::api::{self as calls, JSON};
use crate::connect::Session;
use http::Method;
use serde_json::{Value, json};

/// The user name of the caller; `unknown` if the server does not say.
pub(super) async fn user(session: &Session) -> String {
    let review = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview" });
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let answer = calls::write(session, Method::POST, path, JSON, review.to_string()).await;
    let name = answer.ok().and_then(|answer| serde_json::from_str::<Value>(&answer.text).ok());
    let name = name.as_ref().and_then(|review| review["status"]["userInfo"]["username"].as_str());
    name.unwrap_or("unknown").chars().take(100).collect()
}

/// Whether the caller may use `verb` on a node; true if the server does not say, because the request itself will tell.
pub(super) async fn may_on_node(session: &Session, verb: &str, subresource: &str, node: &str) -> bool {
    let attributes = json!({ "verb": verb, "resource": "nodes", "subresource": subresource, "name": node, "version": "v1" });
    let review = json!({ "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
                         "spec": { "resourceAttributes": attributes } });
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let answer = calls::write(session, Method::POST, path, JSON, review.to_string()).await;
    let review = answer.ok().and_then(|answer| serde_json::from_str::<Value>(&answer.text).ok());
    review.and_then(|review| review["status"]["allowed"].as_bool()).unwrap_or(true)
}
