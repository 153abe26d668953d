//! Error answers of the API: code, reason, message and causes, with upstream's texts.

use crate::resources::Resource;
use http::StatusCode;
use serde_json::{Value, json};

/// An error answer of the API, a `Status` with status `Failure`.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) code: StatusCode,
    reason: &'static str,
    message: String,
    /// The field `details`: name, group and kind (or resource), and causes.
    details: Value,
    pub(crate) retry_after: Option<u32>,
}

pub(crate) type Answer<T> = Result<T, Refusal>;

/// One entry of `details.causes`.
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
        Self::new(StatusCode::NOT_FOUND, "NotFound", message).with_resource(resource, name)
    }

    pub(crate) fn no_such_path() -> Self {
        let message = "the server could not find the requested resource";
        Self { details: json!({}), ..Self::new(StatusCode::NOT_FOUND, "NotFound", message) }
    }

    pub(crate) fn already_exists(resource: &Resource, name: &str) -> Self {
        let message = format!("{} {name:?} already exists", resource.qualified());
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message).with_resource(resource, name)
    }

    /// A conflict on `what`. The caller adds [`Refusal::with_details`].
    pub(crate) fn conflict(what: &str, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {what} {name:?}: {why}");
        Self::new(StatusCode::CONFLICT, "Conflict", message)
    }

    /// The object has another `resourceVersion` than the request.
    pub(crate) fn modified(resource: &Resource, name: &str) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(&resource.qualified(), name, why).with_resource(resource, name)
    }

    /// A precondition on the UID or version of the object failed.
    pub(crate) fn precondition(
        resource: &Resource,
        name: &str,
        what: &str,
        wanted: &str,
        found: &str,
    ) -> Self {
        let why =
            format!("Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}");
        Self::conflict(&resource.qualified(), name, &why).with_resource(resource, name)
    }

    pub(crate) fn forbidden(resource: &Resource, name: &str, why: &str) -> Self {
        let message = format!("{} {name:?} is forbidden: {why}", resource.qualified());
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message).with_resource(resource, name)
    }

    /// A field is invalid: (kind, field, message). The kind is `Invalid`, `Required`, `Forbidden` or `NotSupported`.
    pub(crate) fn invalid(resource: &Resource, name: &str, field: (&str, &str, &str)) -> Self {
        Self::invalid_of(&resource.kind_and_group(), name, field).with_details(
            name,
            resource.kind,
            resource.group,
        )
    }

    /// A field of `what` is invalid, where messages do not use the kind's name. The caller adds [`Refusal::with_details`].
    pub(crate) fn invalid_of(what: &str, name: &str, (kind, field, why): (&str, &str, &str)) -> Self {
        let message = format!("{what} {name:?} is invalid: {field}: {why}");
        let refusal = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message);
        refusal.with_cause(cause(&format!("FieldValue{kind}"), why, field))
    }

    pub(crate) fn too_old(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "Expired", message)
    }

    pub(crate) fn unsupported_media_type() -> Self {
        let message = "415: Unsupported Media Type";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message)
    }

    /// An object as an API server reads it and the sandbox does not.
    pub(crate) fn not_json() -> Self {
        let message = "the sandbox reads only JSON, and this command sends something else, perhaps protobuf; add: \
                       --dry-run=client -o yaml | kubectl create -f -";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message)
    }

    /// Adds the object to the details.
    fn with_resource(self, resource: &Resource, name: &str) -> Self {
        self.with_details(name, resource.plural, resource.group)
    }

    pub(crate) fn with_details(mut self, name: &str, kind: &str, group: &str) -> Self {
        self.details["name"] = name.into();
        self.details["group"] = group.into();
        self.details["kind"] = kind.into();
        self
    }

    pub(crate) fn with_cause(mut self, cause: Value) -> Self {
        let mut causes = self.details["causes"].as_array().cloned().unwrap_or_default();
        causes.push(cause);
        self.details["causes"] = causes.into();
        self
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code.as_u16(),
        });
        if !self.reason.is_empty() {
            status["reason"] = self.reason.into();
        }
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
