//! The output of `pod` and `restart`: the plan (`plan`), progress (`progress`), the end (`end`), and the document (`report`).

mod end;
mod plan;
mod progress;
mod report;
#[cfg(test)]
mod tests;

pub(crate) use end::{RecreateSubject, failure, kept_words, summary};
pub(crate) use plan::{CompetingPod, RecreatePlan, Shutdown, plan};
pub(crate) use progress::line;
pub(crate) use report::Reports;

use crate::amount::shown;
use common::model::{ResourceName, Resources};

/// Amounts for people, without the pod slot: `cpu 5, memory 2Gi`.
pub(crate) fn amounts(resources: &Resources) -> String {
    let named = resources.iter().filter(|(name, amount)| *name != ResourceName::Pods && *amount > 0);
    let words: Vec<String> = named.map(|(name, amount)| format!("{name} {}", shown(&name, amount))).collect();
    if words.is_empty() { "one pod slot".to_owned() } else { words.join(", ") }
}
