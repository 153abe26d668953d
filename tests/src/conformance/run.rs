//! Runs cases on both sides ([`run`]), counts them, and keeps the cases that differ.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::compare::{Difference, differences};
use super::core::{Core, served};
use super::format::CaseOutcome;
use super::hints::intended;
use super::oracle::Oracle;
use super::tally::Tally;

/// The cases of one cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The line of the cluster.
    pub cluster: Value,
    /// The lines of the pods, in order.
    pub pods: Vec<Value>,
}

/// A case on which the two sides differ.
#[derive(Clone, Debug)]
pub struct DifferingCase {
    /// The id of the case.
    pub id: String,
    /// All differences.
    pub differences: Vec<Difference>,
    /// The lines that reproduce it: the cluster and its pods up to this one.
    pub replay: Vec<String>,
}

/// The result of a run.
#[derive(Debug)]
pub struct ConformanceReport {
    /// In how many cases each plugin passed, rejected or scored.
    pub tally: Tally,
    /// How many cases differ.
    pub differing: u64,
    /// The first differing cases.
    pub first: Vec<DifferingCase>,
}

/// How many differing cases the report has in full.
const FIRST_MAX: usize = 5;

/// Runs all batches on both sides.
///
/// # Errors
/// When a case cannot be decoded, or the oracle fails.
pub fn run(batches: impl IntoIterator<Item = Result<Batch>>) -> Result<ConformanceReport> {
    let (mut oracle, mut core, plugins) = (Oracle::start()?, Core::default(), served());
    let mut report = ConformanceReport { tally: Tally::new(&plugins), differing: 0, first: Vec::new() };
    for batch in batches {
        let mut batch = batch?;
        batch.cluster["plugins"] = json!(plugins);
        let mut lines = vec![batch.cluster.to_string()];
        ask(&mut oracle, &mut core, &lines[0])?;
        for pod in &mut batch.pods {
            let is_change = pod.get("change").is_some();
            if !is_change {
                // All verdicts, so that every plugin is counted and compared.
                pod["all"] = json!(true);
            }
            lines.push(pod.to_string());
            let line = lines.last().map_or("", String::as_str);
            let (ours, mut theirs) =
                ask(&mut oracle, &mut core, line)?.context("a pod without an outcome")?;
            theirs.hints = intended(&theirs, &ours, pod);
            report.add(&ours, &theirs, &lines);
            if is_change {
                // The cluster is as it was.
                lines.pop();
            }
        }
    }
    Ok(report)
}

/// Both sides' outcomes of a line, the core's first; `None` for a cluster. The core works while the oracle works.
///
/// # Errors
/// When either side cannot read the line.
pub fn ask(oracle: &mut Oracle, core: &mut Core, line: &str) -> Result<Option<(CaseOutcome, CaseOutcome)>> {
    oracle.send(line)?;
    let Some(ours) = core.read(line)? else { return Ok(None) };
    Ok(Some((ours, oracle.outcome()?)))
}

impl ConformanceReport {
    fn add(&mut self, ours: &CaseOutcome, theirs: &CaseOutcome, lines: &[String]) {
        match theirs.hints.is_empty() {
            true => self.tally.add(theirs),
            false => self.tally.add_hints(&theirs.hints),
        }
        let differences = differences(ours, theirs);
        if differences.is_empty() {
            return;
        }
        self.differing += 1;
        if self.first.len() < FIRST_MAX {
            let (id, replay) = (theirs.id.clone(), lines.to_vec());
            self.first.push(DifferingCase { id, differences, replay });
        }
    }
}

/// Reads a case file: clusters, each followed by its pods.
pub fn batches(text: &str) -> Result<Vec<Batch>> {
    let mut batches: Vec<Batch> = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("line {}", index + 1);
        let value: Value = serde_json::from_str(line).with_context(place)?;
        if value.get("cluster").is_some() {
            batches.push(Batch { cluster: value, pods: Vec::new() });
        } else {
            let batch = batches.last_mut().context("a pod before any cluster").with_context(place)?;
            batch.pods.push(value);
        }
    }
    Ok(batches)
}
