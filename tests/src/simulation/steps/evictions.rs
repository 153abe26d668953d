//! I2 and I4: the checks at an eviction by the command.

use super::api::Actor;
use super::rules::RuleChecker;
use crate::history::cluster_state::ClusterState;
use crate::history::{Counts, evictions};
use common::model::{Pod, Uid};

/// Revisions in the life of a reservation.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReservationRevisions {
    /// When it was made.
    pub(super) made: u64,
    /// When it got its current request (`request` in its record).
    pub(super) owned: u64,
}

/// The removal of a reservation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Removal {
    /// The revision of the removal.
    pub(super) at: u64,
    pub(super) by: Actor,
    /// The revision at which the reservation got its last request.
    pub(super) owned: u64,
    /// Whether it had expired.
    pub(super) is_over: bool,
}

/// The revisions of the last reads of a run of the command before it evicts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LookRevisions {
    /// The read that showed that the room is reserved.
    pub(super) room: u64,
    /// Whether that was an event of the daemon, which makes the reservation again if it is removed.
    pub(super) is_event: bool,
    /// The read of the pod.
    pub(super) pod: u64,
}

impl RuleChecker {
    /// A run of the command evicts a pod after these reads. `replicas` are the live replicas with the revision of nodes that each
    /// has seen.
    pub(super) fn check_eviction(
        &mut self,
        state: &ClusterState,
        who: Actor,
        pod: &Pod,
        (is_kept, looks): (bool, LookRevisions),
        replicas: &[(String, u64)],
    ) {
        self.counts.check("I19");
        if self.evicted.insert(pod.uid.clone(), who).is_some() {
            self.break_("I19", &format!("{} was evicted twice", pod.key));
        }
        let ask = if is_kept { Counts::check } else { Counts::skip };
        ["I2", "I4"].into_iter().for_each(|rule| ask(&mut self.counts, rule));
        if !is_kept {
            return;
        }
        let Some((node, found)) = evictions::reserved_for(state, pod) else {
            if self.could_not_see_removal(&pod.uid, looks) {
                return self.counts.excuse("I2");
            }
            return self.break_("I2", &format!("{} was evicted, and its room is not reserved", pod.key));
        };
        let key = (node.name.clone(), found.id.to_string());
        let since = self.reservations.get(&key).map_or(u64::MAX, |since| since.made);
        // The reservation that the run had seen was removed since, and another one was made.
        if since > looks.room && self.could_not_see_removal(&pod.uid, looks) {
            return self.counts.excuse("I2");
        }
        for (replica, _) in replicas.iter().filter(|(_, seen)| *seen < since) {
            let what = format!("{} was evicted before {replica} had seen its reservation", pod.key);
            self.break_("I4", &what);
        }
    }

    /// Whether the reservation was removed in a way that the last reads could not have shown: another program removed it since;
    /// another run took it over only after that read, or removed it after the daemon's event; it expired; another run removed
    /// `reserve/keep`, and the daemon released the reservation.
    fn could_not_see_removal(&self, pod: &Uid, looks: LookRevisions) -> bool {
        self.removals.get(pod).is_some_and(|removed| match removed.by {
            Actor::Other => removed.at > looks.room,
            Actor::Command(_) => removed.owned > looks.room || looks.is_event && removed.at > looks.room,
            Actor::Daemon(..) => {
                removed.is_over || self.keep_removals.get(pod).is_some_and(|at| *at > looks.pod)
            }
        })
    }
}
