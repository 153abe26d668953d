//! `dist [TRIPLE…]` builds the two programs for release and writes archives, checksums and the krew manifest into `dist/`: for the
//! platforms in the arguments, without arguments for this machine's. `make dist` runs it.
//!
//! `dist describe REPOSITORY` writes checksums, krew manifest and template, and Homebrew formula for the archives that are in `dist/`;
//! REPOSITORY is the address of this repository. `dist sbom` writes what each program is made of.
#![forbid(unsafe_code)]

use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::workspace_dir;
use reserve_tests::dist::{self, Compression, ReleaseArchive, Target};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// The most bytes that the command may have.
const SIZE_MAX: u64 = 15_000_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["describe", repository] => describe(repository),
        ["sbom"] => sbom(),
        ref triples => make(triples),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn make(triples: &[&str]) -> Result<()> {
    let own = std::env::current_exe().context("find this program")?;
    // <target>/<profile>/dist
    let target_dir = own.ancestors().nth(2).context("this program is not in a cargo target folder")?;
    let dir = workspace_dir().join("dist");
    let mut commands = Vec::new();
    let mut sums = String::new();
    for target in targets(triples)? {
        let program = dist::build("kubectl-reserve", &target, "plugin", target_dir)?;
        let size = program.metadata().context("find the program")?.len();
        ensure!(
            size <= SIZE_MAX,
            "kubectl-reserve has {size} bytes for {}, more than {SIZE_MAX}",
            target.triple
        );
        let packed = dist::pack_command(&program, &target, Compression::best(), &dir)?;
        tell(&packed, size, &mut sums)?;
        commands.push(packed);
        // The daemon runs on nodes, and nodes run Linux.
        if target.os == "linux" {
            let program = dist::build("reserve-daemon", &target, "dist", target_dir)?;
            let size = program.metadata().context("find the program")?.len();
            tell(&dist::pack_daemon(&program, &target, Compression::best(), &dir)?, size, &mut sums)?;
        }
    }
    fs::write(dir.join("checksums.txt"), sums).context("write the checksums")?;
    fs::write(dir.join("reserve.yaml"), dist::manifest(&commands)?).context("write the manifest")?;
    Ok(())
}

fn describe(repository: &str) -> Result<()> {
    for archive in dist::describe_release(&workspace_dir().join("dist"), repository.trim_end_matches('/'))? {
        writeln!(std::io::stdout(), "{}  {}", archive.sha256, archive.file.display())?;
    }
    Ok(())
}

fn sbom() -> Result<()> {
    let dir = workspace_dir().join("dist");
    fs::create_dir_all(&dir).with_context(|| format!("create {}", dir.display()))?;
    for program in ["kubectl-reserve", "reserve-daemon"] {
        let file = dir.join(format!("{program}-{}.cdx.json", dist::tag()));
        let text = serde_json::to_string_pretty(&dist::sbom(program)?)? + "\n";
        fs::write(&file, text).with_context(|| format!("write {}", file.display()))?;
        writeln!(std::io::stdout(), "{}", file.display())?;
    }
    Ok(())
}

fn targets(named: &[&str]) -> Result<Vec<Target>> {
    if named.is_empty() {
        return Ok(vec![
            dist::here().context("krew does not know this machine's platform; name one that it knows")?,
        ]);
    }
    let target = |triple: &&str| Target::of(triple).with_context(|| format!("krew does not know {triple}"));
    named.iter().map(target).collect()
}

fn tell(packed: &ReleaseArchive, size: u64, sums: &mut String) -> Result<()> {
    let name = packed.file.file_name().map(Path::new).unwrap_or(&packed.file).display();
    sums.push_str(&format!("{}  {name}\n", packed.sha256));
    writeln!(std::io::stdout(), "{} ({} KiB unpacked)", packed.file.display(), size >> 10)?;
    Ok(())
}
