//! LeastAllocated: the mean share of cpu and memory that would be left, in percent.

use crate::cluster::Ledger;
use crate::framework::SCORE_MAX;
use crate::model::requests::PodRequests;

/// The score of the node for a pod that asks for `requests`.
pub(super) fn least_allocated(requests: &PodRequests, ledger: &Ledger) -> i64 {
    let allocatable = &ledger.node.allocatable;
    let (used, asks) = (&ledger.used_non_zero, &requests.non_zero_incoming);
    let shares = [
        left(allocatable.cpu, used.cpu.saturating_add(asks.cpu)),
        left(allocatable.memory, used.memory.saturating_add(asks.memory)),
    ];
    let known: Vec<i64> = shares.into_iter().flatten().collect();
    match i64::try_from(known.len()) {
        Ok(count) if count > 0 => known.iter().sum::<i64>() / count,
        _ => 0,
    }
}

/// The percentage that is left; `None` if the node has none of it at all.
fn left(allocatable: i64, taken: i64) -> Option<i64> {
    if allocatable == 0 {
        return None;
    }
    let left = i128::from(allocatable.saturating_sub(taken).max(0));
    i64::try_from(left * i128::from(SCORE_MAX) / i128::from(allocatable)).ok()
}
