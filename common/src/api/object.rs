//! What the decoders of objects that are stored by name share: metadata, and fields that may be null or empty.

use super::DecodeError;
use super::meta::{Meta, Str};
use crate::model::{ObjectMeta, Quantity, Text, Uid};
use serde::de::Error as _;
use std::fmt;

/// The text; `None` if it is missing, null or empty.
pub(super) fn name(text: Option<&Str<'_>>) -> Option<Text> {
    text.filter(|text| !text.0.is_empty()).map(|text| Text::from(&*text.0))
}

/// A quantity that may be missing. White space around it is ignored, as in Kubernetes.
pub(super) fn quantity(
    kind: &'static str,
    field: &str,
    text: Option<&Str<'_>>,
) -> Result<Option<Quantity>, DecodeError> {
    let parsed = text.map(|text| Quantity::parse(text.0.trim())).transpose();
    parsed.map_err(|error| malformed(kind, format!("{field}: {error}")))
}

/// The error about an object whose JSON has the right form but is invalid.
pub(super) fn malformed(kind: &'static str, why: impl fmt::Display) -> DecodeError {
    DecodeError { kind, source: serde_json::Error::custom(why) }
}

impl Meta<'_> {
    /// The metadata of an object that is stored by name. An object without a name is an error.
    pub(super) fn object(&self, kind: &'static str) -> Result<ObjectMeta, DecodeError> {
        if self.name.is_empty() {
            return Err(malformed(kind, "an object without a name, such as a list"));
        }
        Ok(ObjectMeta {
            namespace: Text::from(&*self.namespace),
            name: Text::from(&*self.name),
            uid: Uid::from(&*self.uid),
            resource_version: self.version(),
            is_deleting: self.is_deleting(),
        })
    }

    /// The storage class, from the beta annotation if there is one, else from the field.
    pub(super) fn class(&self, field: Option<&Str<'_>>) -> Option<Text> {
        match self.annotation(super::names::STORAGE_CLASS) {
            Some(class) => Some(class).filter(|class| !class.is_empty()),
            None => name(field),
        }
    }
}
