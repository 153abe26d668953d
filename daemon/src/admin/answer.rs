//! Answers one request: authentication, authorization, then the page for the path.

use super::authenticate::{Authenticator, Unauthorized};
use super::authorize::{AccessDecision, Authorizer};
use super::health::Health;
use super::resources::ResourceMetricsReader;
use super::user::User;
use crate::clock::Clock;
use crate::connections::Slot;
use crate::metrics::Metrics;
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode, header};
use rustls_pki_types::CertificateDer;
use serde_json::{Value, json};
use std::sync::Arc;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";
/// Pages that only some users may read. Kubernetes' own roles let every service account read `/version` and `/api/…`, so reading
/// those proves nothing about the client.
const PRIVATE: [&str; 3] = ["/metrics", "/metrics/resources", "/configz"];

const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) struct Peer {
    /// The client's certificate and its chain; not verified yet.
    pub(super) certificates: Vec<CertificateDer<'static>>,
    slot: Slot,
}

impl Peer {
    pub(super) fn new(certificates: Option<&[CertificateDer<'_>]>, slot: Slot) -> Self {
        let certificates = certificates.unwrap_or_default().iter();
        let certificates = certificates.map(|certificate| certificate.clone().into_owned()).collect();
        Self { certificates, slot }
    }
}

pub(super) struct AdminHandler {
    pub(super) authenticator: Authenticator,
    pub(super) authorizer: Authorizer,
    pub(super) configuration: Value,
    pub(super) health: Arc<Health>,
    pub(super) metrics: Metrics,
    pub(super) resources: ResourceMetricsReader,
    pub(super) clock: Clock,
}

impl AdminHandler {
    pub(super) async fn answer(&self, request: &Parts, peer: &Peer) -> Response<String> {
        let path = request.uri.path();
        let user = match self.authenticator.user(&request.headers, peer).await {
            Ok(user) => user,
            Err(Unauthorized) => return failure(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized"),
        };
        let verb = request.method.as_str().to_lowercase();
        match self.authorizer.decide(&user, &verb, path).await {
            AccessDecision::Allowed => {
                if user.is_authenticated() && PRIVATE.contains(&path) && !self.authorizer.is_open(path) {
                    peer.slot.authenticate();
                }
                self.page(request).await
            }
            AccessDecision::Refused(reason) => {
                failure(StatusCode::FORBIDDEN, "Forbidden", &forbidden(&user, &verb, path, &reason))
            }
            AccessDecision::Unknown(why) => {
                tracing::warn!("ask what somebody may see: {why}");
                let text = format!("Internal Server Error: {path:?}: {why}\n");
                response(StatusCode::INTERNAL_SERVER_ERROR, TEXT, harmless(&text))
            }
        }
    }

    async fn page(&self, request: &Parts) -> Response<String> {
        if request.method != Method::GET && request.method != Method::HEAD {
            return response(StatusCode::METHOD_NOT_ALLOWED, TEXT, "405 method not allowed\n".to_owned());
        }
        let (path, query) = (request.uri.path(), request.uri.query().unwrap_or_default());
        match path {
            "/metrics" => response(StatusCode::OK, METRICS, self.metrics.text()),
            "/metrics/resources" => match self.resources.text(self.clock.now()).await {
                Ok(text) => response(StatusCode::OK, METRICS, text),
                Err(why) => response(StatusCode::INTERNAL_SERVER_ERROR, TEXT, format!("read pods: {why}\n")),
            },
            "/configz" => page(&json!({"componentconfig": self.configuration})),
            "/version" => page(&version()),
            _ => match self.health.answer(path, query, self.clock.now().elapsed) {
                Some((code, text)) => response(code, TEXT, text),
                None => response(StatusCode::NOT_FOUND, TEXT, "404 page not found\n".to_owned()),
            },
        }
    }
}

fn version() -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let (major, rest) = version.split_once('.').unwrap_or((version, ""));
    let platform = format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH);
    json!({
        "major": major,
        "minor": rest.split('.').next(),
        "gitVersion": format!("v{version}"),
        "platform": platform,
    })
}

fn forbidden(user: &User, verb: &str, path: &str, reason: &str) -> String {
    let what = harmless(&format!("User {:?} cannot {verb} path {path:?}", user.name));
    let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    format!("forbidden: {what}{reason}")
}

/// Escapes HTML, so that a browser does not interpret the text.
fn harmless(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn page(value: &Value) -> Response<String> {
    response(StatusCode::OK, JSON, value.to_string())
}

/// A Kubernetes `Status` object. The order of the fields is upstream's.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusBody<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: Value,
    status: &'static str,
    message: &'a str,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Value>,
    code: u16,
}

fn failure(code: StatusCode, reason: &str, message: &str) -> Response<String> {
    let failure = StatusBody {
        kind: "Status",
        api_version: "v1",
        metadata: json!({}),
        status: "Failure",
        message,
        reason,
        details: (code == StatusCode::FORBIDDEN).then(|| json!({})),
        code: code.as_u16(),
    };
    let text = serde_json::to_string(&failure).unwrap_or_else(|_| message.to_owned());
    response(code, JSON, format!("{text}\n"))
}

fn response(code: StatusCode, kind: &'static str, text: String) -> Response<String> {
    let mut response = Response::new(text);
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
