//! What a release has besides archives: the workflows that make it, the Homebrew formula, the template for krew's bot, and the bill of
//! materials.
#![forbid(unsafe_code)]

use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{Binaries, workspace_dir};
use reserve_tests::dist::{self, Compression, Target};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

fn workflows() -> Result<Vec<(String, Value)>> {
    let mut all = vec![];
    for entry in fs::read_dir(workspace_dir().join(".github/workflows"))? {
        let file = entry?.path();
        let text = fs::read_to_string(&file)?;
        all.push((file.display().to_string(), serde_saphyr::from_str(&text).with_context(|| text.clone())?));
    }
    ensure!(all.len() >= 2, "there are workflows for changes and for releases");
    Ok(all)
}

#[test]
fn actionlint_finds_no_fault_with_the_workflows() -> Result<()> {
    let actionlint = Binaries::locate_checker("actionlint")?;
    // Neither of these programs is on every machine, and each would find other things.
    let mut command = Command::new(actionlint);
    command.args(["-no-color", "-shellcheck=", "-pyflakes="]).current_dir(workspace_dir());
    for (file, _) in workflows()? {
        command.arg(file);
    }
    let output = command.output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}

/// The targets that the Makefile has.
fn make_targets() -> Result<BTreeSet<String>> {
    let makefile = fs::read_to_string(workspace_dir().join("Makefile"))?;
    let targets =
        makefile.lines().filter_map(|line| line.split_once(':')).filter(|(_, rest)| !rest.starts_with('='));
    Ok(targets.map(|(name, _)| name.to_owned()).filter(|name| !name.contains([' ', '\t', '='])).collect())
}

/// What else a job may run: what prepares the machine, and logs in.
const BESIDES: [&str; 3] =
    ["sudo apt-get update", "rustup target add", "echo \"$TOKEN\" | helm registry login"];

#[test]
fn what_a_job_does_can_be_done_by_hand() -> Result<()> {
    let targets = make_targets()?;
    for (file, workflow) in workflows()? {
        for (name, job) in workflow["jobs"].as_object().context("no jobs")? {
            let steps = job["steps"].as_array().context("no steps")?;
            let mut made = 0;
            for run in steps.iter().filter_map(|step| step["run"].as_str()) {
                let Some(rest) = run.strip_prefix("make ") else {
                    ensure!(BESIDES.iter().any(|start| run.starts_with(start)), "{file}, {name}: {run}");
                    continue;
                };
                let target = rest.split_whitespace().next().unwrap_or_default();
                ensure!(targets.contains(target), "{file}, {name}: there is no `make {target}`");
                made += 1;
            }
            // krew's bot is an action and nothing else; what it gets is made by `make describe-release`.
            ensure!(made > 0 || name == "krew", "{file}: {name} makes nothing");
        }
    }
    Ok(())
}

/// Every archive that the workflow builds is of a platform that the build knows.
#[test]
fn the_platforms_of_a_release_are_known() -> Result<()> {
    let (_, workflow) =
        workflows()?.into_iter().find(|(file, _)| file.ends_with("release.yml")).context("no release.yml")?;
    let rows = &workflow["jobs"]["archives"]["strategy"]["matrix"]["include"];
    let triples: Vec<&str> = rows
        .as_array()
        .context("no matrix")?
        .iter()
        .filter_map(|row| row["targets"].as_str())
        .flat_map(str::split_whitespace)
        .collect();
    for triple in &triples {
        ensure!(Target::of(triple).is_some(), "{triple}");
    }
    assert_eq!(triples.len(), 5, "{triples:?}");
    Ok(())
}

#[test]
fn the_archives_of_a_folder_are_described() -> Result<()> {
    let home = tempfile::tempdir()?;
    let refused = dist::describe_release(home.path(), "https://h/o/r").err().context("nothing was there")?;
    assert!(refused.to_string().contains("no archive of version"), "{refused}");
    let mut packed = vec![];
    for (content, triple) in
        ["x86_64-unknown-linux-musl", "aarch64-apple-darwin", "x86_64-pc-windows-gnu"].iter().enumerate()
    {
        let target = Target::of(triple).context("no such platform")?;
        let files = vec![("kubectl-reserve".to_owned(), 0o755, vec![u8::try_from(content)?])];
        packed.push(dist::pack("kubectl-reserve", &target, files, Compression::none(), home.path())?);
    }
    let daemon = Target::of("x86_64-unknown-linux-musl").context("no such platform")?;
    dist::pack("reserve-daemon", &daemon, vec![], Compression::none(), home.path())?;
    let described = dist::describe_release(home.path(), "https://h/o/r")?;
    assert_eq!(described.len(), 4);

    let read = |name: &str| fs::read_to_string(home.path().join(name));
    let sums = read("checksums.txt")?;
    assert_eq!(sums.lines().count(), 4, "{sums}");
    let [linux, mac, windows] = &packed[..] else { anyhow::bail!("three archives") };
    assert!(packed.iter().all(|archive| sums.contains(&archive.sha256)), "{sums}");

    let tag = dist::tag();
    let formula = read("kubectl-reserve.rb")?;
    let url =
        format!("url \"https://h/o/r/releases/download/{tag}/kubectl-reserve-{tag}-darwin-arm64.tar.gz\"");
    let arm = format!(
        "  on_macos do\n    on_arm do\n      {url}\n      sha256 \"{}\"\n    end\n  end\n",
        mac.sha256
    );
    assert!(formula.contains(&arm), "{formula}");
    assert!(formula.contains(&linux.sha256) && !formula.contains(&windows.sha256), "{formula}");
    let (opened, closed) =
        (formula.matches(" do\n").count() + 2, formula.lines().filter(|line| line.trim() == "end").count());
    assert_eq!(opened, closed, "{formula}");

    let template = read("krew-template.yaml")?;
    let uri = "{{addURIAndSha \"https://h/o/r/releases/download/{{ .TagName }}/kubectl-reserve-{{ .TagName }}-linux-amd64.tar.gz\"";
    assert!(template.contains(uri) && template.contains("homepage: https://h/o/r\n"), "{template}");
    for text in [&formula, &template, &read("reserve.yaml")?] {
        assert!(!text.contains("example.com"), "{text}");
    }
    Ok(())
}

#[test]
fn a_bill_of_materials_lists_what_is_linked() -> Result<()> {
    let bill = dist::sbom("reserve-daemon")?;
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.6".into()));
    let components = bill["components"].as_array().context("no components")?;
    let named = |name: &str| components.iter().find(|one| one["name"] == name);
    let kube = named("kube").context("the daemon links kube")?;
    assert_eq!(kube["hashes"][0]["content"].as_str().map(str::len), Some(64), "{kube}");
    for tested in ["insta", "kubectl-reserve", "reserve-sandbox"] {
        assert!(named(tested).is_none(), "{tested} is not linked into the daemon");
    }
    // Only our own crates have no checksum: they come from this repository.
    for component in components {
        let is_ours = component["name"].as_str().is_some_and(|name| name.starts_with("reserve-"));
        assert_eq!(component["hashes"].is_null(), is_ours, "{component}");
        assert!(component["licenses"][0]["expression"].is_string(), "{component}");
    }
    let references: BTreeSet<&str> = components.iter().filter_map(|one| one["bom-ref"].as_str()).collect();
    assert_eq!(references.len(), components.len(), "two components have one name and version");
    Ok(())
}
