//! What the caller may do, by SelfSubjectAccessReviews. Commands call `require` before they change anything.

use crate::api::{self, JSON};
use crate::connect::Session;
use crate::error::{Exit, Failure};
use futures::stream::{self, StreamExt, TryStreamExt};
use http::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// The number of reviews that are sent in parallel.
const AT_ONCE: usize = 8;

/// One verb on one resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Right {
    /// The API group, empty for the core group.
    pub(crate) group: String,
    /// The plural, with the subresource if there is one: `pods/eviction`.
    pub(crate) resource: String,
    /// `None` for all namespaces, and for cluster-scoped resources.
    pub(crate) namespace: Option<String>,
    pub(crate) verb: String,
}

impl Right {
    pub(crate) fn new(verb: &str, group: &str, resource: &str, namespace: Option<&str>) -> Self {
        Self {
            group: group.into(),
            resource: resource.into(),
            namespace: namespace.map(Into::into),
            verb: verb.into(),
        }
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&rules(std::slice::from_ref(self)).concat())
    }
}

/// Rights as rules, with the verbs on the same resource together: `create, patch deployments.apps (namespace x)`.
pub(crate) fn rules(rights: &[Right]) -> Vec<String> {
    let mut verbs: BTreeMap<(&str, &str, Option<&str>), Vec<&str>> = BTreeMap::new();
    for right in rights {
        let what = (right.group.as_str(), right.resource.as_str(), right.namespace.as_deref());
        verbs.entry(what).or_default().push(&right.verb);
    }
    let rule = |((group, resource, namespace), verbs): (_, Vec<&str>)| {
        let dot = if str::is_empty(group) { "" } else { "." };
        let place: Option<&str> = namespace;
        let place =
            place.map_or_else(|| "cluster scope".into(), |namespace| format!("namespace {namespace}"));
        format!("{} {resource}{dot}{group} ({place})", verbs.join(", "))
    };
    verbs.into_iter().map(rule).collect()
}

/// The rights among `rights` that the caller lacks.
pub(crate) async fn missing(session: &Session, rights: &[Right]) -> Result<Vec<Right>, Failure> {
    let asked =
        stream::iter(rights).map(async |right| Ok::<_, Failure>((right, is_allowed(session, right).await?)));
    let answers: Vec<(&Right, bool)> = asked.buffered(AT_ONCE).try_collect().await?;
    Ok(answers.into_iter().filter(|(_, is_allowed)| !is_allowed).map(|(right, _)| right.clone()).collect())
}

/// Fails with the missing rules if the caller lacks any of `rights`.
pub(crate) async fn require(session: &Session, rights: &[Right], what: &str) -> Result<(), Failure> {
    let missing = missing(session, rights).await?;
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "you may not {what}; nothing was changed. Missing rights:\n  {}",
        rules(&missing).join("\n  ")
    ))
    .hint("ask an administrator for these rules, or for somebody who has them")
    .exit(Exit::Forbidden))
}

pub(crate) async fn is_allowed(session: &Session, right: &Right) -> Result<bool, Failure> {
    let (resource, sub) = right.resource.split_once('/').unwrap_or((&right.resource, ""));
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": { "resourceAttributes": {
            "namespace": right.namespace, "verb": right.verb, "group": right.group, "resource": resource,
            "subresource": sub,
        } },
    });
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let answer = api::write(session, Method::POST, path, JSON, review.to_string()).await;
    let answer = answer.map_err(|error| {
        error.into_failure("ask what you may do", "create selfsubjectaccessreviews.authorization.k8s.io")
    })?;
    let answer: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    let is_allowed = answer.pointer("/status/allowed").and_then(Value::as_bool);
    is_allowed.ok_or_else(|| Failure::new("the server's answer does not say whether you may do that"))
}

#[cfg(test)]
mod tests {
    use super::{Right, rules};

    #[test]
    fn rights_read_like_rules() {
        let rights = [
            Right::new("create", "apps", "deployments", Some("x")),
            Right::new("patch", "apps", "deployments", Some("x")),
            Right::new("patch", "", "nodes", None),
        ];
        assert_eq!(
            rules(&rights),
            ["patch nodes (cluster scope)", "create, patch deployments.apps (namespace x)"]
        );
        assert_eq!(rights[2].to_string(), "patch nodes (cluster scope)");
    }
}
