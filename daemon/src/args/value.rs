//! Parses values of flags as Go does.

use jiff::SignedDuration;
use std::convert::Infallible;
use std::path::PathBuf;

/// A file name. It may be empty, because manifests made from templates pass empty flags; that counts as not set.
pub(super) fn file(text: &str) -> Result<PathBuf, Infallible> {
    Ok(PathBuf::from(text))
}

/// A bool in each form that Go accepts.
pub(crate) fn switch(text: &str) -> Result<bool, &'static str> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
        _ => Err("it is true or false"),
    }
}

/// A duration, like `1m30s`.
pub(super) fn duration(text: &str) -> Result<SignedDuration, &'static str> {
    common::config::parse_duration(text).ok_or("a duration is written like 15s or 1m30s")
}
