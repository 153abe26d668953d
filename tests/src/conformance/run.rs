//! Puts cases to both sides, counts, and keeps what differs.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::compare::{Difference, differences};
use super::core::{Core, served};
use super::format::Outcome;
use super::oracle::Oracle;
use super::tally::Tally;

/// The cases of one cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The cluster's line.
    pub cluster: Value,
    /// The pods' lines, in order.
    pub pods: Vec<Value>,
}

/// A case on which the two sides differ.
#[derive(Clone, Debug)]
pub struct Differing {
    /// Which case.
    pub id: String,
    /// What differs.
    pub differences: Vec<Difference>,
    /// The lines that show it again: the cluster and its pods up to this one.
    pub replay: Vec<String>,
}

/// What a run comes to.
#[derive(Debug)]
pub struct Report {
    /// How often each plugin had a say.
    pub tally: Tally,
    /// How many cases differ.
    pub differing: u64,
    /// The first of them.
    pub first: Vec<Differing>,
}

/// How many differing cases are kept in full.
const KEPT: usize = 5;

/// Puts all batches to both sides.
///
/// # Errors
/// When a case cannot be read, or the oracle fails.
pub fn run(batches: impl IntoIterator<Item = Result<Batch>>) -> Result<Report> {
    let (mut oracle, mut core, plugins) = (Oracle::start()?, Core::default(), served());
    let mut report = Report { tally: Tally::new(&plugins), differing: 0, first: Vec::new() };
    for batch in batches {
        let mut batch = batch?;
        batch.cluster["plugins"] = json!(plugins);
        let mut lines = vec![batch.cluster.to_string()];
        ask(&mut oracle, &mut core, &lines[0])?;
        for pod in &mut batch.pods {
            // Of every plugin that can be counted, and compared.
            pod["all"] = json!(true);
            lines.push(pod.to_string());
            let line = lines.last().map_or("", String::as_str);
            let (ours, theirs) = ask(&mut oracle, &mut core, line)?.context("a pod without an outcome")?;
            report.add(&ours, &theirs, &lines);
        }
    }
    Ok(report)
}

/// Both sides' answers to a line; none for a cluster. The core thinks while the oracle does.
///
/// # Errors
/// When either side cannot read the line.
pub fn ask(oracle: &mut Oracle, core: &mut Core, line: &str) -> Result<Option<(Outcome, Outcome)>> {
    oracle.send(line)?;
    let Some(ours) = core.read(line)? else { return Ok(None) };
    Ok(Some((ours, oracle.outcome()?)))
}

impl Report {
    fn add(&mut self, ours: &Outcome, theirs: &Outcome, lines: &[String]) {
        self.tally.add(theirs);
        let differences = differences(ours, theirs);
        if differences.is_empty() {
            return;
        }
        self.differing += 1;
        if self.first.len() < KEPT {
            let (id, replay) = (theirs.id.clone(), lines.to_vec());
            self.first.push(Differing { id, differences, replay });
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
