//! `simulate steps|whole` lives through seeds, known seeds and plans, and prints those that fail. `make simulate` runs it.
#![forbid(unsafe_code)]

use anyhow::{Context as _, Result, bail, ensure};
use reserve_tests::history::Counts;
use reserve_tests::simulation::history::SHORT;
use reserve_tests::simulation::known::KNOWN;
use reserve_tests::simulation::seeds::{self, Failed, Range};
use reserve_tests::simulation::{TIERS, Tier};
use std::io::Write as _;
use std::process::ExitCode;

const USAGE: &str = "\
usage: simulate TIER [--seeds NUMBER] [--from SEED] [--failed-max NUMBER]
       simulate TIER --seed SEED
       simulate TIER --plan NAME, or a part of several names

The first form lives through so many seeds, all known seeds and all plans, and prints how often each rule was checked. It stops
when so many seeds (5) have failed. The others live through one, and print all of it.";

struct Wish {
    range: Range,
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

/// Whether nothing failed.
fn simulate(arguments: &[String]) -> Result<bool> {
    let (name, options) = arguments.split_first().context(USAGE)?;
    let tier = TIERS.iter().find(|tier| tier.name == name);
    let tier = tier.with_context(|| format!("unknown tier {name}\n{USAGE}"))?;
    let wish = wish(options, tier)?;
    let failed = match (wish.seed, &wish.plan) {
        (Some(seed), _) => {
            seeds::failed(seed.to_string(), whole(seeds::one(seed, usize::MAX, tier.simulate))?)
        }
        (None, Some(plan)) => {
            let mut lived = (tier.plans)(plan);
            ensure!(!lived.is_empty(), "no plan has {plan} in its name");
            if lived.len() > 1 {
                let failed = lived.into_iter().filter_map(|(name, outcome)| seeds::failed(name, outcome));
                return tell(tier, &failed.collect::<Vec<_>>());
            }
            let (name, outcome) = lived.remove(0);
            seeds::failed(name, whole(outcome)?)
        }
        (None, None) => return all(tier, wish.range),
    };
    let mut out = std::io::stdout().lock();
    match &failed {
        None => writeln!(out, "all is well")?,
        Some(failed) => writeln!(out, "{} {}: {}", tier.name, failed.name, failed.broken)?,
    }
    Ok(failed.is_none())
}

fn wish(options: &[String], tier: &Tier) -> Result<Wish> {
    let mut wish = Wish {
        range: Range { from: 0, count: tier.seeds, failed_max: seeds::FAILED_MAX },
        seed: None,
        plan: None,
    };
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let value = options.next().context(USAGE)?;
        let number = || value.parse().with_context(|| format!("{option} wants a number"));
        match option.as_str() {
            "--seeds" => wish.range.count = number()?,
            "--from" => wish.range.from = number()?,
            "--failed-max" => wish.range.failed_max = usize::try_from(number()?)?,
            "--seed" => wish.seed = Some(number()?),
            "--plan" => wish.plan = Some(value.clone()),
            other => bail!("unknown option {other}\n{USAGE}"),
        }
    }
    Ok(wish)
}

/// Prints all of one history.
fn whole(outcome: seeds::Outcome) -> Result<seeds::Outcome> {
    let mut out = std::io::stdout().lock();
    for line in outcome.history.clone().into_lines() {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "history {:016x}", outcome.history.hash())?;
    Ok(outcome)
}

/// Known seeds first: they are few, and were right yesterday.
fn all(tier: &Tier, range: Range) -> Result<bool> {
    let started = cpu_seconds(0.0);
    let known = KNOWN.iter().filter(|known| known.tier == tier.name);
    let mut counts = Counts::default();
    let mut failed: Vec<Failed> = known
        .clone()
        .filter_map(|known| {
            let outcome = seeds::one(known.seed, SHORT, tier.simulate);
            counts.add(&outcome.counts);
            seeds::failed(format!("{} ({})", known.seed, known.bug), outcome)
        })
        .collect();
    let plans = (tier.plans)("");
    let planned = plans.len();
    plans.iter().for_each(|(_, outcome)| counts.add(&outcome.counts));
    failed.extend(plans.into_iter().filter_map(|(name, outcome)| seeds::failed(name, outcome)));
    failed.extend(seeds::run(range, tier.simulate, &mut counts));
    let (count, is_well) = (failed.len(), tell(tier, &failed)?);
    let mut out = std::io::stdout().lock();
    write!(out, "{}", counts.table(tier.rules))?;
    // A few seeds need not ask every rule.
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

/// Prints those that failed. Whether none did.
fn tell(tier: &Tier, failed: &[Failed]) -> Result<bool> {
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
