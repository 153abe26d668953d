//! The container image: what is in the archive, and the daemon that was in it at work on a real control plane.
#![forbid(unsafe_code)]

use anyhow::{Context as _, Result, ensure};
use flate2::read::GzDecoder;
use reserve_tests::control_plane::{ControlPlane, User, deployment, node, workspace_dir};
use reserve_tests::image::{self, StaticProgram, USER};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// What a node downloads, at most.
const SIZE_MAX: u64 = 20 << 20;

/// The files of a tar, with their modes.
type Files = BTreeMap<String, (u32, Vec<u8>)>;

/// The image, made as `make image` does but for the last optimisations.
fn make(file: &Path) -> Result<image::ImageSummary> {
    let test = std::env::current_exe().context("find the running test")?;
    let target_dir = test.ancestors().nth(3).context("the test is not in a cargo target folder")?;
    image::write(&image::build(target_dir, "release")?, &workspace_dir().join("LICENSE"), file)
}

fn files(tar: impl Read) -> Result<Files> {
    let mut files = Files::new();
    for entry in tar::Archive::new(tar).entries()? {
        let mut entry = entry?;
        let (name, mode) = (entry.path()?.to_string_lossy().into_owned(), entry.header().mode()?);
        ensure!(
            entry.header().uid()? == 0 && entry.header().mtime()? == 0,
            "{name} says who made it, or when"
        );
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        ensure!(files.insert(name.clone(), (mode, bytes)).is_none(), "{name} is there twice");
    }
    Ok(files)
}

/// What a description points to, once its size and digest were checked.
fn blob<'a>(files: &'a Files, described: &Value) -> Result<&'a [u8]> {
    let digest = described["digest"].as_str().context("no digest")?;
    let path = format!("blobs/{}", digest.replace(':', "/"));
    let (_, bytes) = files.get(&path).with_context(|| format!("{path} is missing"))?;
    ensure!(described["size"] == bytes.len(), "{path} has {} bytes: {described}", bytes.len());
    ensure!(digest == format!("sha256:{:x}", Sha256::digest(bytes)), "{path} is not what it says");
    Ok(bytes)
}

/// Goes through the archive as an engine does, and returns the files of its one layer.
fn unpack(archive: &Path, digest: &str) -> Result<Files> {
    let files = files(std::fs::File::open(archive)?)?;
    let read = |name: &str| -> Result<Value> {
        Ok(serde_json::from_slice(&files.get(name).with_context(|| format!("no {name}"))?.1)?)
    };
    ensure!(read("oci-layout")?["imageLayoutVersion"] == "1.0.0", "no OCI layout");
    let described = &read("index.json")?["manifests"][0];
    ensure!(described["digest"] == digest, "another image: {described}");
    let manifest: Value = serde_json::from_slice(blob(&files, described)?)?;
    let config: Value = serde_json::from_slice(blob(&files, &manifest["config"])?)?;
    ensure!(config["config"]["User"] == USER && !USER.starts_with('0'), "it runs as root: {config}");
    ensure!(config["config"]["Entrypoint"] == json!(["/reserve-daemon"]), "{config}");
    ensure!(
        config["os"] == "linux" && config["architecture"] == described["platform"]["architecture"],
        "{config}"
    );

    ensure!(manifest["layers"].as_array().is_some_and(|layers| layers.len() == 1), "{manifest}");
    let mut layer = Vec::new();
    GzDecoder::new(blob(&files, &manifest["layers"][0])?).read_to_end(&mut layer)?;
    let unpacked = format!("sha256:{:x}", Sha256::digest(&layer));
    ensure!(config["rootfs"]["diff_ids"] == json!([unpacked]), "{config}");
    let docker = &read("manifest.json")?[0];
    for path in [&docker["Config"], &docker["Layers"][0]] {
        ensure!(files.contains_key(path.as_str().unwrap_or_default()), "docker load finds no {path}");
    }
    self::files(&*layer)
}

