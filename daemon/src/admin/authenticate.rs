//! Authenticates a client: by an authenticating proxy, a client certificate, a bearer token, or as anonymous; in
//! kube-scheduler's order. Invalid credentials are refused; a client without credentials is anonymous.

use super::answer::Peer;
use super::authority::TrustedAuthorities;
use super::cache::Cache;
use super::user::User;
use crate::clock::Clock;
use crate::config::{Access, CALL_DEADLINE, Headers};
use arc_swap::ArcSwap;
use http::{HeaderMap, header};
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use kube::Api;
use kube::api::PostParams;
use rustls_pki_types::UnixTime;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use std::time::Duration;

/// The credentials are invalid, or could not be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unauthorized;

pub(super) struct Authenticator {
    trusted: Arc<ArcSwap<TrustedAuthorities>>,
    client: Option<kube::Client>,
    /// Users by the digest of their token, so that our memory contains no tokens. `None`: the token is invalid.
    tokens: Cache<[u8; 32], Option<User>>,
    ttl: Duration,
    clock: Clock,
}

impl Authenticator {
    pub(super) fn new(
        access: &Access,
        client: Option<kube::Client>,
        trusted: Arc<ArcSwap<TrustedAuthorities>>,
        clock: Clock,
    ) -> Self {
        Self { trusted, client, tokens: Cache::new(), ttl: access.token_ttl, clock }
    }

    pub(super) async fn user(&self, headers: &HeaderMap, peer: &Peer) -> Result<User, Unauthorized> {
        let trusted = self.trusted.load_full();
        let seconds = u64::try_from(self.clock.now().wall.as_second()).unwrap_or_default();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        if let Some(user) =
            by_proxy(&trusted, headers, peer, now).or_else(|| by_certificate(&trusted, peer, now))
        {
            return Ok(user.authenticated());
        }
        if let (Some(client), Some(token)) = (&self.client, bearer(headers)) {
            return self.by_token(client, token).await.map(User::authenticated).ok_or(Unauthorized);
        }
        let are_certificates_checked = trusted.clients.is_some() || trusted.proxies.is_some();
        if are_certificates_checked && !peer.certificates.is_empty() {
            Err(Unauthorized)
        } else {
            Ok(User::anonymous())
        }
    }

    async fn by_token(&self, client: &kube::Client, token: &str) -> Option<User> {
        let now = self.clock.now().elapsed;
        let key: [u8; 32] = Sha256::digest(token).into();
        if let Some(known) = self.tokens.get(&key, now) {
            return known;
        }
        let user = review(client, token).await?;
        self.tokens.put(key, user.clone(), now + self.ttl, now);
        user
    }
}

/// The result of a TokenReview: the user, or `None` for an invalid token. The outer `None`: there was no result.
async fn review(client: &kube::Client, token: &str) -> Option<Option<User>> {
    let spec = TokenReviewSpec { token: token.to_owned(), audiences: None };
    let review = TokenReview { spec, ..TokenReview::default() };
    let reviews: Api<TokenReview> = Api::all(client.clone());
    let params = PostParams::default();
    let status = match tokio::time::timeout(CALL_DEADLINE, reviews.create(&params, &review)).await {
        Ok(Ok(review)) => review.status.unwrap_or_default(),
        // Errors of the client never contain the request's body, so this does not log the token.
        Ok(Err(error)) => return warn(&common::model::chain::chain(&error)),
        Err(_) => return warn("no answer"),
    };
    let is_good = status.authenticated == Some(true);
    Some(status.user.filter(|_| is_good).and_then(user_of))
}

fn warn<T>(why: &str) -> Option<T> {
    tracing::warn!("ask whose token it is: {why}");
    None
}

fn user_of(info: UserInfo) -> Option<User> {
    Some(User {
        name: info.username?,
        uid: info.uid,
        groups: info.groups.unwrap_or_default(),
        extra: info.extra.unwrap_or_default(),
    })
}

/// The token of `Authorization: Bearer <token>`.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, token) = text.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn by_certificate(trusted: &TrustedAuthorities, peer: &Peer, now: UnixTime) -> Option<User> {
    let is_signed = trusted.clients.as_ref()?.has_signed(&peer.certificates, now);
    is_signed.then(|| User::of_certificate(peer.certificates.first()?)).flatten()
}

fn by_proxy(trusted: &TrustedAuthorities, headers: &HeaderMap, peer: &Peer, now: UnixTime) -> Option<User> {
    if !trusted.proxies.as_ref()?.has_signed(&peer.certificates, now) {
        return None;
    }
    let proxy = User::of_certificate(peer.certificates.first()?)?;
    let allowed = &trusted.headers.allowed_names;
    let is_allowed = allowed.is_empty() || allowed.contains(&proxy.name);
    is_allowed.then(|| user_in_headers(headers, &trusted.headers)).flatten()
}

fn user_in_headers(headers: &HeaderMap, meaning: &Headers) -> Option<User> {
    let all = |names: &[String]| -> Vec<String> {
        let values = names.iter().flat_map(|name| headers.get_all(name.to_lowercase()));
        values
            .filter_map(|value| value.to_str().ok())
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let mut user = User { name: all(&meaning.user).into_iter().next()?, ..User::anonymous() };
    user.groups = all(&meaning.group);
    user.uid = all(&meaning.uid).into_iter().next();
    for (name, value) in headers {
        let prefix = meaning.extra_prefix.iter().map(|prefix| prefix.to_lowercase());
        let key = prefix.filter_map(|prefix| name.as_str().strip_prefix(&prefix)).next();
        if let (Some(key), Ok(value)) = (key, value.to_str()) {
            user.extra.entry(key.to_owned()).or_default().push(value.to_owned());
        }
    }
    Some(user)
}
