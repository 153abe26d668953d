//! What the decoders of objects that are kept by name share: their metadata, and fields that may be null or empty.

use super::DecodeError;
use super::meta::{Meta, Str};
use crate::model::ids::Text;
use crate::model::object;
use crate::model::quantity::Quantity;
use serde::de::Error as _;
use std::fmt;

/// Text that may be missing, which null and empty are too.
pub(super) fn name(text: Option<&Str<'_>>) -> Option<Text> {
    text.filter(|text| !text.0.is_empty()).map(|text| Text::from(&*text.0))
}

/// A quantity that may be missing. Kubernetes ignores white space around one.
pub(super) fn quantity(
    kind: &'static str,
    field: &str,
    text: Option<&Str<'_>>,
) -> Result<Option<Quantity>, DecodeError> {
    let parsed = text.map(|text| Quantity::parse(text.0.trim())).transpose();
    parsed.map_err(|error| malformed(kind, format!("{field}: {error}")))
}

/// An object that is JSON of the right form, and still makes no sense.
pub(super) fn malformed(kind: &'static str, why: impl fmt::Display) -> DecodeError {
    DecodeError { kind, source: serde_json::Error::custom(why) }
}

impl Meta<'_> {
    /// What the belief goes by. An object must have a name.
    pub(super) fn object(&self, kind: &'static str) -> Result<object::Meta, DecodeError> {
        if self.name.is_empty() {
            return Err(malformed(kind, "an object without a name, such as a list"));
        }
        Ok(object::Meta {
            namespace: Text::from(&*self.namespace),
            name: Text::from(&*self.name),
            uid: self.uid.as_ref().into(),
            resource_version: self.version(),
            is_deleting: self.is_deleting(),
        })
    }

    /// The storage class, by the annotation of old if there is one, else by the field.
    pub(super) fn class(&self, field: Option<&Str<'_>>) -> Option<Text> {
        match self.annotation(super::names::STORAGE_CLASS) {
            Some(class) => Some(class).filter(|class| !class.is_empty()),
            None => name(field),
        }
    }
}
