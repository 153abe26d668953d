//! Writes release archives ([`pack`]) without times and users, so that the same files always give the same archive.

use super::{Target, tag};
use anyhow::{Context as _, Result};
use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

/// A written archive.
#[derive(Clone, Debug)]
pub struct ReleaseArchive {
    /// The path of the archive.
    pub file: PathBuf,
    /// The checksum of the file, in hexadecimal digits.
    pub sha256: String,
    /// The platform of the program inside.
    pub target: Target,
}

/// Writes `PROGRAM-vVERSION-OS-ARCH.tar.gz` with `files` (path, mode, content), and its checksum beside it, into `dir`.
///
/// # Errors
/// When something cannot be written.
pub fn pack(
    program: &str,
    target: &Target,
    mut files: Vec<(String, u32, Vec<u8>)>,
    effort: Compression,
    dir: &Path,
) -> Result<ReleaseArchive> {
    files.sort();
    let mut tar = Builder::new(Vec::new());
    for (name, mode, bytes) in &files {
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(*mode);
        header.set_size(bytes.len() as u64);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        tar.append_data(&mut header, name, &bytes[..]).with_context(|| format!("pack {name}"))?;
    }
    let tar = tar.into_inner().context("pack")?;
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), effort);
    encoder.write_all(&tar).context("compress")?;
    let bytes = encoder.finish().context("compress")?;
    let sha256 = format!("{:x}", Sha256::digest(&bytes));
    let name = format!("{program}-{}-{}-{}.tar.gz", tag(), target.os, target.arch);
    let file = dir.join(&name);
    fs::create_dir_all(dir).with_context(|| format!("create {}", dir.display()))?;
    fs::write(&file, bytes).with_context(|| format!("write {}", file.display()))?;
    let sum = dir.join(format!("{name}.sha256"));
    fs::write(&sum, format!("{sha256}  {name}\n")).with_context(|| format!("write {}", sum.display()))?;
    Ok(ReleaseArchive { file, sha256, target: *target })
}
