//! I2 and I4: what must be so when the command evicts a pod.

use super::api::Who;
use super::rules::Rules;
use crate::history::picture::Picture;
use crate::history::{Counts, evictions};
use common::model::{Pod, Uid};

/// Since when a reservation is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Since {
    /// It was made.
    pub(super) made: u64,
    /// It belongs to the request that it belongs to.
    pub(super) owned: u64,
}

/// How a reservation went.
#[derive(Clone, Copy, Debug)]
pub(super) struct Removed {
    pub(super) at: u64,
    pub(super) by: Who,
    /// Since when it belonged to the request that it belonged to.
    pub(super) owned: u64,
    /// Whether its time was over.
    pub(super) is_over: bool,
}

/// Up to which revision a run of the command had seen what it could, when it decided to evict.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Looks {
    /// That the room is reserved.
    pub(super) room: u64,
    /// Whether that is the daemon's word, which makes it again whoever removes it.
    pub(super) is_word: bool,
    /// How the pod is.
    pub(super) pod: u64,
}

impl Rules {
    /// A run of the command evicts a pod after these looks. `replicas` are those that count, and what they have seen of
    /// nodes.
    pub(super) fn evicted(
        &mut self,
        picture: &Picture,
        who: Who,
        pod: &Pod,
        (is_kept, looks): (bool, Looks),
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
        let Some((node, found)) = evictions::reserved_for(picture, pod) else {
            if self.is_beyond_help(&pod.uid, looks) {
                return self.counts.excuse("I2");
            }
            return self.break_("I2", &format!("{} was evicted, and its room is not reserved", pod.key));
        };
        let key = (node.name.clone(), found.id.to_string());
        let since = self.since.get(&key).map_or(u64::MAX, |since| since.made);
        // The one that was looked at went since, and somebody made another one.
        if since > looks.room && self.is_beyond_help(&pod.uid, looks) {
            return self.counts.excuse("I2");
        }
        for (replica, _) in replicas.iter().filter(|(_, seen)| *seen < since) {
            let what = format!("{} was evicted before {replica} had seen its reservation", pod.key);
            self.break_("I4", &what);
        }
    }

    /// Whether the reservation went by something that the last look could not have shown: others removed it since; another run
    /// that took it back had not even taken it over, or did so after the daemon gave its word; its time ran out; another run took
    /// the wish back, and the daemon released it.
    fn is_beyond_help(&self, pod: &Uid, looks: Looks) -> bool {
        self.removed.get(pod).is_some_and(|removed| match removed.by {
            Who::Other => removed.at > looks.room,
            Who::Command(_) => removed.owned > looks.room || looks.is_word && removed.at > looks.room,
            Who::Daemon(..) => removed.is_over || self.unwished.get(pod).is_some_and(|at| *at > looks.pod),
        })
    }
}
