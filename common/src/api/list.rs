//! Splits the answers to LIST and the lines of a WATCH into objects, without decoding the objects. Entry points: [`page`] and
//! [`watch_line`].
//!
//! Each object is decoded on its own afterwards, so that one invalid object does not hide the others.

use super::DecodeError;
use super::meta::{Str, decode};
use crate::model::excerpt::excerpt;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

pub struct Page<'a> {
    /// The `resourceVersion` of the list, from which a watch can start.
    pub resource_version: Cow<'a, str>,
    /// The `continue` token for the next page, if there is one.
    pub next: Option<Cow<'a, str>>,
    /// The objects, each as its JSON.
    pub items: Vec<&'a str>,
}

pub enum WatchLine<'a> {
    /// An object was added or changed; its JSON.
    Applied(&'a str),
    /// An object was deleted, or no longer matches the selector; its last JSON.
    Deleted(&'a str),
    /// A newer `resourceVersion` from which the watch can be resumed.
    Bookmark(Cow<'a, str>),
    /// The server ends the watch with an error; the HTTP status code is 410 if the version is too old.
    Failed { code: u16, message: Cow<'a, str> },
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct PageWire<'a> {
    #[serde(default)]
    metadata: PageMeta<'a>,
    // Required: an answer without it is no list, and not an empty one.
    #[serde(deserialize_with = "Option::deserialize")]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct PageMeta<'a> {
    resource_version: Str<'a>,
    #[serde(rename = "continue")]
    next: Option<Str<'a>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct LineWire<'a> {
    #[serde(rename = "type")]
    kind: Str<'a>,
    object: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct VersionedWire<'a> {
    metadata: PageMeta<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct StatusWire<'a> {
    code: u16,
    message: Str<'a>,
}

pub fn page(json: &str) -> Result<Page<'_>, DecodeError> {
    let wire: PageWire<'_> = decode("List", json)?;
    Ok(Page {
        resource_version: wire.metadata.resource_version.0,
        next: wire.metadata.next.map(|token| token.0).filter(|token| !token.is_empty()),
        items: wire.items.unwrap_or_default().into_iter().map(RawValue::get).collect(),
    })
}

pub fn watch_line(json: &str) -> Result<WatchLine<'_>, DecodeError> {
    let line: LineWire<'_> = decode("WatchEvent", json)?;
    let object = line.object.get();
    Ok(match &*line.kind {
        "ADDED" | "MODIFIED" => WatchLine::Applied(object),
        "DELETED" => WatchLine::Deleted(object),
        "BOOKMARK" => {
            WatchLine::Bookmark(decode::<VersionedWire<'_>>("Bookmark", object)?.metadata.resource_version.0)
        }
        // An ERROR line, or a type of a newer API: in both cases this watch cannot be continued.
        _ => {
            let status: StatusWire<'_> = decode("Status", object)?;
            WatchLine::Failed { code: status.code, message: status.message.0 }
        }
    })
}

pub fn version(json: &str) -> Result<String, DecodeError> {
    Ok(decode::<VersionedWire<'_>>("object", json)?.metadata.resource_version.0.into_owned())
}

/// The message of a Status of the API server. If the text is no Status, such as the error page of a proxy, its beginning.
pub fn status(json: &str) -> String {
    match decode::<StatusWire<'_>>("Status", json) {
        Ok(status) if !status.message.is_empty() => status.message.0.into_owned(),
        _ => excerpt(json, 200),
    }
}

#[cfg(test)]
mod tests {
    use super::{WatchLine, page, watch_line};

    #[test]
    fn a_page_is_cut_into_objects() {
        let json = r#"{"kind":"PodList","metadata":{"resourceVersion":"7","continue":"abc"},"items":[{"a":1},{"b":[2]}]}"#;
        let page = page(json).unwrap();
        assert_eq!(page.resource_version, "7");
        assert_eq!(page.next.as_deref(), Some("abc"));
        assert_eq!(page.items, [r#"{"a":1}"#, r#"{"b":[2]}"#]);
    }

    #[test]
    fn the_last_page_has_no_next_and_null_items_are_none() {
        let page = page(r#"{"metadata":{"resourceVersion":"7","continue":""},"items":null}"#).unwrap();
        assert!(page.next.is_none());
        assert!(page.items.is_empty());
    }

    #[test]
    fn garbage_is_an_error_that_says_where() {
        for json in [
            "",
            "<html>",
            "{}",
            r#"{"message":"log in first"}"#,
            r#"{"items":{}}"#,
            r#"{"items":[{]}"#,
            "\u{0}",
        ] {
            let error = page(json).err().unwrap();
            assert!(format!("{:?}", error.source).contains("line"), "{json}: {error:?}");
        }
    }

    #[test]
    fn watch_lines_are_told_apart() {
        let line = |json| watch_line(json).unwrap();
        assert!(matches!(line(r#"{"type":"ADDED","object":{"x":1}}"#), WatchLine::Applied(r#"{"x":1}"#)));
        assert!(matches!(line(r#"{"type":"MODIFIED","object":{}}"#), WatchLine::Applied("{}")));
        assert!(matches!(line(r#"{"type":"DELETED","object":{}}"#), WatchLine::Deleted("{}")));
        let bookmark = line(r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"12"}}}"#);
        assert!(matches!(bookmark, WatchLine::Bookmark(version) if version == "12"));
        let gone = line(r#"{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}"#);
        assert!(matches!(gone, WatchLine::Failed { code: 410, .. }));
        assert!(matches!(line(r#"{"type":"NEWER","object":{}}"#), WatchLine::Failed { code: 0, .. }));
        assert!(watch_line(r#"{"type":"ADDED"}"#).is_err());
        assert!(watch_line("half a li").is_err());
    }
}
