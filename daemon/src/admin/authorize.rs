//! Who may see what: open paths, masters, and else what the cluster says.

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

/// A question and a user: as long as this is, the answer is not remembered.
const KEY_LEN_MAX: usize = 10_000;

/// What may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Go on.
    Allowed,
    /// No; with the reason, if there is one.
    Refused(String),
    /// Nobody knows.
    Unknown(String),
}

/// Asks who may see what.
pub(super) struct Authorizer {
    open_paths: Vec<String>,
    client: Option<kube::Client>,
    known: Cache<(User, String, String), Verdict>,
    allowed_ttl: Duration,
    refused_ttl: Duration,
    clock: Clock,
}

impl Authorizer {
    pub(super) fn new(access: &Access, client: Option<kube::Client>, clock: Clock) -> Self {
        Self {
            open_paths: access.open_paths.clone(),
            client,
            known: Cache::new(),
            allowed_ttl: access.allowed_ttl,
            refused_ttl: access.refused_ttl,
            clock,
        }
    }

    pub(super) async fn verdict(&self, user: &User, verb: &str, path: &str) -> Verdict {
        if user.groups.iter().any(|group| group == MASTERS) || self.is_open(path) {
            return Verdict::Allowed;
        }
        let Some(client) = &self.client else { return Verdict::Refused(String::new()) };
        let now = self.clock.now().elapsed;
        let key = (user.clone(), verb.to_owned(), path.to_owned());
        if let Some(known) = self.known.get(&key, now) {
            return known;
        }
        let verdict = review(client, user, verb, path).await;
        let ttl = match &verdict {
            Verdict::Allowed => self.allowed_ttl,
            Verdict::Refused(_) => self.refused_ttl,
            Verdict::Unknown(_) => return verdict,
        };
        if path.len() + user.name.len() < KEY_LEN_MAX {
            self.known.put(key, verdict.clone(), now + ttl, now);
        }
        verdict
    }

    /// Whether everybody may see the path. As upstream compares: without the first slash, a last `*` for anything.
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

async fn review(client: &kube::Client, user: &User, verb: &str, path: &str) -> Verdict {
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
            Ok(Err(error)) => return Verdict::Unknown(chain(&error)),
            Err(_) => return Verdict::Unknown("no answer from the API server".to_owned()),
        };
    if status.allowed { Verdict::Allowed } else { Verdict::Refused(status.reason.unwrap_or_default()) }
}
