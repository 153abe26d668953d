//! `image FILE` builds the daemon as a static program and writes its container image to FILE. `make image` runs it.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::workspace_dir;
use reserve_tests::image;

/// The most bytes that the program may have, because each node stores the image.
const SIZE_MAX: u64 = 20 << 20;

fn main() -> ExitCode {
    match make() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn make() -> Result<()> {
    let file = std::env::args_os().nth(1).context("usage: image FILE")?;
    let file = Path::new(&file);
    let own = std::env::current_exe().context("find this program")?;
    // <target>/<profile>/image
    let target_dir = own.ancestors().nth(2).context("this program is not in a cargo target folder")?;
    let built = image::build(target_dir, "dist")?;
    let size = built.program.metadata().context("find the program")?.len();
    ensure!(size <= SIZE_MAX, "the program has {size} bytes, more than an image of ours may have");
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    }
    let made = image::write(&built, &workspace_dir().join("LICENSE"), file)?;
    let mib = made.layer / (1 << 20);
    writeln!(std::io::stdout(), "{}\n{} ({mib} MiB)", file.display(), made.digest)?;
    Ok(())
}
