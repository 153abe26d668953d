//! Recreating a pod, in words: the plan, what happens, how it ended.

mod end;
mod news;
mod plan;
mod report;
#[cfg(test)]
mod tests;

pub(crate) use end::{Whom, failure, kept_words, summary};
pub(crate) use news::line;
pub(crate) use plan::{Plan, Rival, Shutdown, plan};
pub(crate) use report::Reports;

use common::model::{ResourceName, Resources};

/// Amounts as people read them, the pod slot aside: `cpu 5000m, memory 2Gi`.
pub(crate) fn amounts(resources: &Resources) -> String {
    let named = resources.iter().filter(|(name, amount)| *name != ResourceName::Pods && *amount > 0);
    let words: Vec<String> = named.map(|(name, amount)| format!("{name} {}", name.format(amount))).collect();
    if words.is_empty() { "one pod slot".to_owned() } else { words.join(", ") }
}
