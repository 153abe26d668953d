//! Authorizes a request: open paths, the group `system:masters`, else a SubjectAccessReview.

use super::cache::Cache;
use super::user::{MASTERS, User};
use crate::clock::Clock;
use crate::config::{Access, CALL_DEADLINE};
use common::model::chain::chain;
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::Api;
use kube::api::PostParams;
use std::time::Duration;

/// Decisions are not cached if user name and path together are this long.
const KEY_LEN_MAX: usize = 10_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AccessDecision {
    Allowed,
    /// The user may not; with the reason, if there is one.
    Refused(String),
    Unknown(String),
}

/// Decides which user may read which path.
pub(super) struct Authorizer {
    open_paths: Vec<String>,
    client: Option<kube::Client>,
    decisions: Cache<(User, String, String), AccessDecision>,
    allowed_ttl: Duration,
    refused_ttl: Duration,
    clock: Clock,
}

impl Authorizer {
    pub(super) fn new(access: &Access, client: Option<kube::Client>, clock: Clock) -> Self {
        Self {
            open_paths: access.open_paths.clone(),
            client,
            decisions: Cache::new(),
            allowed_ttl: access.allowed_ttl,
            refused_ttl: access.refused_ttl,
            clock,
        }
    }

    pub(super) async fn decide(&self, user: &User, verb: &str, path: &str) -> AccessDecision {
        if user.groups.iter().any(|group| group == MASTERS) || self.is_open(path) {
            return AccessDecision::Allowed;
        }
        let Some(client) = &self.client else { return AccessDecision::Refused(String::new()) };
        let now = self.clock.now().elapsed;
        let key = (user.clone(), verb.to_owned(), path.to_owned());
        if let Some(known) = self.decisions.get(&key, now) {
            return known;
        }
        let decision = review(client, user, verb, path).await;
        let ttl = match &decision {
            AccessDecision::Allowed => self.allowed_ttl,
            AccessDecision::Refused(_) => self.refused_ttl,
            AccessDecision::Unknown(_) => return decision,
        };
        if path.len() + user.name.len() < KEY_LEN_MAX {
            self.decisions.put(key, decision.clone(), now + ttl, now);
        }
        decision
    }

    /// Whether every client may read the path. As upstream: without the leading slash, and a trailing `*` matches everything.
    pub(super) fn is_open(&self, path: &str) -> bool {
        let path = path.strip_prefix('/').unwrap_or(path);
        self.open_paths.iter().any(|open| {
            let open = open.strip_prefix('/').unwrap_or(open);
            match open.strip_suffix('*') {
                Some(prefix) => path.starts_with(prefix),
                None => path == open,
            }
        })
    }
}

async fn review(client: &kube::Client, user: &User, verb: &str, path: &str) -> AccessDecision {
    let review = SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            user: Some(user.name.clone()),
            uid: user.uid.clone(),
            groups: Some(user.groups.clone()),
            extra: Some(user.extra.clone()),
            non_resource_attributes: Some(NonResourceAttributes {
                path: Some(path.to_owned()),
                verb: Some(verb.to_owned()),
            }),
            ..SubjectAccessReviewSpec::default()
        },
        ..SubjectAccessReview::default()
    };
    let reviews: Api<SubjectAccessReview> = Api::all(client.clone());
    let status =
        match tokio::time::timeout(CALL_DEADLINE, reviews.create(&PostParams::default(), &review)).await {
            Ok(Ok(review)) => review.status.unwrap_or_default(),
            Ok(Err(error)) => return AccessDecision::Unknown(chain(&error)),
            Err(_) => return AccessDecision::Unknown("no answer from the API server".to_owned()),
        };
    if status.allowed {
        AccessDecision::Allowed
    } else {
        AccessDecision::Refused(status.reason.unwrap_or_default())
    }
}