/// The program of the layer, written to a folder as an engine would.
fn program(layer: &Files, root: &Path) -> Result<PathBuf> {
    let (mode, bytes) = layer.get("reserve-daemon").context("the layer has no program")?;
    let path = root.join("reserve-daemon");
    std::fs::write(&path, bytes)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(*mode))?;
    Ok(path)
}

/// A program that is not static names its interpreter in a header of its own (`PT_INTERP`); an empty image has none.
fn is_static(program: &[u8]) -> bool {
    let number = |at: usize, bytes: usize| {
        program[at..at + bytes].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    };
    let (first, size, count) = (number(0x20, 8), number(0x36, 2), number(0x38, 2));
    program.starts_with(b"\x7fELF\x02\x01") && (0..count).all(|index| number(first + index * size, 4) != 3)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_daemon_in_the_image_places_pods() -> Result<()> {
    let dir = TempDir::new()?;
    let (archive, again) = (dir.path().join("one.tar"), dir.path().join("two.tar"));
    let made = make(&archive)?;
    assert_eq!(make(&again)?, made);
    assert!(std::fs::read(&archive)? == std::fs::read(&again)?, "the same program, the same archive");

    assert!(made.layer <= SIZE_MAX, "{made:?}");
    let layer = unpack(&archive, &made.digest)?;
    assert_eq!(layer.keys().collect::<Vec<_>>(), ["LICENSE", "reserve-daemon"], "and nothing else");
    assert!(is_static(&layer["reserve-daemon"].1));
    assert!(!is_static(&std::fs::read(std::env::current_exe()?)?), "this test is not");
    let program = program(&layer, dir.path())?;
    let version = Command::new(&program).arg("--version").env_clear().output()?;
    let said = String::from_utf8(version.stdout)?;
    assert_eq!(said.trim(), format!("reserve-daemon {}", env!("CARGO_PKG_VERSION")));

    let cluster = ControlPlane::start("image").await?;
    cluster.add_node(node("n1")).await?;
    cluster.install_roles().await?;
    let kubeconfig = format!("--kubeconfig={}", cluster.kubeconfig(User::Daemon).display());
    let daemon = cluster.run_program("reserve-daemon", &program, &[&kubeconfig])?;
    let web = cluster.deploy(deployment("web").cpu("1").scheduler("reserve-scheduler")).await?;
    let placed = cluster.wait_until_running(&web.selector, 1).await;
    placed.with_context(|| daemon.log().unwrap_or_default())?;
    Ok(())
}

/// Two ways to make an image, and one image.
#[test]
fn the_dockerfile_says_the_same() -> Result<()> {
    let dockerfile = std::fs::read_to_string(workspace_dir().join("Dockerfile"))?;
    let (_, last) = dockerfile.split_once("FROM scratch\n").context("its last stage is not an empty one")?;
    let expected = [&format!("USER {USER}"), "ENTRYPOINT [\"/reserve-daemon\"]", "COPY LICENSE /LICENSE"];
    for line in expected {
        assert!(last.lines().any(|one| one == line), "{line}");
    }
    Ok(())
}

#[test]
fn what_was_tampered_with_is_noticed() -> Result<()> {
    let dir = TempDir::new()?;
    let (program, archive) = (dir.path().join("program"), dir.path().join("image.tar"));
    std::fs::write(&program, "#!/bin/sh\n")?;
    let built = StaticProgram { program: program.clone(), architecture: "amd64" };
    let made = image::write(&built, &workspace_dir().join("LICENSE"), &archive)?;
    unpack(&archive, &made.digest)?;
    let mut bytes = std::fs::read(&archive)?;
    let at = bytes.windows(5).position(|window| window == b"65532").context("no user")?;
    bytes[at..at + 5].copy_from_slice(b"00000");
    std::fs::write(&archive, bytes)?;
    assert!(unpack(&archive, &made.digest).is_err());
    std::fs::write(&program, "#!/bin/bash\n")?;
    assert_ne!(image::write(&built, &workspace_dir().join("LICENSE"), &archive)?.digest, made.digest);
    Ok(())
}
