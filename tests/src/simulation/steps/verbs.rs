//! The verbs of the command that are one read and one write: `kubectl reserve extend` and `add`. Also the forged Lease of a tenant.

use super::api::Actor;
use super::sim::Sim;
use common::api::names;
use common::api::replica::{DaemonNamespaces, lease, lease_name, trusted_replica};
use common::api::reservation::encode;
use common::api::reservation::patch::{ObservedNode, keys_of, patch, reservation_of};
use common::cluster::{ReservationTerms, replacement_reservation};
use common::model::object::ObjectMeta;
use common::model::pod::Phase;
use common::model::reservation::{Origin, Placement, Seat};
use common::model::{NodeName, Pod, Replica, Reservation, ReservationId};
use jiff::Timestamp;
use kubectl_reserve::flow::keep::reserve_patch;
use std::sync::Arc;
use std::time::Duration;

/// Lifetimes of reservations that users choose, in seconds.
const LIVES: [u64; 4] = [15, 60, 240, 600];

impl Sim {
    /// A user extends a random live reservation.
    pub(super) fn extend_some(&mut self) {
        let now = self.api.wall();
        let nodes = self.api.state.nodes.values();
        let all = nodes.flat_map(|node| node.reservations.iter().map(move |one| (&node.name, one)));
        let live = all.filter_map(|(node, one)| Some((node, one.valid()?)));
        let live = live.filter(|(_, one)| one.record().is_some() && one.is_live(now));
        let live: Vec<(NodeName, ReservationId)> =
            live.map(|(node, one)| (node.clone(), one.id.clone())).collect();
        if live.is_empty() {
            return;
        }
        let (node, id) = live[self.rng.usize(0..live.len())].clone();
        let until = now + Duration::from_secs(LIVES[self.rng.usize(0..LIVES.len())]);
        self.extend(&node, &id, until);
    }

    /// A user extends a reservation to `until`, if it is live and ends earlier.
    pub(super) fn extend(&mut self, node: &NodeName, id: &ReservationId, until: Timestamp) {
        let Ok(snapshot) = self.api.read_node(node) else { return };
        let keys = keys_of(&snapshot.annotations, id);
        let Some(mut found) = reservation_of(&keys) else { return };
        let Origin::Recorded(record) = &mut found.origin else { return };
        if record.expires >= until || record.expires <= self.api.wall() {
            return;
        }
        record.expires = until;
        let Ok(new) = encode(&found) else { return };
        let seen = ObservedNode {
            uid: &snapshot.uid,
            version: &snapshot.version,
            annotations: &snapshot.annotations,
        };
        let patch = patch(&seen, &keys, &new, false);
        self.api.note(format_args!("somebody extends {id} on {node}"));
        let _ = self.api.patch_node(Actor::Other, node, &patch);
    }

    /// A user adds a reservation: for the room of a running pod, or for more room of an owner on a random node.
    pub(super) fn add_some(&mut self) {
        let is_fit = |pod: &Pod| {
            pod.is_counted()
                && pod.phase == Phase::Running
                && !pod.deleting
                && &*pod.spec.scheduler_name == names::SCHEDULER_NAME
        };
        let Some(pod) = self.some_pod(is_fit) else { return };
        let Some(mut reservation) = self.new_reservation_for(&pod) else { return };
        let mut node = pod.node.clone();
        if self.rng.bool() {
            let seat = Seat::parse(&format!("add{:x}", self.api.number()));
            reservation.id.seat = seat;
            if let Origin::Recorded(record) = &mut reservation.origin {
                record.replaces = None;
            }
            node = self.some_node().map(|node| node.name.clone());
        }
        let Some(node) = node else { return };
        let Ok(snapshot) = self.api.read_node(&node) else { return };
        // A live reservation with the same id is left alone.
        let keys = keys_of(&snapshot.annotations, &reservation.id);
        if reservation_of(&keys).is_some_and(|found| found.is_live(self.api.wall())) {
            return;
        }
        let seen = ObservedNode {
            uid: &snapshot.uid,
            version: &snapshot.version,
            annotations: &snapshot.annotations,
        };
        if let Ok((Some(patch), _)) = reserve_patch(&seen, &snapshot.uid, &reservation, self.api.wall()) {
            self.api.note(format_args!("somebody adds {} on {node}", reservation.id));
            let _ = self.api.patch_node(Actor::Other, &node, &patch);
        }
    }

    /// A tenant writes a Lease like a replica's in the tenant's own namespace. If the function by which the daemon and the command
    /// read Leases trusts it, it counts as a replica.
    pub(super) fn forge_lease(&mut self) {
        let seen = if self.rng.bool() { 0 } else { u64::MAX };
        let replica = Replica {
            meta: ObjectMeta {
                namespace: "tenant".into(),
                name: lease_name("evil").into(),
                uid: "evil".into(),
                resource_version: 0,
                is_deleting: false,
            },
            name: "evil".into(),
            seen_nodes: seen,
            seen_pods: seen,
            schedulers: Box::new([names::SCHEDULER_NAME.into(), names::DEFAULT_SCHEDULER_NAME.into()]),
            extends: Box::default(),
            renew_time: Some(self.api.wall()),
            duration: Duration::from_secs(60),
            version: "forged".into(),
            is_restricted: false,
        };
        let json = lease(&replica).to_string();
        self.api.note(format_args!("a tenant forges a Lease that has seen {seen}"));
        if trusted_replica(&json, &DaemonNamespaces::default()).is_ok() {
            self.api.put_replica(replica);
        }
    }

    fn new_reservation_for(&mut self, pod: &Arc<Pod>) -> Option<Reservation> {
        let (now, owner) = (self.api.wall(), self.owner_of(pod)?);
        let life = Duration::from_secs(LIVES[self.rng.usize(0..LIVES.len())]);
        let made = ReservationTerms {
            now,
            expires: now + life,
            life: Some(life),
            request: format!("add-{}", self.api.number()).into(),
            by: "somebody".into(),
            reason: "a test".into(),
            placement: [Placement::Prefer, Placement::Require][self.rng.usize(0..2)],
        };
        replacement_reservation(pod, owner, made)
    }
}
