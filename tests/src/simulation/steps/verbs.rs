//! What people do with the verbs of the command that are one look and one write: `kubectl reserve extend` and `add`. And what a
//! tenant writes who would like to be taken for a replica of the daemon.

use super::api::Who;
use super::sim::Sim;
use common::api::names;
use common::api::replica::{DaemonNamespaces, believed, lease, lease_name};
use common::api::reservation::encode;
use common::api::reservation::patch::{Seen, keys_of, patch, reservation_of};
use common::cluster::{Terms as Made, replacing};
use common::model::object::Meta;
use common::model::pod::Phase;
use common::model::reservation::{Origin, Placement, Seat};
use common::model::{NodeName, Pod, Replica, Reservation, ReservationId};
use jiff::Timestamp;
use kubectl_reserve::flow::keep::reserved;
use std::sync::Arc;
use std::time::Duration;

/// How long people let reservations live, in seconds.
const LIVES: [u64; 4] = [15, 60, 240, 600];

impl Sim {
    /// Somebody extends a reservation that is there.
    pub(super) fn extend_some(&mut self) {
        let now = self.api.wall();
        let nodes = self.api.picture.nodes.values();
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

    /// Somebody lets a reservation live until then, if it is there and would end sooner.
    pub(super) fn extend(&mut self, node: &NodeName, id: &ReservationId, until: Timestamp) {
        let Ok(sent) = self.api.read_node(node) else { return };
        let keys = keys_of(&sent.annotations, id);
        let Some(mut found) = reservation_of(&keys) else { return };
        let Origin::Recorded(record) = &mut found.origin else { return };
        if record.expires >= until || record.expires <= self.api.wall() {
            return;
        }
        record.expires = until;
        let Ok(new) = encode(&found) else { return };
        let seen = Seen { uid: &sent.uid, version: &sent.version, annotations: &sent.annotations };
        let patch = patch(&seen, &keys, &new, false);
        self.api.note(format_args!("somebody extends {id} on {node}"));
        let _ = self.api.patch_node(Who::Other, node, &patch);
    }

    /// Somebody reserves without recreating anything: the room of a pod that runs, or more room for an owner somewhere.
    pub(super) fn add_some(&mut self) {
        let is_fit = |pod: &Pod| {
            pod.is_counted()
                && pod.phase == Phase::Running
                && !pod.deleting
                && &*pod.spec.scheduler_name == names::SCHEDULER_NAME
        };
        let Some(pod) = self.some_pod(is_fit) else { return };
        let Some(mut reservation) = self.wanted_for(&pod) else { return };
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
        let Ok(sent) = self.api.read_node(&node) else { return };
        // What is there is left alone.
        let keys = keys_of(&sent.annotations, &reservation.id);
        if reservation_of(&keys).is_some_and(|found| found.is_live(self.api.wall())) {
            return;
        }
        let seen = Seen { uid: &sent.uid, version: &sent.version, annotations: &sent.annotations };
        if let Ok((Some(patch), _)) = reserved(&seen, &sent.uid, &reservation) {
            self.api.note(format_args!("somebody adds {} on {node}", reservation.id));
            let _ = self.api.patch_node(Who::Other, &node, &patch);
        }
    }

    /// A tenant writes a Lease like a replica's, in the tenant's own namespace. Whoever believes it, by the functions that the
    /// daemon and the command read Leases with, waits for it, or takes its word.
    pub(super) fn forge_lease(&mut self) {
        let seen = if self.rng.bool() { 0 } else { u64::MAX };
        let replica = Replica {
            meta: Meta {
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
            renewed: Some(self.api.wall()),
            duration: Duration::from_secs(60),
            version: "forged".into(),
            is_restricted: false,
        };
        let json = lease(&replica).to_string();
        self.api.note(format_args!("a tenant forges a Lease that has seen {seen}"));
        if believed(&json, &DaemonNamespaces::default()).is_ok() {
            self.api.put_replica(replica);
        }
    }

    fn wanted_for(&mut self, pod: &Arc<Pod>) -> Option<Reservation> {
        let (now, owner) = (self.api.wall(), self.owner_of(pod)?);
        let life = Duration::from_secs(LIVES[self.rng.usize(0..LIVES.len())]);
        let made = Made {
            now,
            expires: now + life,
            life: Some(life),
            request: format!("add-{}", self.api.number()).into(),
            by: "somebody".into(),
            reason: "a test".into(),
            placement: [Placement::Prefer, Placement::Require][self.rng.usize(0..2)],
        };
        replacing(pod, owner, made)
    }
}
