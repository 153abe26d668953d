//! The release as people get it: krew's rules for the manifest, and an archive that the real krew installs and real
//! kubectl then runs. No cluster is needed.
#![forbid(unsafe_code)]

use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{Binaries, workspace_dir};
use reserve_tests::dist::{self, Compression, ReleaseArchive};
use reserve_tests::programs;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Every platform that krew knows.
const PLATFORMS: [(&str, &str); 7] = [
    ("darwin", "amd64"),
    ("darwin", "arm64"),
    ("linux", "amd64"),
    ("linux", "arm"),
    ("linux", "arm64"),
    ("linux", "ppc64le"),
    ("windows", "amd64"),
];

/// The rules of krew's own check of manifests, and of those who look after its index.
fn check(manifest: &Value) -> Result<BTreeSet<(String, String)>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    ensure!(manifest["apiVersion"] == "krew.googlecontainertools.github.com/v1alpha2", "apiVersion");
    ensure!(manifest["kind"] == "Plugin" && manifest["metadata"]["name"] == "reserve", "kind and name");
    let spec = &manifest["spec"];
    let version = text(&spec["version"]);
    let numbers = version.strip_prefix('v').context("no v")?.split('.').map(str::parse::<u32>);
    ensure!(numbers.clone().count() == 3 && numbers.into_iter().all(|number| number.is_ok()), "{version}");
    let short = text(&spec["shortDescription"]);
    ensure!((1..=50).contains(&short.len()) && !short.contains('\n'), "{short}");
    ensure!(!short.to_lowercase().contains("kube"), "{short}");
    let description = text(&spec["description"]);
    ensure!(!description.contains("kubectl reserve"), "no usage in the description");
    for line in description.lines().chain(text(&spec["caveats"]).lines()) {
        ensure!(line.len() <= 80, "{line}");
    }
    ensure!(text(&spec["homepage"]).starts_with("https://"), "homepage");
    let mut seen = BTreeSet::new();
    for platform in spec["platforms"].as_array().context("no platforms")? {
        let labels = platform["selector"]["matchLabels"].as_object().context("no labels")?;
        ensure!(labels.keys().eq(["arch", "os"]), "{labels:?}");
        let (os, arch) = (text(&labels["os"]), text(&labels["arch"]));
        let (uri, bin, sha256) = (text(&platform["uri"]), text(&platform["bin"]), text(&platform["sha256"]));
        ensure!(uri.ends_with(".tar.gz") || uri.ends_with(".zip"), "{uri}");
        ensure!(uri.contains(&format!("{version}-{os}-{arch}")), "{uri}");
        ensure!(
            sha256.len() == 64 && sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')),
            "{sha256}"
        );
        ensure!(bin == if os == "windows" { "kubectl-reserve.exe" } else { "kubectl-reserve" }, "{bin}");
        ensure!(platform.get("files").is_none(), "without files everything is unpacked, the license too");
        ensure!(seen.insert((os, arch)), "two platforms overlap: {uri}");
    }
    ensure!(!seen.is_empty(), "no platform");
    Ok(seen)
}

fn yaml(text: &str) -> Result<Value> {
    Ok(serde_saphyr::from_str(text)?)
}

#[test]
fn the_template_keeps_krews_rules_on_every_platform() -> Result<()> {
    let template = fs::read_to_string(workspace_dir().join(".krew.yaml"))?;
    let (text, count) = dist::render_manifest(&template, "v1.2.3", |_, _| Some("0".repeat(64)))?;
    let seen = check(&yaml(&text)?)?;
    let all = PLATFORMS.map(|(os, arch)| (os.to_owned(), arch.to_owned()));
    assert!(seen.iter().eq(&all), "{seen:?}");
    assert_eq!(count, PLATFORMS.len());
    assert!(!text.contains("{{"), "{text}");
    Ok(())
}

#[test]
fn the_check_can_fail() -> Result<()> {
    let template = fs::read_to_string(workspace_dir().join(".krew.yaml"))?;
    let sha256 = |_: &str, _: &str| Some("0".repeat(64));
    let (good, _) = dist::render_manifest(&template, "v1.2.3", sha256)?;
    check(&yaml(&good)?)?;
    for (from, to) in [
        ("v1.2.3", "1.2.3"),
        ("name: reserve", "name: other"),
        ("while pods are recreated", "while Kubernetes recreates its pods"),
        ("arch: arm64", "arch: amd64"),
        ("bin: kubectl-reserve.exe", "bin: kubectl-reserve"),
        (".tar.gz", ".tar.xz"),
        ("sha256: \"0", "sha256: \"X"),
        ("os: linux", "system: linux"),
    ] {
        let bad = good.replace(from, to);
        assert_ne!(bad, good, "{from}");
        assert!(yaml(&bad).and_then(|manifest| check(&manifest)).is_err(), "{from} -> {to}");
    }
    let (none, _) = dist::render_manifest(&template, "v1.2.3", |_, _| None)?;
    assert!(yaml(&none).and_then(|manifest| check(&manifest)).is_err());
    Ok(())
}

