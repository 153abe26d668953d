//! Builds the daemon as one static file that needs no libc, no loader and no certificates: the only certificate authority that it
//! trusts is the cluster's, which comes with the service account.

use crate::control_plane::workspace_dir;
use crate::programs::cargo;
use anyhow::{Context as _, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The daemon as a static program.
#[derive(Clone, Debug)]
pub struct StaticProgram {
    /// The path of the executable.
    pub program: PathBuf,
    /// The architecture as image manifests name it.
    pub architecture: &'static str,
}

/// Builds the daemon with `profile` into `target_dir`.
///
/// # Errors
/// When no image is made for this architecture, or the build fails.
pub fn build(target_dir: &Path, profile: &str) -> Result<StaticProgram> {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => bail!("no image is made for {other}"),
    };
    let musl = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let gnu = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    // Without the standard library for musl, glibc is linked statically; it then cannot resolve host names.
    let triple = if add_target(&musl) { musl } else { gnu };
    let upper = triple.to_uppercase().replace('-', "_");
    let output = cargo()
        .args([
            "build",
            "--locked",
            "--quiet",
            "-p",
            "reserve-daemon",
            "--profile",
            profile,
            "--target",
            &triple,
        ])
        .arg("--target-dir")
        .arg(target_dir)
        .env(format!("CARGO_TARGET_{upper}_RUSTFLAGS"), flags())
        // Our C dependencies link to musl without musl's own compiler, as long as they use nothing of glibc.
        .env(format!("CC_{}", triple.replace('-', "_")), "cc")
        .env(format!("CFLAGS_{}", triple.replace('-', "_")), "-U_FORTIFY_SOURCE")
        .output()
        .context("run cargo")?;
    ensure!(output.status.success(), "build the daemon: {}", String::from_utf8_lossy(&output.stderr));
    let folder = if profile == "dev" { "debug" } else { profile };
    Ok(StaticProgram { program: target_dir.join(triple).join(folder).join("reserve-daemon"), architecture })
}

/// Compiler flags: link statically, and leave out the paths of this machine.
fn flags() -> String {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(dirs::home_dir()?.join(".cargo"))).unwrap_or_default();
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    ["-Ctarget-feature=+crt-static".to_owned(), remap(&workspace_dir(), "."), remap(&home, "cargo")].join(" ")
}

/// Installs the standard library for `triple` with rustup, if it is missing. false: that failed.
fn add_target(triple: &str) -> bool {
    is_there(triple) || {
        let added =
            Command::new("rustup").args(["target", "add", triple]).current_dir(workspace_dir()).output();
        added.is_ok_and(|output| output.status.success()) && is_there(triple)
    }
}

fn is_there(triple: &str) -> bool {
    let asked = ["--print", "target-libdir", "--target", triple];
    let said = Command::new("rustc").args(asked).current_dir(workspace_dir()).output();
    said.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}
