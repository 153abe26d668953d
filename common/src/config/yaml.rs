//! Parses the text of a file into a tree: YAML as kubectl reads it, which includes JSON. Entry point: [`parse`].

use serde_json::Value;

use super::findings::Findings;
use crate::model::excerpt::excerpt;

/// The maximum length of a file. A configuration has a few KiB; a ConfigMap can have up to a MiB.
const TEXT_LEN_MAX: usize = 256 << 10;

/// The maximum number of nodes of the tree: enough for any configuration, and too few for anchors that multiply.
const NODES_MAX: usize = 20_000;
const DEPTH_MAX: usize = 64;

/// The maximum length of a message: the parser repeats text of the file.
const MESSAGE_LEN_MAX: usize = 120;

/// The only document of the text, or `None` after reporting an error.
pub(super) fn parse(text: &str, found: &mut Findings) -> Option<Value> {
    if text.len() > TEXT_LEN_MAX {
        found.error("", format!("has {} bytes; a configuration has at most {TEXT_LEN_MAX}", text.len()));
        return None;
    }
    if let Some(at) = text.find('\0') {
        let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
        found.error("", format!("line {line}: a NUL byte; this is not a text file"));
        return None;
    }
    let documents = match serde_saphyr::from_multiple_with_options::<Value>(text, options()) {
        Ok(documents) => documents,
        Err(error) => {
            found.error("", syntax(&error));
            return None;
        }
    };
    let mut filled = documents.into_iter().filter(|document| !document.is_null());
    match (filled.next(), filled.next()) {
        (Some(only), None) => Some(only),
        (None, _) => {
            found.error("", "is empty; expected a KubeSchedulerConfiguration");
            None
        }
        (Some(_), Some(_)) => {
            found.error("", "has several documents; a configuration is one");
            None
        }
    }
}

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        legacy_octal_numbers: true,
        with_snippet: false,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: NODES_MAX },
        budget: serde_saphyr::budget! {
            max_nodes: NODES_MAX,
            max_events: NODES_MAX * 4,
            max_depth: DEPTH_MAX,
            flow_nesting_limit: DEPTH_MAX,
            max_documents: 4,
            max_total_scalar_bytes: TEXT_LEN_MAX * 4,
        }
    }
}

fn syntax(error: &serde_saphyr::Error) -> String {
    let message = error.without_snippet().to_string();
    // The position is printed once, at the front. Hints about options of the parser do not help users.
    let what =
        [" at line ", ", set "].iter().fold(&message[..], |text, end| text.split(end).next().unwrap_or(text));
    let what = excerpt(what, MESSAGE_LEN_MAX);
    match error.location() {
        Some(place) => format!("line {}, column {}: {what}", place.line(), place.column()),
        None => what,
    }
}
