//! How much the pods of each namespace request on nodes, and the most that they requested in the last hour.
//!
//! What is reserved for a namespace without anybody asking by hand never exceeds that: a pod that is deleted leaves its
//! ResourceQuota while its place is kept, so that a tenant could otherwise reserve many times what it may request.

use super::Cluster;
use super::automatic::NotKept;
use super::ledger::State;
use super::replacing::later;
use super::seats::automatic_of;
use crate::model::ids::Text;
use crate::model::{Pod, Reservation, Resources};
use jiff::Timestamp;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// For how long it counts what a namespace requested: no place is kept for longer.
const WINDOW: Duration = Duration::from_secs(60 * 60);

/// What was requested within so long of each other is remembered together.
const BUCKET: i64 = 5 * 60;

/// After so many changes namespaces are forgotten that have no pods any more.
const FORGET_EVERY: u32 = 1024;

/// More than this of anything counts as this much, so that sums can be taken apart again.
const EACH_MAX: i64 = 1 << 44;

/// What each namespace requests.
#[derive(Debug, Default)]
pub(super) struct Usage {
    by_namespace: BTreeMap<Text, Requested>,
    /// Whether what was requested before the first list was taken into account.
    is_seeded: bool,
    changes: u32,
}

#[derive(Debug, Default)]
struct Requested {
    now: Resources,
    /// What was requested before it became less, the newest last: until when, and the most of each resource.
    peaks: VecDeque<(Timestamp, Resources)>,
}

impl Usage {
    /// The pod is now as `new` instead of `old`, at `now`. Only pods that take room on a node count, and not those that a kubelet
    /// may be about to refuse: they cost nothing, and could request anything.
    pub(super) fn change(&mut self, old: Option<&Pod>, new: Option<&Pod>, now: Timestamp) {
        let counts = |pod: &&Pod| pod.is_counted() && pod.is_admitted();
        let (old, new) = (old.filter(counts), new.filter(counts));
        if let (Some(old), Some(new)) = (old, new)
            && old.spec.requests == new.spec.requests
        {
            return;
        }
        if let Some(pod) = old
            && let Some(requested) = self.by_namespace.get_mut(&pod.key.namespace)
        {
            requested.note(now, &requested.now.clone());
            requested.now.sub_assign(&bounded(pod.spec.requests.counted()));
        }
        if let Some(pod) = new {
            let requested = self.by_namespace.entry(pod.key.namespace.clone()).or_default();
            requested.now.add_assign(&bounded(pod.spec.requests.counted()));
        }
        self.changes = self.changes.wrapping_add(1);
        if self.changes.is_multiple_of(FORGET_EVERY) {
            self.by_namespace.retain(|_, requested| !requested.is_over(now));
        }
    }

    /// The most of each resource that pods of `namespace` requested at once in the hour before `now`.
    fn most(&self, namespace: &Text, now: Timestamp) -> Resources {
        let Some(requested) = self.by_namespace.get(namespace) else { return Resources::default() };
        let peaks = requested.peaks.iter().filter(|(at, _)| later(*at, WINDOW) >= now);
        peaks.fold(requested.now.clone(), |most, (_, peak)| most.max_each(peak))
    }
}

impl Requested {
    /// So much was requested until `now`.
    fn note(&mut self, now: Timestamp, amount: &Resources) {
        self.peaks.retain(|(at, _)| later(*at, WINDOW) >= now);
        match self.peaks.back_mut() {
            Some((at, peak)) if at.as_second() / BUCKET == now.as_second() / BUCKET => {
                *peak = peak.max_each(amount);
                *at = now;
            }
            _ => self.peaks.push_back((now, amount.clone())),
        }
    }

    fn is_over(&self, now: Timestamp) -> bool {
        self.now.is_zero() && self.peaks.iter().all(|(at, _)| later(*at, WINDOW) < now)
    }
}

impl Cluster {
    /// Everything was listed once: what is reserved by then for pods that are gone was requested by them before.
    pub(super) fn seed_usage(&mut self) {
        if self.usage.is_seeded || !self.is_complete() {
            return;
        }
        self.usage.is_seeded = true;
        let mut gone: BTreeMap<Text, Resources> = BTreeMap::new();
        for entry in self.nodes.iter().flat_map(|ledger| &ledger.entries) {
            let is_gone = matches!(entry.state, State::Held | State::Short);
            if let Some(namespace) = automatic_of(&entry.reservation).filter(|_| is_gone) {
                gone.entry(namespace.clone()).or_default().add_assign(&bounded(&entry.reservation.amount));
            }
        }
        for (namespace, reserved) in gone {
            let requested = self.usage.by_namespace.entry(namespace).or_default();
            let before = requested.now.plus(&reserved);
            requested.note(self.now, &before);
        }
    }

    /// Whether `reservation` can be made without anybody asking by hand: together with the others of its namespace it must not
    /// exceed what the pods there requested at most in the last hour, nor a ResourceQuota.
    pub(super) fn check_usage(&self, reservation: &Reservation, is_counted: bool) -> Result<(), NotKept> {
        let Some(record) = reservation.record() else { return Ok(()) };
        let namespace = &record.owner.namespace;
        let mut reserved = self.seats.automatic_amount(namespace).cloned().unwrap_or_default();
        if !is_counted {
            reserved.add_assign(&bounded(&reservation.amount));
        }
        let most = self.usage.most(namespace, self.now);
        for (resource, _) in reservation.amount.iter() {
            if reserved.get(&resource) > most.get(&resource) {
                return Err(NotKept::OverUsage(resource.to_string().into()));
            }
            let quotas = self.catalog.quotas.within(namespace).flat_map(|quota| &quota.hard);
            let mut hard = quotas.filter(|(limited, _)| *limited == resource);
            if hard.any(|(_, hard)| reserved.get(&resource) > *hard) {
                return Err(NotKept::OverQuota(resource.to_string().into()));
            }
        }
        Ok(())
    }
}

/// The same, and of nothing more than can be summed up.
pub(super) fn bounded(amount: &Resources) -> Resources {
    let mut bounded = Resources::default();
    amount.iter().for_each(|(resource, amount)| bounded.set(resource, amount.clamp(0, EACH_MAX)));
    bounded
}
