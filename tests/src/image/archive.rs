//! Writes an image archive: an OCI image layout in a tar, with the few lines by which `docker load` knows it too. Nothing
//! in it depends on when or by whom it was made, so the same program always gives the same digest.

use super::program::Built;
use anyhow::{Context as _, Result};
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::io::Write as _;
use std::path::Path;
use tar::{Builder, EntryType, Header};

/// Who the program runs as, unless a pod says otherwise: nobody in particular.
pub const USER: &str = "65532:65532";

/// The name of the image; whoever pushes it gives it another one.
const NAME: &str = "reserve-daemon";
const BORN: &str = "1970-01-01T00:00:00Z";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// An image that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The digest of its manifest, by which registries know it.
    pub digest: String,
    /// The bytes of its layer, compressed.
    pub layer: u64,
}

/// A file of the archive that is named by its digest.
struct Blob {
    digest: String,
    bytes: Vec<u8>,
}

/// Writes the image of `built` to `file`.
///
/// # Errors
/// When something cannot be read or written.
pub fn write(built: &Built, license: &Path, file: &Path) -> Result<Made> {
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
    let made = Made { digest: manifest.digest.clone(), layer: layer.len() };

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

fn config(built: &Built, layer: &str) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let labels = json!({
        "org.opencontainers.image.title": NAME, "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": env!("CARGO_PKG_LICENSE"),
    });
    json!({
        "created": BORN, "architecture": built.architecture, "os": "linux",
        "config": {"User": USER, "Entrypoint": [format!("/{NAME}")], "WorkingDir": "/",
                   "ExposedPorts": {"10259/tcp": {}}, "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [layer]},
        "history": [{"created": BORN, "created_by": "make image"}],
    })
}

fn manifest(config: &Blob, layer: &Blob) -> Value {
    json!({
        "schemaVersion": 2, "mediaType": MANIFEST,
        "config": config.described("application/vnd.oci.image.config.v1+json"),
        "layers": [layer.described("application/vnd.oci.image.layer.v1.tar+gzip")],
    })
}

fn index(built: &Built, manifest: &Blob) -> Value {
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

/// Without a time or a name in its header.
fn compressed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    encoder.write_all(bytes).context("compress the layer")?;
    encoder.finish().context("compress the layer")
}

/// A file of root's, born with the epoch.
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
