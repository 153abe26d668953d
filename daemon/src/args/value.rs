//! How values are written on kube-scheduler's command line: as Go reads them.

use jiff::SignedDuration;
use std::convert::Infallible;
use std::path::PathBuf;

/// A file's name. An empty one is a flag that was not set, as manifests made from templates have it.
pub(super) fn file(text: &str) -> Result<PathBuf, Infallible> {
    Ok(PathBuf::from(text))
}

/// `true` in all the ways in which Go reads it.
pub(crate) fn switch(text: &str) -> Result<bool, &'static str> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
        _ => Err("it is true or false"),
    }
}

/// `1m30s`.
pub(super) fn duration(text: &str) -> Result<SignedDuration, &'static str> {
    common::config::parse_duration(text).ok_or("a duration is written like 15s or 1m30s")
}
