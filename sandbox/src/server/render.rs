//! Renders objects in the requested form: whole, as metadata only, or as rows of a table.

use super::request::Form;
use super::table;
use crate::api::events::for_resource;
use crate::resources::Resource;
use crate::value::text;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Clone, Copy, Debug)]
pub(super) struct Renderer {
    pub(super) resource: &'static Resource,
    pub(super) form: Form,
}

#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) revision: u64,
    pub(super) next: Option<String>,
    pub(super) left: Option<usize>,
}

impl Renderer {
    pub(super) fn object(&self, object: &Value, now: Timestamp) -> Value {
        match self.form {
            Form::Whole => for_resource(self.resource, object),
            Form::Metadata => metadata(object),
            Form::Table => {
                let version = text(object, "/metadata/resourceVersion");
                self.table(&json!({ "resourceVersion": version }), std::iter::once(object), now)
            }
        }
    }

    pub(super) fn list(&self, objects: &[Arc<Value>], page: &Page, now: Timestamp) -> Value {
        let mut meta = json!({ "resourceVersion": page.revision.to_string() });
        if let Some(next) = &page.next {
            meta["continue"] = next.as_str().into();
        }
        if let Some(left) = page.left {
            meta["remainingItemCount"] = left.into();
        }
        let (version, kind) = match self.form {
            Form::Table => return self.table(&meta, objects.iter().map(|one| &**one), now),
            Form::Metadata => ("meta.k8s.io/v1".into(), "PartialObjectMetadataList".into()),
            Form::Whole => (self.resource.api_version(), format!("{}List", self.resource.kind)),
        };
        let items = objects.iter().map(|object| {
            let mut item = self.object(object, now);
            // In a list only the list has `kind` and `apiVersion`.
            if let (Form::Whole, Some(item)) = (self.form, item.as_object_mut()) {
                item.retain(|field, _| !matches!(field.as_str(), "kind" | "apiVersion"));
            }
            item
        });
        let items: Vec<Value> = items.collect();
        json!({ "kind": kind, "apiVersion": version, "metadata": meta, "items": items })
    }

    fn table<'a>(&self, meta: &Value, objects: impl Iterator<Item = &'a Value>, now: Timestamp) -> Value {
        let rows: Vec<Value> = objects
            .map(|object| json!({ "cells": table::cells(self.resource, object, now), "object": metadata(object) }))
            .collect();
        let columns = table::columns(self.resource);
        json!({ "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta, "columnDefinitions": columns, "rows": rows })
    }

    /// A bookmark: the revision that the watch has reached, or the end of the initial events.
    pub(super) fn bookmark(&self, revision: u64, is_initial_end: bool) -> Value {
        let mut meta = json!({ "resourceVersion": revision.to_string() });
        if is_initial_end {
            meta["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
        }
        json!({ "kind": self.resource.kind, "apiVersion": self.resource.api_version(), "metadata": meta })
    }
}

fn metadata(object: &Value) -> Value {
    json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"] })
}

pub(super) fn date(now: Timestamp) -> String {
    now.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// The age in a table, in kubectl's format.
pub(super) fn ago(since: &str, now: Timestamp) -> String {
    let Ok(since) = since.parse::<Timestamp>() else { return "<unknown>".into() };
    let seconds = now.duration_since(since).as_secs();
    let two = |first: i64, unit: &str, rest: i64, small: &str| {
        if rest == 0 { format!("{first}{unit}") } else { format!("{first}{unit}{rest}{small}") }
    };
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        i64::MIN..0 => "0s".into(),
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        _ => two(days / 365, "y", days % 365, "d"),
    }
}

#[cfg(test)]
mod tests {
    use super::{ago, date};
    use jiff::{SignedDuration, Timestamp};

    #[test]
    fn times_read_as_kubectls() {
        let now: Timestamp = "2026-11-17T08:09:05Z".parse().unwrap();
        assert_eq!(date(now), "Tue, 17 Nov 2026 08:09:05 GMT");
        let table = [
            (5, "5s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (700, "11m"),
            (11_000, "3h3m"),
            (30_000, "8h"),
            (180_000, "2d2h"),
            (900_000, "10d"),
            (70_000_000, "2y80d"),
            (-9, "0s"),
        ];
        for (seconds, expected) in table {
            let since = (now - SignedDuration::from_secs(seconds)).to_string();
            assert_eq!(ago(&since, now), expected, "{seconds}");
        }
    }
}
