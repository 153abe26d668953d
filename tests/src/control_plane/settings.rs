//! What the harness takes from its environment: variables, folders, the number of processors. No other file of the harness reads
//! these.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The variable that names a folder with ready-made programs, as other Kubernetes test tools use it.
const ASSETS_VARIABLE: &str = "KUBEBUILDER_ASSETS";

/// The folder of `KUBEBUILDER_ASSETS`, if it is set.
pub(super) fn assets_dir() -> Result<Option<PathBuf>> {
    let named = std::env::var_os(ASSETS_VARIABLE).filter(|value| !value.is_empty());
    // Absolute, because programs are started in other folders.
    named
        .map(std::path::absolute)
        .transpose()
        .with_context(|| format!("find the folder {ASSETS_VARIABLE} names"))
}

/// The cache folder of built programs.
pub(super) fn cache_dir() -> Result<PathBuf> {
    let cache = dirs::cache_dir().context("no cache directory: set HOME or XDG_CACHE_HOME")?;
    Ok(cache.join("kubectl-reserve").join("control-plane"))
}

/// The wrapper modules and configuration files: `tests/control-plane/`.
pub(super) fn source_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("control-plane")
}

/// The root of the repository.
pub fn workspace_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// The folder of all clusters' files and logs: in cargo's target folder, so that `cargo clean` removes them.
pub(super) fn clusters_dir() -> PathBuf {
    let target = std::env::current_exe().ok().and_then(|exe| {
        exe.ancestors().find(|dir| dir.join("CACHEDIR.TAG").is_file()).map(Path::to_path_buf)
    });
    target.unwrap_or_else(std::env::temp_dir).join("control-plane")
}

/// `PATH` with `first` before everything else.
pub(super) fn path_with(first: &[PathBuf]) -> Result<OsString> {
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let all = first.iter().cloned().chain(std::env::split_paths(&inherited));
    std::env::join_paths(all).context("a folder on PATH has a name that PATH cannot hold")
}

/// How many clusters may run at once on this machine.
pub(super) fn clusters_at_once() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Prints a message to standard error, directly, because the test harness captures `eprintln!`.
pub(super) fn tell(line: &str) {
    // Standard error may be closed, and a test must not fail for that.
    let _ = std::io::stderr().write_all(format!("control plane: {line}\n").as_bytes());
}
