//! Writes an image archive ([`write()`]): an OCI image layout in a tar, plus the `manifest.json` that `docker load` needs. It has
//! no times and no users, so the same program always gives the same digest.

use super::program::StaticProgram;
use anyhow::{Context as _, Result};
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::io::Write as _;
use std::path::Path;
use tar::{Builder, EntryType, Header};

/// User and group that the program runs as, unless a pod says otherwise: an id without rights.
pub const USER: &str = "65532:65532";

/// The name of the image in the archive. Pushing it to a registry needs another name.
const NAME: &str = "reserve-daemon";
const CREATED: &str = "1970-01-01T00:00:00Z";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// A written image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageSummary {
    /// The digest of its manifest, which is also its digest in a registry.
    pub digest: String,
    /// The size of its compressed layer in bytes.
    pub layer: u64,
}

/// A file of the archive whose name is its digest.
struct Blob {
    digest: String,
    bytes: Vec<u8>,
}

/// Writes the image of `built` to `file`.
///
/// # Errors
/// When something cannot be read or written.
pub fn write(built: &StaticProgram, license: &Path, file: &Path) -> Result<ImageSummary> {
    let files = [("LICENSE", 0o644, license), (NAME, 0o755, built.program.as_path())];
    let mut layer = Builder::new(Vec::new());
    for (name, mode, path) in files {
        let bytes = std::fs::read(path).with_context(|| format!("read {}", path.display()))?;
        append(&mut layer, name, mode, &bytes)?;
    }
    let layer = layer.into_inner().context("write the layer")?;
    let config = Blob::json(&config(built, &digest(&layer)))?;
    let layer = Blob::new(compressed(&layer)?);
    let manifest = Blob::json(&manifest(&config, &layer))?;
    let made = ImageSummary { digest: manifest.digest.clone(), layer: layer.len() };

    let mut archive = Builder::new(Vec::new());
    append(&mut archive, "oci-layout", 0o644, br#"{"imageLayoutVersion":"1.0.0"}"#)?;
    append(&mut archive, "index.json", 0o644, &serde_json::to_vec(&index(built, &manifest))?)?;
    append(&mut archive, "manifest.json", 0o644, &serde_json::to_vec(&for_docker(&config, &layer))?)?;
    for blob in [&config, &layer, &manifest] {
        append(&mut archive, &blob.path(), 0o644, &blob.bytes)?;
    }
    let bytes = archive.into_inner().context("write the archive")?;
    std::fs::write(file, bytes).with_context(|| format!("write {}", file.display()))?;
    Ok(made)
}

fn config(built: &StaticProgram, layer: &str) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let labels = json!({
        "org.opencontainers.image.title": NAME, "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": env!("CARGO_PKG_LICENSE"),
    });
    json!({
        "created": CREATED, "architecture": built.architecture, "os": "linux",
        "config": {"User": USER, "Entrypoint": [format!("/{NAME}")], "WorkingDir": "/",
                   "ExposedPorts": {"10259/tcp": {}}, "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [layer]},
        "history": [{"created": CREATED, "created_by": "make image"}],
    })
}

fn manifest(config: &Blob, layer: &Blob) -> Value {
    json!({
        "schemaVersion": 2, "mediaType": MANIFEST,
        "config": config.described("application/vnd.oci.image.config.v1+json"),
        "layers": [layer.described("application/vnd.oci.image.layer.v1.tar+gzip")],
    })
}

fn index(built: &StaticProgram, manifest: &Blob) -> Value {
    let mut described = manifest.described(MANIFEST);
    described["platform"] = json!({"architecture": built.architecture, "os": "linux"});
    described["annotations"] = json!({"org.opencontainers.image.ref.name": env!("CARGO_PKG_VERSION")});
    json!({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [described]})
}

fn for_docker(config: &Blob, layer: &Blob) -> Value {
    let tag = format!("{NAME}:{}", env!("CARGO_PKG_VERSION"));
    json!([{"Config": config.path(), "RepoTags": [tag], "Layers": [layer.path()]}])
}

impl Blob {
    fn new(bytes: Vec<u8>) -> Self {
        Self { digest: digest(&bytes), bytes }
    }

    fn json(value: &Value) -> Result<Self> {
        Ok(Self::new(serde_json::to_vec(value)?))
    }

    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn path(&self) -> String {
        format!("blobs/{}", self.digest.replacen(':', "/", 1))
    }

    fn described(&self, media_type: &str) -> Value {
        json!({"mediaType": media_type, "digest": self.digest, "size": self.len()})
    }
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{:x}", Sha256::digest(bytes))
}

/// gzip without a time or a name in the header.
fn compressed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    encoder.write_all(bytes).context("compress the layer")?;
    encoder.finish().context("compress the layer")
}

/// Appends a file that belongs to root and has the modification time 0.
fn append(tar: &mut Builder<Vec<u8>>, name: &str, mode: u32, bytes: &[u8]) -> Result<()> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(mode);
    header.set_size(bytes.len() as u64);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    tar.append_data(&mut header, name, bytes).with_context(|| format!("write {name}"))
}
