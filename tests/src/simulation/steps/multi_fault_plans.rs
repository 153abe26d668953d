//! Plans with several faults, one after the other: what a single fault at one write of a flow does not cause. Each finds one of the
//! bugs in `tests/bugs`.

use super::api::Stream;
use super::faults::{FaultKind, PlannedFault};
use super::plans::{Flow, OwnerType};
use super::sim::Sim;
use common::model::{Pod, Reservation};
use std::sync::Arc;
use std::time::Duration;

pub(super) const MULTI_FAULT_PLANS: [Flow; 3] = [
    Flow {
        name: "taken when its time is over",
        owner: OwnerType::ReplicaSets,
        is_kept: false,
        activity: end_while_taken,
    },
    Flow {
        name: "made anew while released",
        owner: OwnerType::Deployment,
        is_kept: false,
        activity: release_then_recreate,
    },
    Flow {
        name: "extended while released",
        owner: OwnerType::Deployment,
        is_kept: false,
        activity: release_extended,
    },
];

/// How long watches deliver nothing after the end of a reservation.
const LATE: Duration = Duration::from_secs(10);
/// How long the expected effects of an action take at most.
const SOON: Duration = Duration::from_secs(2);

/// The daemon that decides does not see that a seat with a pod in it was released, so for it the reservation ends while the pod is
/// in the seat. If that room counted as free, it would compensate the room that is reserved for the neighbour.
fn end_while_taken(sim: &mut Sim, pod: &Arc<Pod>) {
    let is_neighbour = |other: &&Arc<Pod>| other.node == pod.node && other.uid != pod.uid;
    let neighbour = sim.api.state.pods.values().find(is_neighbour).cloned();
    let (Some(neighbour), Some(end)) = (neighbour, abandoned_reservation(sim, pod, true)) else {
        return sim.api.rules.break_("plan", "nobody lives next door");
    };
    abandoned_reservation(sim, &neighbour, false);
    for daemon in &mut sim.daemons {
        daemon.streams[Stream::Nodes as usize].frozen = end + LATE;
    }
    let seat = reservation_for(sim, pod).map(|kept| kept.id.to_string());
    delete_at_once(sim, pod);
    sim.run_until(end + SOON);
    let has_it = |other: &Arc<Pod>| seat.is_some() && other.stamp.as_deref() == seat.as_deref();
    if !sim.api.state.pods.values().any(has_it) {
        sim.api.rules.break_("plan", "nobody has taken the room when its time is over");
    }
    delete_at_once(sim, &neighbour);
    sim.run_until(end + LATE);
}

/// A user deletes a pod without a grace period: the reservation of a terminating pod would be extended.
fn delete_at_once(sim: &mut Sim, pod: &Pod) {
    sim.api.note(format_args!("somebody deletes {} at once", pod.key));
    sim.api.remove_pod(&pod.uid);
}

/// The answer to a release is lost. Before the release is tried again, a user recreates the pod, which makes a reservation with the
/// same key.
fn release_then_recreate(sim: &mut Sim, pod: &Arc<Pod>) {
    let Some(end) = abandoned_reservation(sim, pod, true) else { return };
    let nth = sim.scenario.daemon_writes + 1;
    sim.planned_fault = Some(PlannedFault { is_command: false, nth, kind: FaultKind::Lost });
    while reservation_for(sim, pod).is_some() && sim.api.now < end + SOON {
        sim.run_until(sim.api.now + Duration::from_millis(1));
    }
    if reservation_for(sim, pod).is_some() {
        sim.api.rules.break_("plan", "what is over is not released");
    }
    sim.recreate_pod(pod);
}

/// The leader sees neither that a reservation was extended nor that the replaced pod is gone. By what it knows the reservation has
/// expired, so it releases it.
fn release_extended(sim: &mut Sim, pod: &Arc<Pod>) {
    let Some(end) = abandoned_reservation(sim, pod, true) else { return };
    let Some((node, seat)) = pod.node.clone().zip(reservation_for(sim, pod)) else { return };
    sim.run_until(end.saturating_sub(SOON));
    for daemon in &mut sim.daemons {
        for stream in [Stream::Nodes, Stream::Pods] {
            daemon.streams[stream as usize].frozen = end + LATE;
        }
    }
    let until = sim.api.wall() + Duration::from_secs(120);
    sim.extend(&node, &seat.id, until);
    delete_at_once(sim, pod);
    sim.run_until(end + LATE);
}

/// A run of the command reserves the room of a pod, for a short or a long time, and dies before it evicts the pod. Returns the end
/// of the reservation.
fn abandoned_reservation(sim: &mut Sim, pod: &Arc<Pod>, is_short: bool) -> Option<Duration> {
    let nth = sim.scenario.command_writes + 1;
    sim.planned_fault = Some(PlannedFault { is_command: true, nth, kind: FaultKind::Crash });
    sim.scenario.has_short_reservations = is_short;
    sim.recreate_pod(pod);
    sim.scenario.has_short_reservations = false;
    sim.run_until(sim.api.now + SOON);
    let left = reservation_for(sim, pod)
        .and_then(|kept| kept.expires()?.duration_since(sim.api.wall()).try_into().ok());
    let end = left.map(|left: Duration| sim.api.now + left);
    if end.is_none() {
        sim.api.rules.break_("plan", "no room is kept");
    }
    end
}

/// The reservation on the pod's node that replaces the pod.
fn reservation_for(sim: &Sim, pod: &Pod) -> Option<Arc<Reservation>> {
    let node = sim.api.state.nodes.get(pod.node.as_ref()?)?;
    let mut valid = node.reservations.iter().filter_map(|one| one.valid());
    valid.find(|one| one.replaces().is_some_and(|replaced| replaced.uid == pod.uid)).cloned()
}
