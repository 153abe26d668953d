//! What the decoders of all kinds share: metadata, maps of strings, lists that may be null.

use super::DecodeError;
use crate::model::{ControllerRef, ForeignKind, Keep, Labels, Moment, OwnerKind, Text, Uid};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A string, borrowed from the JSON unless it has escapes.
#[derive(Deserialize, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Str<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// A list that may be null, and whose items may be null. As in Go, null is the same as an empty list or an empty item.
pub(super) struct NullableList<T>(pub(super) Vec<T>);

/// A JSON object of strings, in the order of the JSON.
#[derive(Default)]
pub(super) struct Pairs<'a>(pub(super) Vec<(Cow<'a, str>, Cow<'a, str>)>);

/// An object as the API server sends it. A part of which nothing is read is [`IgnoredAny`]; one that is missing or null has its
/// default.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a, S: Deserialize<'de> + Default, T: Deserialize<'de> + Default"))]
pub(super) struct ObjectWire<'a, S = IgnoredAny, T = IgnoredAny> {
    pub(super) metadata: Meta<'a>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) spec: S,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) status: T,
}

/// The fields of `metadata` that we read.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct Meta<'a> {
    pub(super) name: Str<'a>,
    pub(super) namespace: Str<'a>,
    pub(super) uid: Str<'a>,
    pub(super) resource_version: Str<'a>,
    pub(super) generation: i64,
    pub(super) creation_timestamp: Option<Str<'a>>,
    pub(super) deletion_timestamp: Option<Str<'a>>,
    pub(super) labels: Option<Pairs<'a>>,
    pub(super) annotations: Option<Pairs<'a>>,
    pub(super) owner_references: Option<Vec<OwnerReference<'a>>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct OwnerReference<'a> {
    api_version: Str<'a>,
    kind: Str<'a>,
    name: Str<'a>,
    uid: Str<'a>,
    controller: Option<bool>,
}

pub(super) fn decode<'a, T: Deserialize<'a>>(kind: &'static str, json: &'a str) -> Result<T, DecodeError> {
    serde_json::from_str(json).map_err(|source| DecodeError { kind, source })
}

fn null_as_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(json: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(json)?.unwrap_or_default())
}

/// A time as the API writes it; `None` if it is missing or invalid. An invalid time must not make the whole object invalid: callers
/// treat it as unknown.
pub(super) fn time(text: Option<&Str<'_>>) -> Option<Timestamp> {
    text.and_then(|text| text.0.parse().ok())
}

/// A time in whole seconds; `None` if it is missing or invalid.
pub(super) fn moment(text: Option<&Str<'_>>) -> Option<Moment> {
    time(text).map(Moment::of)
}

/// The text; empty if it is missing.
pub(super) fn or_empty(text: Option<&Str<'_>>) -> Text {
    text.map(|text| Text::from(&*text.0)).unwrap_or_default()
}

impl Deref for Str<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<T> Default for NullableList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl NullableList<Str<'_>> {
    pub(super) fn texts(&self) -> Box<[Text]> {
        self.0.iter().map(|text| Text::from(&*text.0)).collect()
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for NullableList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Option::<Vec<Option<T>>>::deserialize(deserializer)?.unwrap_or_default();
        Ok(Self(items.into_iter().map(Option::unwrap_or_default).collect()))
    }
}

impl Meta<'_> {
    /// `resourceVersion` as a number, which grows within one kind; 0 if it is missing.
    pub(super) fn version(&self) -> u64 {
        self.resource_version.parse().unwrap_or(0)
    }

    pub(super) fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    pub(super) fn labels(&self) -> Labels {
        self.labels.as_ref().map(Pairs::labels).unwrap_or_default()
    }

    pub(super) fn annotation(&self, name: &str) -> Option<Text> {
        let pairs = &self.annotations.as_ref()?.0;
        pairs.iter().find(|(key, _)| key == name).map(|(_, value)| Text::from(&**value))
    }

    pub(super) fn keep(&self) -> Option<Keep> {
        let pairs = &self.annotations.as_ref()?.0;
        pairs.iter().find(|(key, _)| key == super::names::KEEP).and_then(|(_, value)| Keep::read(value))
    }

    pub(super) fn has_annotation(&self, name: &str) -> bool {
        self.annotations.as_ref().is_some_and(|pairs| pairs.0.iter().any(|(key, _)| key == name))
    }

    /// The owner reference with `controller: true`, not yet checked.
    pub(super) fn controller(&self) -> Option<ControllerRef> {
        let owner = self.owner_references.as_ref()?.iter().find(|owner| owner.controller == Some(true))?;
        let kind = OwnerKind::from_reference(&owner.api_version, &owner.kind);
        let foreign =
            || ForeignKind { api_version: (&*owner.api_version).into(), kind: (&*owner.kind).into() };
        Some(ControllerRef {
            kind,
            foreign: kind.is_none().then(|| Arc::new(foreign())),
            name: Text::from(&*owner.name),
            uid: Uid::from(&*owner.uid),
        })
    }
}

impl Pairs<'_> {
    pub(super) fn labels(&self) -> Labels {
        Labels::new(self.0.iter().map(|(key, value)| (&**key, &**value)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;
        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some((key, value)) = map.next_entry::<Str<'de>, Str<'de>>()? {
                    pairs.push((key.0, value.0));
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(PairsVisitor)
    }
}
