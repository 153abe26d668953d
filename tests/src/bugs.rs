//! Famous bugs of schedulers and of what keeps room for pods, as patches in `tests/bugs`.

use crate::control_plane::workspace_dir;
use anyhow::{Context as _, Result, ensure};
use std::path::PathBuf;

/// One of them.
#[derive(Clone, Debug)]
pub struct Bug {
    /// What its file is called.
    pub name: String,
    /// Where that is.
    pub path: PathBuf,
    /// What it does.
    pub what: String,
    /// The commands that fail while it is there.
    pub caught_by: Vec<String>,
}

/// All of them, by name.
///
/// # Errors
/// When a file cannot be read, or says not what catches it.
pub fn all() -> Result<Vec<Bug>> {
    let folder = workspace_dir().join("tests").join("bugs");
    let mut bugs = Vec::new();
    for entry in std::fs::read_dir(&folder).context("read tests/bugs")? {
        let path = entry.context("read tests/bugs")?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).with_context(|| format!("read {name}"))?;
        let head = || text.lines().take_while(|line| !line.starts_with("diff "));
        let caught_by: Vec<String> =
            head().filter_map(|line| line.strip_prefix("Caught by: ")).map(str::to_owned).collect();
        ensure!(!caught_by.is_empty(), "{name}: it does not say what catches it");
        let what = head().next().unwrap_or_default().to_owned();
        bugs.push(Bug { name, path, what, caught_by });
    }
    bugs.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(bugs)
}
