//! Reads manifests from files, directories and stdin: YAML or JSON, with one or more documents in a file.

use crate::error::Failure;
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest file that is read. No manifest is as large; a disk image that is given by mistake is.
const FILE_LEN_MAX: u64 = 16 << 20;

/// The extensions of manifests in a directory, as in kubectl.
const EXTENSIONS: [&str; 3] = ["json", "yaml", "yml"];

/// Every document in the files, in order. `-` is stdin; a directory stands for its manifests. A path without any document is an error.
pub(crate) fn read(paths: &[PathBuf], is_recursive: bool) -> Result<Vec<Value>, Failure> {
    let mut documents = Vec::new();
    for path in paths {
        let before = documents.len();
        if path.as_os_str() == "-" {
            documents.extend(parse(&text(std::io::stdin().lock(), "stdin")?, "stdin")?);
        } else {
            for file in files(path, is_recursive)? {
                let name = file.display().to_string();
                let opened = std::fs::File::open(&file).map_err(|error| failed(&name, &error))?;
                documents.extend(parse(&text(opened, &name)?, &name)?);
            }
        }
        if documents.len() == before {
            return Err(nothing(path));
        }
    }
    Ok(documents)
}

fn nothing(path: &Path) -> Failure {
    match path.to_string_lossy() {
        name if name == "-" => failed("stdin", &"there is no object in it"),
        name if path.is_dir() => failed(&name, &format!("no object in its {} files", EXTENSIONS.join(", "))),
        name => failed(&name, &"there is no object in it"),
    }
}

fn text(mut source: impl Read, name: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let read = source.by_ref().take(FILE_LEN_MAX).read_to_string(&mut text);
    read.map_err(|error| failed(name, &error))?;
    if text.len() as u64 >= FILE_LEN_MAX {
        return Err(failed(name, &"the file is too large for a manifest"));
    }
    Ok(text)
}

/// The file itself, or the manifests of a directory, sorted by name.
fn files(path: &Path, is_recursive: bool) -> Result<Vec<PathBuf>, Failure> {
    let at = |error: std::io::Error| failed(&path.display().to_string(), &error);
    if !path.is_dir() {
        return Ok(vec![path.into()]);
    }
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).map_err(at)? {
        entries.push(entry.map_err(at)?.path());
    }
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        let is_manifest = entry.extension().is_some_and(|end| EXTENSIONS.iter().any(|known| end == *known));
        if entry.is_dir() && is_recursive {
            found.extend(files(&entry, true)?);
        } else if !entry.is_dir() && is_manifest {
            found.push(entry);
        }
    }
    Ok(found)
}

/// The documents of one text, without empty ones.
pub(super) fn parse(text: &str, name: &str) -> Result<Vec<Value>, Failure> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text).map_err(|error| failed(name, &error))?;
    Ok(documents.into_iter().filter(|document| !document.is_null()).collect())
}

fn failed(name: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::usage(format!("{name}: {error}"))
}
