//! `conformance` decides cases with our core and with kube-scheduler's own code, and prints the differences.
#![forbid(unsafe_code)]

use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use reserve_tests::conformance::generator::Generator;
use reserve_tests::conformance::run::{Batch, ConformanceReport, DifferingCase, batches, run};

const USAGE: &str = "\
usage: conformance [--cases NUMBER] [--seed NUMBER]
       conformance --file FILE

The first form makes cases (2000 from a random seed), the second reads them, as docs/conformance.md describes them.";

/// How many differences of one case are printed.
const SHOWN: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match compare(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Compares all cases. false: there is a difference.
fn compare(arguments: &[String]) -> Result<bool> {
    let (mut cases, mut seed, mut file) = (2000, None, None);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let value = arguments.next().context(USAGE)?;
        match argument.as_str() {
            "--cases" => cases = value.parse().context("--cases wants a number")?,
            "--seed" => seed = Some(value.parse().context("--seed wants a number")?),
            "--file" => file = Some(value),
            other => bail!("unknown option {other}\n{USAGE}"),
        }
    }
    let batches: Box<dyn Iterator<Item = Result<Batch>>> = match file {
        Some(file) => {
            let text = fs::read_to_string(file).with_context(|| format!("read {file}"))?;
            Box::new(batches(&text).with_context(|| file.clone())?.into_iter().map(Ok))
        }
        None => {
            let seed = seed.unwrap_or_else(random_seed);
            writeln!(std::io::stdout(), "seed {seed}")?;
            Box::new(Generator::new(seed, cases))
        }
    };
    let report = run(batches)?;
    print(&report)?;
    Ok(report.differing == 0)
}

/// A random seed with at most six digits, so that it is easy to type again.
fn random_seed() -> u64 {
    RandomState::new().build_hasher().finish() % 1_000_000
}

fn print(report: &ConformanceReport) -> Result<()> {
    let mut out = std::io::stdout().lock();
    write!(out, "{}", report.tally)?;
    for differing in &report.first {
        writeln!(
            out,
            "\ncase {}, again with make conformance CASES={}",
            differing.id,
            save(differing)?.display()
        )?;
        for difference in differing.differences.iter().take(SHOWN) {
            writeln!(
                out,
                "  {}\n    core    {}\n    oracle  {}",
                difference.what, difference.core, difference.oracle
            )?;
        }
        if differing.differences.len() > SHOWN {
            writeln!(out, "  and {} more", differing.differences.len() - SHOWN)?;
        }
    }
    writeln!(out, "{} cases, {} differences", report.tally.cases, report.differing)?;
    out.flush().context("write to standard output")
}

/// Writes a case to a file in cargo's target folder.
fn save(differing: &DifferingCase) -> Result<PathBuf> {
    let exe = std::env::current_exe().context("find the running program")?;
    let target = exe.ancestors().find(|dir| dir.join("CACHEDIR.TAG").is_file()).map(Path::to_path_buf);
    let folder = target.unwrap_or_else(std::env::temp_dir).join("conformance");
    fs::create_dir_all(&folder)?;
    let file = folder.join(format!("{}.jsonl", differing.id.replace('/', "-")));
    fs::write(&file, differing.replay.join("\n") + "\n")
        .with_context(|| format!("write {}", file.display()))?;
    Ok(file)
}
