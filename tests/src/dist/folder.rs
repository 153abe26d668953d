//! The archives of a release in one folder, wherever each of them was built, and what names all of them: checksums, the krew manifest
//! and its template, and the Homebrew formula.

use super::{ReleaseArchive, formula, manifest, tag, target};
use crate::control_plane::workspace_dir;
use anyhow::{Context as _, Result, ensure};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::Path;

/// How `.krew.yaml` names the address of this repository, and that of its releases.
const REPOSITORY: &str = "https://example.com/kubectl-reserve";
const RELEASES: &str = "https://example.com/kubectl-reserve/releases/";

/// Writes `checksums.txt`, `reserve.yaml`, `krew-template.yaml` and `kubectl-reserve.rb` for the archives in `dir`. `repository` is the
/// address of this repository, such as `https://github.com/OWNER/kubectl-reserve`.
///
/// # Errors
/// When there is no archive of the command, or a file cannot be read or written.
pub fn describe_release(dir: &Path, repository: &str) -> Result<Vec<ReleaseArchive>> {
    let commands = archives(dir, "kubectl-reserve")?;
    ensure!(!commands.is_empty(), "{} has no archive of version {}", dir.display(), tag());
    let daemons = archives(dir, "reserve-daemon")?;
    let mut sums = String::new();
    for archive in commands.iter().chain(&daemons) {
        let name = archive.file.file_name().unwrap_or_default().to_string_lossy();
        sums.push_str(&format!("{}  {name}\n", archive.sha256));
    }
    let template = fs::read_to_string(workspace_dir().join(".krew.yaml")).context("read .krew.yaml")?;
    let files = [
        ("checksums.txt", sums),
        ("reserve.yaml", published(&manifest(&commands)?, repository)),
        ("krew-template.yaml", published(&template, repository)),
        ("kubectl-reserve.rb", formula(&commands, repository)?),
    ];
    for (name, text) in files {
        fs::write(dir.join(name), text).with_context(|| format!("write {name}"))?;
    }
    Ok(commands.into_iter().chain(daemons).collect())
}

fn published(text: &str, repository: &str) -> String {
    text.replace(RELEASES, &format!("{repository}/releases/download/")).replace(REPOSITORY, repository)
}

/// The archives of a program in `dir`, of this version, by platform.
fn archives(dir: &Path, program: &str) -> Result<Vec<ReleaseArchive>> {
    let mut found = vec![];
    for target in target::ALL {
        let file = dir.join(format!("{program}-{}-{}-{}.tar.gz", tag(), target.os, target.arch));
        if file.is_file() {
            let bytes = fs::read(&file).with_context(|| format!("read {}", file.display()))?;
            found.push(ReleaseArchive { sha256: format!("{:x}", Sha256::digest(&bytes)), file, target });
        }
    }
    Ok(found)
}
