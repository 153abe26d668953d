//! Plans in which several things go wrong, one after the other: what a fault at one write of a flow does not bring about. Each is
//! what it takes to see one of the bugs in `tests/bugs`.

use super::api::Stream;
use super::faults::{Blow, Strike};
use super::plans::{Flow, Of};
use super::sim::Sim;
use common::model::{Pod, Reservation};
use std::sync::Arc;
use std::time::Duration;

pub(super) const SCENES: [Flow; 3] = [
    Flow { name: "taken when its time is over", owner: Of::ReplicaSets, is_kept: false, deed: outlive },
    Flow { name: "made anew while released", owner: Of::Deployment, is_kept: false, deed: release_again },
    Flow { name: "extended while released", owner: Of::Deployment, is_kept: false, deed: release_extended },
];

/// How long news stay away after the time of a reservation is over.
const LATE: Duration = Duration::from_secs(10);
/// How soon what is to happen has happened.
const SOON: Duration = Duration::from_secs(2);

/// Whoever decides does not hear that the seat which a pod took was released, and so believes that its time ends while
/// the pod sits in it. If that room counted as free it would make up for what is kept for the neighbour.
fn outlive(sim: &mut Sim, pod: &Arc<Pod>) {
    let is_next_door = |other: &&Arc<Pod>| other.node == pod.node && other.uid != pod.uid;
    let neighbour = sim.api.picture.pods.values().find(is_next_door).cloned();
    let (Some(neighbour), Some(end)) = (neighbour, abandoned(sim, pod, true)) else {
        return sim.api.rules.break_("plan", "nobody lives next door");
    };
    abandoned(sim, &neighbour, false);
    for daemon in &mut sim.daemons {
        daemon.streams[Stream::Nodes as usize].frozen = end + LATE;
    }
    let seat = kept(sim, pod).map(|kept| kept.id.to_string());
    leave(sim, pod);
    sim.run_until(end + SOON);
    let has_it = |other: &Arc<Pod>| seat.is_some() && other.stamp.as_deref() == seat.as_deref();
    if !sim.api.picture.pods.values().any(has_it) {
        sim.api.rules.break_("plan", "nobody has taken the room when its time is over");
    }
    leave(sim, &neighbour);
    sim.run_until(end + LATE);
}

/// Somebody deletes a pod without any grace: one that is on its way out would have its reservation extended.
fn leave(sim: &mut Sim, pod: &Pod) {
    sim.api.note(format_args!("somebody deletes {} at once", pod.key));
    sim.api.remove_pod(&pod.uid);
}

/// The answer to a release is lost. Before it is tried again somebody recreates the pod, which keeps the same room under the
/// same name.
fn release_again(sim: &mut Sim, pod: &Arc<Pod>) {
    let Some(end) = abandoned(sim, pod, true) else { return };
    let nth = sim.scenario.daemon_writes + 1;
    sim.strike = Some(Strike { is_command: false, nth, blow: Blow::Lost });
    while kept(sim, pod).is_some() && sim.api.now < end + SOON {
        sim.run_until(sim.api.now + Duration::from_millis(1));
    }
    if kept(sim, pod).is_some() {
        sim.api.rules.break_("plan", "what is over is not released");
    }
    sim.recreate_that(pod);
}

/// Whoever leads hears neither that a reservation was extended, nor that the pod is gone whose room it keeps. By what it knows
/// the time of the reservation is over: it releases it.
fn release_extended(sim: &mut Sim, pod: &Arc<Pod>) {
    let Some(end) = abandoned(sim, pod, true) else { return };
    let Some((node, seat)) = pod.node.clone().zip(kept(sim, pod)) else { return };
    sim.run_until(end.saturating_sub(SOON));
    for daemon in &mut sim.daemons {
        for stream in [Stream::Nodes, Stream::Pods] {
            daemon.streams[stream as usize].frozen = end + LATE;
        }
    }
    let until = sim.api.wall() + Duration::from_secs(120);
    sim.extend(&node, &seat.id, until);
    leave(sim, pod);
    sim.run_until(end + LATE);
}

/// A run of the command keeps the room of a pod, for a short time or a long one, and dies before it evicts it. When that time
/// is over.
fn abandoned(sim: &mut Sim, pod: &Arc<Pod>, is_hasty: bool) -> Option<Duration> {
    let nth = sim.scenario.command_writes + 1;
    sim.strike = Some(Strike { is_command: true, nth, blow: Blow::Crash });
    sim.scenario.is_hasty = is_hasty;
    sim.recreate_that(pod);
    sim.scenario.is_hasty = false;
    sim.run_until(sim.api.now + SOON);
    let left = kept(sim, pod).and_then(|kept| kept.expires()?.duration_since(sim.api.wall()).try_into().ok());
    let end = left.map(|left: Duration| sim.api.now + left);
    if end.is_none() {
        sim.api.rules.break_("plan", "no room is kept");
    }
    end
}

/// What is kept for whoever replaces a pod.
fn kept(sim: &Sim, pod: &Pod) -> Option<Arc<Reservation>> {
    let node = sim.api.picture.nodes.get(pod.node.as_ref()?)?;
    let mut valid = node.reservations.iter().filter_map(|one| one.valid());
    valid.find(|one| one.replaces().is_some_and(|replaced| replaced.uid == pod.uid)).cloned()
}
