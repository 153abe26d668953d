//! The pods that wait for the room of a reservation: pods that may use it, and pods that would fit on the node without it.

use super::Row;
use common::cluster::{Ledger, Snapshot};
use common::cycle::{self, Depth};
use common::framework::Registry;
use common::model::{Pod, PodKey};
use common::plugins::default_registry;
use std::sync::Arc;

/// At most so many pods are judged, because there may be very many.
const JUDGED_MAX: usize = 500;

/// A pod that waits for the room of a reservation.
#[derive(Clone, Debug)]
pub(crate) struct WaitingPod {
    pub(crate) pod: Arc<Pod>,
    /// true: the pod may use the reservation. false: the pod would fit on the node without the reservation.
    pub(crate) is_own: bool,
}

/// The pods among `keys` that wait for the room of `row`.
pub(crate) fn waiting_pods(row: &Row<'_>, snapshot: &Snapshot<'_>, keys: &[PodKey]) -> Vec<WaitingPod> {
    let Some(entry) = row.entry() else { return Vec::new() };
    let registry = default_registry();
    let without = without(row, snapshot);
    let waits = |key: &PodKey| {
        let pod = snapshot.pod(key)?;
        let is_own = snapshot.context(pod).may_use(&entry.reservation);
        let would = || {
            let holds = !entry.held.is_zero();
            holds && !fits(pod, snapshot, row.ledger, &registry) && fits(pod, &without, row.ledger, &registry)
        };
        (is_own || would()).then(|| WaitingPod { pod: Arc::clone(pod), is_own })
    };
    let mut found: Vec<WaitingPod> = keys.iter().take(JUDGED_MAX).filter_map(waits).collect();
    found.sort_by(|one, other| (!one.is_own, &one.pod.key).cmp(&(!other.is_own, &other.pod.key)));
    found
}

/// The same cluster without the reservation.
fn without<'w>(row: &Row<'_>, snapshot: &Snapshot<'w>) -> Snapshot<'w> {
    let mut ledger = row.ledger.clone();
    let mut node = (*ledger.node).clone();
    let id = row.entry().map(|entry| &entry.reservation.id);
    let others = node.reservations.iter().filter(|parsed| parsed.valid().map(|valid| &valid.id) != id);
    node.reservations = others.cloned().collect();
    ledger.node = Arc::new(node);
    snapshot.suppose(ledger)
}

fn fits(pod: &Pod, snapshot: &Snapshot<'_>, ledger: &Ledger, registry: &Registry) -> bool {
    let context = snapshot.context(pod);
    let Ok(trace) = cycle::diagnose(&context, snapshot, registry, Depth::First) else { return false };
    let here = trace.nodes.iter().find(|node| node.id == ledger.id);
    trace.pre_filter_rejections.is_empty() && here.is_some_and(|node| node.rejections.is_empty())
}
