//! The files of a release: archives of the programs with license, manual and completions, their checksums, and the krew manifest.
//! The same programs always give the same archives. `bin/dist.rs` calls [`build()`], then [`pack_command`] and [`pack_daemon`],
//! then [`manifest()`]. A release is built on several machines: [`describe_release`] writes what names all archives, and [`sbom()`] says
//! what is in the programs.

mod archive;
mod build;
mod folder;
mod formula;
mod manifest;
mod manual;
mod sbom;
mod target;

pub use archive::{ReleaseArchive, pack};
pub use build::build;
pub use folder::describe_release;
pub use formula::formula;
pub use manifest::{manifest, render_manifest};
pub use sbom::sbom;
pub use target::{Target, here};

use anyhow::{Context as _, Result};
pub use flate2::Compression;
use std::fs;
use std::path::Path;

/// The git tag of this version's release.
pub fn tag() -> String {
    format!("v{}", env!("CARGO_PKG_VERSION"))
}

/// Writes the archive of the command, and its checksum beside it, into `dir`.
///
/// # Errors
/// When something cannot be read or written.
pub fn pack_command(
    program: &Path,
    target: &Target,
    effort: Compression,
    dir: &Path,
) -> Result<ReleaseArchive> {
    let mut files = vec![("LICENSE".to_owned(), 0o644, license()?)];
    for (name, text) in kubectl_reserve::completion_scripts() {
        files.push((format!("completions/{name}"), 0o644, text.as_bytes().to_vec()));
    }
    for (name, text) in manual::pages()? {
        files.push((format!("man/{name}"), 0o644, text));
    }
    files.push((target.file_name("kubectl-reserve"), 0o755, read(program)?));
    pack("kubectl-reserve", target, files, effort, dir)
}

/// The same for the daemon, which needs neither manual nor completions.
///
/// # Errors
/// When something cannot be read or written.
pub fn pack_daemon(
    program: &Path,
    target: &Target,
    effort: Compression,
    dir: &Path,
) -> Result<ReleaseArchive> {
    let files = vec![
        ("LICENSE".to_owned(), 0o644, license()?),
        (target.file_name("reserve-daemon"), 0o755, read(program)?),
    ];
    pack("reserve-daemon", target, files, effort, dir)
}

fn license() -> Result<Vec<u8>> {
    read(&crate::control_plane::workspace_dir().join("LICENSE"))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("read {}", path.display()))
}
