//! How much the pods of each namespace request on nodes now, and the maximum of the last hour.
//!
//! The automatic reservations of a namespace together never exceed that maximum. A deleted pod no longer counts for its
//! ResourceQuota while its reservation remains, so a tenant could otherwise reserve many times what it may request.

use crate::cluster::Cluster;
use crate::cluster::reservations::index::automatic_of;
use crate::cluster::reservations::replacement::later;
use crate::cluster::{NotReservedReason, ReservationState};
use crate::model::{Pod, Reservation, Resources, Text};
use jiff::Timestamp;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// How long a former request counts. No reservation lasts longer after its pod is gone.
const WINDOW: Duration = Duration::from_secs(60 * 60);

/// Peaks within one period of so many seconds are stored as one.
const BUCKET: i64 = 5 * 60;

/// After so many changes, namespaces without pods are forgotten.
const FORGET_EVERY: u32 = 1024;

/// A larger amount of a resource counts as this much, so that no sum saturates and amounts can be subtracted again.
const EACH_MAX: i64 = 1 << 44;

#[derive(Debug, Default)]
pub(in crate::cluster) struct NamespaceRequests {
    by_namespace: BTreeMap<Text, RequestHistory>,
    is_seeded: bool,
    changes: u32,
}

#[derive(Debug, Default)]
struct RequestHistory {
    now: Resources,
    /// Former requests that were higher, the newest last: until when, and the maximum of each resource.
    peaks: VecDeque<(Timestamp, Resources)>,
}

impl NamespaceRequests {
    /// A pod changed from `old` to `new` at `now`. Only pods that are counted on a node count here, and not those that a kubelet
    /// may still refuse: they cost a tenant nothing, and could request anything.
    pub(in crate::cluster) fn change(&mut self, old: Option<&Pod>, new: Option<&Pod>, now: Timestamp) {
        let counts = |pod: &&Pod| pod.is_counted() && pod.is_admitted();
        let (old, new) = (old.filter(counts), new.filter(counts));
        if let (Some(old), Some(new)) = (old, new)
            && old.spec.requests == new.spec.requests
        {
            return;
        }
        if let Some(pod) = old
            && let Some(history) = self.by_namespace.get_mut(&pod.key.namespace)
        {
            history.note(now, &history.now.clone());
            history.now.sub_assign(&bounded(pod.spec.requests.counted()));
        }
        if let Some(pod) = new {
            let history = self.by_namespace.entry(pod.key.namespace.clone()).or_default();
            history.now.add_assign(&bounded(pod.spec.requests.counted()));
        }
        self.changes = self.changes.wrapping_add(1);
        if self.changes.is_multiple_of(FORGET_EVERY) {
            self.by_namespace.retain(|_, history| !history.is_over(now));
        }
    }

    /// The maximum of each resource that the pods of `namespace` requested at the same time in the hour before `now`.
    fn most(&self, namespace: &Text, now: Timestamp) -> Resources {
        let Some(history) = self.by_namespace.get(namespace) else { return Resources::default() };
        let peaks = history.peaks.iter().filter(|(at, _)| later(*at, WINDOW) >= now);
        peaks.fold(history.now.clone(), |most, (_, peak)| most.max_each(peak))
    }
}

impl RequestHistory {
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
    /// Runs once, when every kind was listed: the reservations of pods that are gone count as requests of those pods, because the
    /// belief has not seen these pods.
    pub(in crate::cluster) fn seed_namespace_requests(&mut self) {
        if self.namespace_requests.is_seeded || !self.is_complete() {
            return;
        }
        self.namespace_requests.is_seeded = true;
        let mut gone: BTreeMap<Text, Resources> = BTreeMap::new();
        for entry in self.nodes.iter().flat_map(|ledger| &ledger.entries) {
            let is_gone = matches!(entry.state, ReservationState::Held | ReservationState::Short);
            if let Some(namespace) = automatic_of(&entry.reservation).filter(|_| is_gone) {
                gone.entry(namespace.clone()).or_default().add_assign(&bounded(&entry.reservation.amount));
            }
        }
        for (namespace, reserved) in gone {
            let history = self.namespace_requests.by_namespace.entry(namespace).or_default();
            let before = history.now.plus(&reserved);
            history.note(self.now, &before);
        }
    }

    /// Checks an automatic reservation against the limits of its namespace: all of them together must exceed neither the maximum of
    /// what the pods requested in the last hour, nor a ResourceQuota. `is_counted` says whether the index has `reservation`
    /// already.
    pub(in crate::cluster) fn check_namespace_limits(
        &self,
        reservation: &Reservation,
        is_counted: bool,
    ) -> Result<(), NotReservedReason> {
        let Some(record) = reservation.record() else { return Ok(()) };
        let namespace = &record.owner.namespace;
        let mut reserved = self.reservation_index.automatic_amount(namespace).cloned().unwrap_or_default();
        if !is_counted {
            reserved.add_assign(&bounded(&reservation.amount));
        }
        let most = self.namespace_requests.most(namespace, self.now);
        for (resource, _) in reservation.amount.iter() {
            if reserved.get(&resource) > most.get(&resource) {
                return Err(NotReservedReason::OverUsage(resource.to_string().into()));
            }
            let quotas = self.catalog.quotas.within(namespace).flat_map(|quota| &quota.hard);
            let mut hard = quotas.filter(|(limited, _)| *limited == resource);
            if hard.any(|(_, hard)| reserved.get(&resource) > *hard) {
                return Err(NotReservedReason::OverQuota(resource.to_string().into()));
            }
        }
        Ok(())
    }
}

pub(in crate::cluster) fn bounded(amount: &Resources) -> Resources {
    let mut bounded = Resources::default();
    amount.iter().for_each(|(resource, amount)| bounded.set(resource, amount.clamp(0, EACH_MAX)));
    bounded
}
