//! `simulate steps|whole` simulates seeds, known seeds and plans, and prints those that fail. `make simulate` runs it.
#![forbid(unsafe_code)]

use anyhow::{Context as _, Result, bail, ensure};
use reserve_tests::history::Counts;
use reserve_tests::simulation::history_log::SHORT;
use reserve_tests::simulation::known_seeds::KNOWN_SEEDS;
use reserve_tests::simulation::seeds::{self, FailedRun, SeedRange};
use reserve_tests::simulation::{TIERS, Tier};
use std::io::Write as _;
use std::process::ExitCode;

const USAGE: &str = "\
usage: simulate TIER [--seeds NUMBER] [--from SEED] [--failed-max NUMBER]
       simulate TIER --seed SEED
       simulate TIER --plan NAME, or a part of several names

The first form lives through so many seeds, all known seeds and all plans, and prints how often each rule was checked. It stops
when so many seeds (5) have failed. The others live through one, and print all of it.";

/// The parsed command line.
struct Options {
    range: SeedRange,
    seed: Option<u64>,
    plan: Option<String>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match simulate(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Simulates what the command line asks for. false: something failed.
fn simulate(arguments: &[String]) -> Result<bool> {
    let (name, options) = arguments.split_first().context(USAGE)?;
    let tier = TIERS.iter().find(|tier| tier.name == name);
    let tier = tier.with_context(|| format!("unknown tier {name}\n{USAGE}"))?;
    let options = parse(options, tier)?;
    let failed = match (options.seed, &options.plan) {
        (Some(seed), _) => seeds::failed_run(
            seed.to_string(),
            print_history(seeds::run_seed(seed, usize::MAX, tier.simulate))?,
        ),
        (None, Some(plan)) => {
            let mut outcomes = (tier.plans)(plan);
            ensure!(!outcomes.is_empty(), "no plan has {plan} in its name");
            if outcomes.len() > 1 {
                let failed =
                    outcomes.into_iter().filter_map(|(name, outcome)| seeds::failed_run(name, outcome));
                return tell(tier, &failed.collect::<Vec<_>>());
            }
            let (name, outcome) = outcomes.remove(0);
            seeds::failed_run(name, print_history(outcome)?)
        }
        (None, None) => return all(tier, options.range),
    };
    let mut out = std::io::stdout().lock();
    match &failed {
        None => writeln!(out, "all is well")?,
        Some(failed) => writeln!(out, "{} {}: {}", tier.name, failed.name, failed.broken)?,
    }
    Ok(failed.is_none())
}

fn parse(arguments: &[String], tier: &Tier) -> Result<Options> {
    let mut options = Options {
        range: SeedRange { from: 0, count: tier.seeds, failed_max: seeds::FAILED_MAX },
        seed: None,
        plan: None,
    };
    let mut arguments = arguments.iter();
    while let Some(option) = arguments.next() {
        let value = arguments.next().context(USAGE)?;
        let number = || value.parse().with_context(|| format!("{option} wants a number"));
        match option.as_str() {
            "--seeds" => options.range.count = number()?,
            "--from" => options.range.from = number()?,
            "--failed-max" => options.range.failed_max = usize::try_from(number()?)?,
            "--seed" => options.seed = Some(number()?),
            "--plan" => options.plan = Some(value.clone()),
            other => bail!("unknown option {other}\n{USAGE}"),
        }
    }
    Ok(options)
}

/// Prints all of one history.
fn print_history(outcome: seeds::Outcome) -> Result<seeds::Outcome> {
    let mut out = std::io::stdout().lock();
    for line in outcome.history.clone().into_lines() {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "history {:016x}", outcome.history.hash())?;
    Ok(outcome)
}

/// Simulates the known seeds, then the plans, then the seeds of the range. Known seeds first: they are few, and a failure of one
/// is a regression.
fn all(tier: &Tier, range: SeedRange) -> Result<bool> {
    let started = cpu_seconds(0.0);
    let known = KNOWN_SEEDS.iter().filter(|known| known.tier == tier.name);
    let mut counts = Counts::default();
    let mut failed: Vec<FailedRun> = known
        .clone()
        .filter_map(|known| {
            let outcome = seeds::run_seed(known.seed, SHORT, tier.simulate);
            counts.add(&outcome.counts);
            seeds::failed_run(format!("{} ({})", known.seed, known.bug), outcome)
        })
        .collect();
    let plans = (tier.plans)("");
    let planned = plans.len();
    plans.iter().for_each(|(_, outcome)| counts.add(&outcome.counts));
    failed.extend(plans.into_iter().filter_map(|(name, outcome)| seeds::failed_run(name, outcome)));
    failed.extend(seeds::run(range, tier.simulate, &mut counts));
    let (count, is_well) = (failed.len(), tell(tier, &failed)?);
    let mut out = std::io::stdout().lock();
    write!(out, "{}", counts.table(tier.rules))?;
    // In a run of few seeds some rules are never checked, so the counts are not judged.
    let faults = if range.count < tier.enough { Vec::new() } else { counts.faults(tier.rules) };
    faults.iter().try_for_each(|fault| writeln!(out, "{}: {fault}", tier.name))?;
    writeln!(
        out,
        "{}: {} known seeds, {planned} plans, {} seeds from {}, {} failed, {:.1} CPU seconds",
        tier.name,
        known.count(),
        range.count,
        range.from,
        count,
        cpu_seconds(started)
    )?;
    out.flush().context("write to standard output")?;
    Ok(is_well && faults.is_empty())
}

/// Prints the failed seeds and plans. false: there are some.
fn tell(tier: &Tier, failed: &[FailedRun]) -> Result<bool> {
    let mut out = std::io::stdout().lock();
    for failed in failed {
        writeln!(out, "{} {}: {}", tier.name, failed.name, failed.broken)?;
        failed.trace.iter().try_for_each(|line| writeln!(out, "  {line}"))?;
    }
    Ok(failed.is_empty())
}

#[expect(clippy::float_arithmetic, reason = "for people")]
fn cpu_seconds(since: f64) -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9 - since
}
