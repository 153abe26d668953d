//! What the API says when it says no: a code, a reason, and causes, in upstream's words.

use crate::resources::Resource;
use http::StatusCode;
use serde_json::{Value, json};

/// A refusal.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) code: StatusCode,
    reason: &'static str,
    message: String,
    /// What it is about: name, group and kind (or resource).
    details: Value,
    pub(crate) retry_after: Option<u32>,
}

pub(crate) type Answer<T> = Result<T, Refusal>;

/// One of the causes.
pub(crate) fn cause(reason: &str, message: impl Into<String>, field: &str) -> Value {
    let mut cause = json!({ "reason": reason, "message": message.into() });
    if !field.is_empty() {
        cause["field"] = field.into();
    }
    cause
}

impl Refusal {
    pub(crate) fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: Value::Null, retry_after: None }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    pub(crate) fn not_found(resource: &Resource, name: &str) -> Self {
        let message = format!("{} {name:?} not found", resource.qualified());
        Self::new(StatusCode::NOT_FOUND, "NotFound", message).about(resource, name)
    }

    /// There is no such place.
    pub(crate) fn nowhere() -> Self {
        let message = "the server could not find the requested resource";
        Self { details: json!({}), ..Self::new(StatusCode::NOT_FOUND, "NotFound", message) }
    }

    pub(crate) fn already_exists(resource: &Resource, name: &str) -> Self {
        let message = format!("{} {name:?} already exists", resource.qualified());
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message).about(resource, name)
    }

    pub(crate) fn conflict(resource: &Resource, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} {name:?}: {why}", resource.qualified());
        Self::new(StatusCode::CONFLICT, "Conflict", message).about(resource, name)
    }

    /// Somebody else was faster.
    pub(crate) fn modified(resource: &Resource, name: &str) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(resource, name, why)
    }

    /// What was asked about the object's identity does not hold.
    pub(crate) fn precondition(
        resource: &Resource,
        name: &str,
        what: &str,
        wanted: &str,
        found: &str,
    ) -> Self {
        let why =
            format!("Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}");
        Self::conflict(resource, name, &why)
    }

    pub(crate) fn forbidden(resource: &Resource, name: &str, why: &str) -> Self {
        let message = format!("{} {name:?} is forbidden: {why}", resource.qualified());
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message).about(resource, name)
    }

    /// A field is not as it must be. `kind` is `Invalid`, `Required`, `Forbidden` or `NotSupported`.
    pub(crate) fn invalid(resource: &Resource, name: &str, (kind, field, why): (&str, &str, &str)) -> Self {
        let message = format!("{} {name:?} is invalid: {field}: {why}", resource.kind_and_group());
        let mut refusal = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message);
        refusal.details = json!({ "name": name, "group": resource.group, "kind": resource.kind });
        refusal.causing(cause(&format!("FieldValue{kind}"), why, field))
    }

    pub(crate) fn too_old(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "Expired", message)
    }

    pub(crate) fn media_type() -> Self {
        let message = "the body of the request was in an unknown format - accepted media types include: \
                       application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message)
    }

    /// The same, about an object.
    fn about(mut self, resource: &Resource, name: &str) -> Self {
        self.details = json!({ "name": name, "group": resource.group, "kind": resource.plural });
        self
    }

    /// The same, about something of an object in the core group.
    pub(crate) fn on(mut self, name: &str, what: &str) -> Self {
        self.details = json!({ "name": name, "kind": what });
        self
    }

    /// The same, with one cause more.
    pub(crate) fn causing(mut self, cause: Value) -> Self {
        let mut causes = self.details["causes"].as_array().cloned().unwrap_or_default();
        causes.push(cause);
        self.details["causes"] = causes.into();
        self
    }

    /// As a `Status`.
    pub(crate) fn to_json(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "reason": self.reason, "code": self.code.as_u16(),
        });
        let mut details = self.details.clone();
        if let Some(details) = details.as_object_mut() {
            details.retain(|_, value| value != "");
        }
        if let Some(seconds) = self.retry_after {
            details["retryAfterSeconds"] = seconds.into();
        }
        if !details.is_null() {
            status["details"] = details;
        }
        status
    }
}