/// The archive and the manifest as `make dist` writes them, of the program that tests run.
fn release(dir: &Path) -> Result<ReleaseArchive> {
    let target = dist::here().context("krew does not know this platform")?;
    // Programs for tests are large, and nobody downloads them.
    let program = programs::build()?.join("kubectl-reserve");
    let packed = dist::pack_command(&program, &target, Compression::none(), dir)?;
    fs::write(dir.join("reserve.yaml"), dist::manifest(std::slice::from_ref(&packed))?)?;
    Ok(packed)
}

fn run(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("run {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{command:?}: {said}");
    Ok(String::from_utf8(output.stdout)?)
}

#[test]
fn krew_installs_the_archive_and_kubectl_runs_it() -> Result<()> {
    let home = TempDir::new()?;
    let packed = release(home.path())?;
    let listed = check(&yaml(&fs::read_to_string(home.path().join("reserve.yaml"))?)?)?;
    assert_eq!(listed.len(), 1, "only what was built");
    let again = TempDir::new()?;
    assert_eq!(release(again.path())?.sha256, packed.sha256, "the same program, the same archive");

    let binaries = Binaries::locate()?;
    let bin = home.path().join("bin");
    fs::create_dir_all(&bin)?;
    for (program, name) in [("kubectl", "kubectl"), ("krew", "kubectl-krew")] {
        std::os::unix::fs::symlink(binaries.path(program)?, bin.join(name))?;
    }
    let krew_root = home.path().join("krew");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = [krew_root.join("bin"), bin.clone()];
    let path = std::env::join_paths(dirs.iter().cloned().chain(std::env::split_paths(&path)))?;
    let kubectl = |words: &[&str]| {
        let mut command = Command::new(bin.join("kubectl"));
        command.env("PATH", &path).env("HOME", home.path()).env("KREW_ROOT", &krew_root);
        command.env("KUBECONFIG", home.path().join("none")).env("KUBERC", "off").args(words);
        run(&mut command)
    };
    let (manifest, archive) = (home.path().join("reserve.yaml"), packed.file);
    let words = [
        "--manifest".into(),
        manifest.display().to_string(),
        "--archive".into(),
        archive.display().to_string(),
    ];
    let words: Vec<&str> = ["krew", "install"].into_iter().chain(words.iter().map(String::as_str)).collect();
    kubectl(&words)?;

    let version = dist::tag();
    assert_eq!(kubectl(&["reserve", "version", "--client"])?, format!("Client Version: {version}\n"));
    let store = krew_root.join("store").join("reserve").join(&version);
    for file in
        ["LICENSE", "man/kubectl-reserve.1", "man/kubectl-reserve-list.1", "completions/kubectl-reserve.bash"]
    {
        assert!(store.join(file).is_file(), "{file} was not unpacked");
    }
    // krew links the plugin alone; the link for completion is made beside it.
    let made = kubectl(&["reserve", "completion", "install"])?;
    assert!(made.contains("krew/bin/kubectl_complete-reserve created"), "{made}");
    assert!(kubectl(&["__complete", "reserve", "lis"])?.starts_with("list\t"));
    Ok(())
}

#[test]
fn the_manual_has_a_page_for_every_verb() -> Result<()> {
    let home = TempDir::new()?;
    let packed = release(home.path())?;
    let tar = flate2::read::GzDecoder::new(fs::File::open(packed.file)?);
    let mut pages = Vec::new();
    for entry in tar::Archive::new(tar).entries()? {
        let mut entry = entry?;
        let path = entry.path()?.to_string_lossy().into_owned();
        if path.starts_with("man/") {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut entry, &mut text)?;
            assert!(text.contains(".TH"), "{path}");
            pages.push(path);
        }
    }
    for verb in kubectl_reserve::command().get_subcommands() {
        assert!(pages.contains(&format!("man/kubectl-reserve-{}.1", verb.get_name())), "{pages:?}");
    }
    Ok(())
}
