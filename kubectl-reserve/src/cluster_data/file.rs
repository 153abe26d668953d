//! A snapshot of the cluster in a file (`--save-snapshot`, `--snapshot`): JSON lines, compressed with gzip.
//!
//! ```text
//! {"apiVersion":"kubectl-reserve/v1alpha1","kind":"Snapshot"}                    the first line
//! {"resource":"pods","object":{…}}                                               an object, as redact.rs leaves it
//! {"resource":"jobs","unreadable":true}                                          a kind that the caller may not list
//! {"end":{"at":"2026-11-16T08:10:00Z","namespace":"shop","objects":9431}}        the last line: it is complete
//! ```

use super::redact::redacted;
use super::{ClusterData, ClusterDataBuilder, Resource};
use crate::error::Failure;
use crate::render::json::API_VERSION;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The longest line that is read. No object of the API is as long.
const LINE_LEN_MAX: u64 = 8 << 20;

/// Writes a snapshot. The file gets its name when it is complete; until then its name ends with `.part`.
pub(crate) struct Saver {
    path: PathBuf,
    unfinished: PathBuf,
    lines: GzEncoder<BufWriter<File>>,
    objects: u64,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(default)]
    resource: Option<String>,
    #[serde(borrow, default)]
    object: Option<&'a RawValue>,
    #[serde(default)]
    unreadable: bool,
    #[serde(default)]
    end: Option<End>,
}

#[derive(Deserialize, Serialize)]
struct End {
    at: Timestamp,
    namespace: String,
    objects: u64,
}

impl Saver {
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".part");
        let unfinished = PathBuf::from(unfinished);
        let file = File::create(&unfinished).map_err(|error| failed("write", path, error))?;
        let lines = GzEncoder::new(BufWriter::new(file), Compression::fast());
        let mut saver = Self { path: path.into(), unfinished, lines, objects: 0 };
        let header = json!({ "apiVersion": API_VERSION, "kind": "Snapshot" });
        saver.line(&header).map_err(|error| failed("write", path, error))?;
        Ok(saver)
    }

    /// Writes one object, redacted.
    pub(super) fn object(&mut self, resource: Resource, json: &str) -> Result<(), String> {
        let object: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
        self.objects += 1;
        self.line(&json!({ "resource": resource.name(), "object": redacted(resource, &object) }))
    }

    /// Writes that a kind could not be listed.
    pub(super) fn unreadable(&mut self, resource: Resource) -> Result<(), String> {
        self.line(&json!({ "resource": resource.name(), "unreadable": true }))
    }

    pub(super) fn finish(mut self, at: Timestamp, namespace: &str) -> Result<(), Failure> {
        let end = End { at, namespace: namespace.into(), objects: self.objects };
        let path = self.path.clone();
        self.line(&json!({ "end": end })).map_err(|error| failed("write", &path, error))?;
        let flushed = self.lines.finish().and_then(|mut file| file.flush());
        let named = flushed.and_then(|()| std::fs::rename(&self.unfinished, &self.path));
        named.map_err(|error| failed("write", &path, error))
    }

    fn line(&mut self, line: &Value) -> Result<(), String> {
        writeln!(self.lines, "{line}").map_err(|error| error.to_string())
    }
}

/// Reads a snapshot, and keeps the JSON of pods with these names.
pub(crate) fn load(path: &Path, pods: impl Iterator<Item = String>) -> Result<ClusterData, Failure> {
    let file = File::open(path).map_err(|error| failed("read", path, error))?;
    let mut lines = BufReader::new(GzDecoder::new(BufReader::new(file)));
    let mut builder = ClusterDataBuilder::default();
    builder.keep_pod_json(pods);
    let mut text = String::new();
    let mut number = 0;
    loop {
        number += 1;
        text.clear();
        let mut limited = std::io::Read::take(&mut lines, LINE_LEN_MAX);
        limited.read_line(&mut text).map_err(|error| failed("read", path, error))?;
        let at = |why: String| failed("read", path, format!("line {number}: {why}"));
        if number == 1 {
            check_header(&text).map_err(at)?;
            continue;
        }
        let end = add_line(&mut builder, &text).map_err(at)?;
        if let Some(End { at, namespace, .. }) = end {
            return Ok(builder.build(at, &namespace));
        }
    }
}

/// Adds what one line says. Returns the end marker if it is the last line.
fn add_line(builder: &mut ClusterDataBuilder, text: &str) -> Result<Option<End>, String> {
    if text.is_empty() {
        return Err("the snapshot ends before it is complete".into());
    }
    let line: Line<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if line.end.is_some() {
        return Ok(line.end);
    }
    let name = line.resource.ok_or("neither an object nor the end")?;
    // A newer version saved a kind that this one does not read.
    let Some(resource) = Resource::from_name(&name) else { return Ok(None) };
    match line.object {
        Some(object) => builder.add(resource, object.get())?,
        None if line.unreadable => builder.add_unreadable(resource)?,
        None => return Err("neither an object nor unreadable".into()),
    }
    Ok(None)
}

fn check_header(text: &str) -> Result<(), String> {
    let header: Value = serde_json::from_str(text).map_err(|_| "this is no snapshot".to_owned())?;
    if header["kind"] != "Snapshot" {
        return Err("this is no snapshot".into());
    }
    if header["apiVersion"] != API_VERSION {
        return Err(format!(
            "snapshots of {} cannot be read, only those of {API_VERSION}",
            header["apiVersion"]
        ));
    }
    Ok(())
}

fn failed(what: &str, path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("{what} the snapshot {}: {error}", path.display()))
}
