//! Builds a program for a platform, without paths of the machine that built it.

use super::Target;
use crate::control_plane::workspace_dir;
use crate::programs::cargo;
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};

/// Builds `package` for `target` with `profile` into `target_dir`, and returns the program, which has the name of its package.
///
/// # Errors
/// When there is no compiler for the platform, or the build fails.
pub fn build(package: &str, target: &Target, profile: &str, target_dir: &Path) -> Result<PathBuf> {
    ensure!(target.add(), "rustup cannot get the standard library of {}", target.triple);
    let (lower, upper) = (target.triple.replace('-', "_"), target.triple.to_uppercase().replace('-', "_"));
    let mut command = cargo();
    command
        .args([
            "build",
            "--locked",
            "--quiet",
            "-p",
            package,
            "--profile",
            profile,
            "--target",
            target.triple,
        ])
        .arg("--target-dir")
        .arg(target_dir)
        .env(format!("CARGO_TARGET_{upper}_RUSTFLAGS"), flags(target));
    if target.triple == format!("{}-unknown-linux-musl", std::env::consts::ARCH) {
        // Our C dependencies link to musl without musl's own compiler, as long as they use nothing of glibc.
        command.env(format!("CC_{lower}"), "cc").env(format!("CFLAGS_{lower}"), "-U_FORTIFY_SOURCE");
    }
    let output = command.output().context("run cargo")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "build {package} for {}: {said}", target.triple);
    let folder = if profile == "dev" { "debug" } else { profile };
    Ok(target_dir.join(target.triple).join(folder).join(target.file_name(package)))
}

fn flags(target: &Target) -> String {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(dirs::home_dir()?.join(".cargo"))).unwrap_or_default();
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let mut flags = vec![remap(&workspace_dir(), "."), remap(&home, "cargo")];
    if target.os == "linux" {
        flags.push("-Ctarget-feature=+crt-static".to_owned());
    }
    flags.join(" ")
}
