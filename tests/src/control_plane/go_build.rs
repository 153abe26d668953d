//! Builds the programs of one Go module into the cache, once, whoever else is asking.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use tokio::time::Instant;

use super::modules::Module;
use super::settings::{self, ASSETS_VARIABLE, tell};

/// How much of the compiler's last words an error repeats.
const LINES_SHOWN: usize = 20;

/// Builds all programs of `module` into the folder `into`.
///
/// The work happens in a folder beside it that is renamed when everything is there, under a lock, so
/// that neither a crash nor a second process leaves half a build.
pub(super) fn build(module: &Module, into: &Path, go: &Path) -> Result<()> {
    let parent = into.parent().context("the cache has no parent folder")?;
    fs::create_dir_all(parent).with_context(|| format!("create the cache folder {}", parent.display()))?;
    let lock = File::create(beside(into, "lock")).context("create the lock of the cache")?;
    if lock.try_lock().is_err() {
        tell(&format!("another process builds {}; waiting for it", module.name));
        lock.lock().context("wait for the lock of the cache")?;
    }
    if module.programs.iter().all(|(program, _)| into.join(program).is_file()) {
        return Ok(());
    }
    let partial = beside(into, "partial");
    remove(&partial)?;
    let built = module.programs.iter().try_for_each(|program| build_program(module, *program, &partial, go));
    if built.is_err() {
        remove(&partial)?;
        return built;
    }
    remove(into)?;
    fs::rename(&partial, into).with_context(|| format!("move the build to {}", into.display()))
}

fn build_program(module: &Module, (program, package): (&str, &str), dir: &Path, go: &Path) -> Result<()> {
    let version = module.version()?;
    tell(&format!("building {program} {version} from Go modules; done once, it can take minutes"));
    let started = Instant::now();
    let output = Command::new(go)
        .args(["build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", &module.linker_flags()?])
        .arg("-o")
        .arg(dir.join(program))
        .arg(package)
        .current_dir(settings::source_dir().join(module.name))
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off")
        .output()
        .with_context(|| go_is_needed(program))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = said.lines().collect();
        let last = lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n");
        bail!(
            "build {program} {version} in tests/control-plane/{}:\n{last}\n\n{}",
            module.name,
            go_is_needed(program)
        );
    }
    tell(&format!("built {program} in {:.0?}", started.elapsed()));
    Ok(())
}

fn go_is_needed(program: &str) -> String {
    format!(
        "Go 1.26 or newer is needed to build {program}; install it, or point {ASSETS_VARIABLE} at a folder that \
         holds etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl, kwok and krew"
    )
}

/// `<dir>.<extension>`; a version has dots, so `Path::with_extension` would cut it.
fn beside(dir: &Path, extension: &str) -> std::path::PathBuf {
    let mut name = dir.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("remove {}", dir.display()))
        }
        _ => Ok(()),
    }
}
