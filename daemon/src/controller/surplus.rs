//! Which held reservations nobody needs: an owner that lacks two pods needs two. Entry point: [`unneeded`].

use common::cluster::{Cluster, Ledger, NodeId, ReservationState};
use common::model::{NodeName, PodKey, Record, Reservation, ReservationId};
use std::cmp::Reverse;

/// Whether the release of a reservation was sent and is not seen yet.
pub(super) type IsReleasing<'w> = &'w dyn Fn(&NodeName, &ReservationId) -> bool;

struct HeldReservation<'c> {
    ledger: &'c Ledger,
    reservation: &'c Reservation,
    record: &'c Record,
}

/// The held reservations of an owner that exceed the number of pods that it lacks.
///
/// Those that are being released are counted first: a release that is not seen yet must not lead to the release of another one.
/// Then those that no node has yet: their write can fail, or the daemon can end before it. Then the newest; of a StatefulSet, whose
/// pods have fixed names, those whose pod is back elsewhere, and then the highest ordinals.
pub(super) fn unneeded<'c>(
    cluster: &'c Cluster,
    (record, ledger): (&Record, &'c Ledger),
    is_releasing: IsReleasing<'_>,
) -> Vec<(NodeId, &'c ReservationId)> {
    let Some(short) = cluster.missing_replicas(&record.owner) else {
        // A deleted pod without an owner: it is created again once, and takes the newest of its reservations on a node.
        return replaced_by_newer(
            &held_reservations(ledger, cluster, |other| is_of_same_bare_pod(other, record))
                .collect::<Vec<_>>(),
        );
    };
    let ledgers = cluster.ledgers_of(&record.owner.uid);
    let is_own = |other: &Record| other.owner.uid == record.owner.uid;
    let mut held: Vec<HeldReservation<'c>> =
        ledgers.flat_map(|ledger| held_reservations(ledger, cluster, is_own)).collect();
    let older = replaced_by_newer(&held);
    held.retain(|one| !older.contains(&one.id()));
    let surplus = held.len().saturating_sub(short as usize);
    held.sort_by_cached_key(|one| {
        let is_released = is_releasing(&one.ledger.node.name, &one.reservation.id);
        let is_back = is_back(cluster, one.record);
        let rank = (!is_released, one.is_written(), !is_back, Reverse(ordinal(one.record)));
        (rank, Reverse(one.record.created), Reverse(one.reservation.id.clone()))
    });
    held.truncate(surplus);
    older.into_iter().chain(held.iter().map(HeldReservation::id)).collect()
}

/// The held reservations of a node whose replaced pod is gone and whose record fulfils `is_meant`.
fn held_reservations<'c>(
    ledger: &'c Ledger,
    cluster: &Cluster,
    is_meant: impl Fn(&Record) -> bool,
) -> impl Iterator<Item = HeldReservation<'c>> {
    ledger.entries.iter().filter_map(move |entry| {
        let reservation = &*entry.reservation;
        let is_held = matches!(entry.state, ReservationState::Held | ReservationState::Short);
        let record = reservation.record().filter(|record| is_held && record.replaces.is_some())?;
        let is_included = is_meant(record) && !is_replaced_pod_counted(cluster, record);
        is_included.then_some(HeldReservation { ledger, reservation, record })
    })
}

/// Whether both are for the same pod without a controller. It is its own owner, with a new UID each time, so that only the name is
/// the same.
fn is_of_same_bare_pod(one: &Record, other: &Record) -> bool {
    let name = |record: &Record| (record.owner.namespace.clone(), record.owner.name.clone());
    &*one.owner.kind == "Pod" && &*other.owner.kind == "Pod" && name(one) == name(other)
}

impl<'c> HeldReservation<'c> {
    fn id(&self) -> (NodeId, &'c ReservationId) {
        (self.ledger.id, &self.reservation.id)
    }

    /// Whether the node has it, and not only the belief.
    fn is_written(&self) -> bool {
        self.ledger.is_durable(self.reservation)
    }
}

/// Those for whose pod name there is a newer one: a pod that is recreated twice in a row can leave two reservations, needs one, and
/// each would keep it out of the other. One that a node has is not released for one that no node has yet.
fn replaced_by_newer<'c>(held: &[HeldReservation<'c>]) -> Vec<(NodeId, &'c ReservationId)> {
    let age = |one: &HeldReservation<'c>| (one.record.created, one.id());
    let is_older = |one: &&HeldReservation<'c>| {
        let name = replacement_name(one.record);
        let is_newer = |other: &HeldReservation<'c>| {
            replacement_name(other.record) == name
                && age(other) > age(one)
                && (other.is_written() || !one.is_written())
        };
        name.is_some() && held.iter().any(is_newer)
    };
    held.iter().filter(is_older).map(HeldReservation::id).collect()
}

fn replacement_name(record: &Record) -> Option<&str> {
    let is_named = matches!(&*record.owner.kind, "StatefulSet" | "Pod");
    record.replaces.as_ref().filter(|_| is_named).map(|replaced| &*replaced.name)
}

/// Whether the replaced pod still takes room on some node.
pub(super) fn is_replaced_pod_counted(cluster: &Cluster, record: &Record) -> bool {
    let Some(replaced) = &record.replaces else { return false };
    let key = PodKey::new(record.owner.namespace.clone(), &*replaced.name);
    cluster.pod(&key).is_some_and(|pod| pod.uid == replaced.uid && pod.is_counted())
}

/// Whether the pod with the name of the replacement is on some node.
fn is_back(cluster: &Cluster, record: &Record) -> bool {
    let key = replacement_name(record).map(|name| PodKey::new(record.owner.namespace.clone(), name));
    let pod = key.and_then(|key| cluster.pod(&key));
    pod.is_some_and(|pod| pod.is_counted() && !pod.deleting)
}

/// The ordinal of the StatefulSet's pod that it is for.
fn ordinal(record: &Record) -> Option<u64> {
    let name = &record.replaces.as_ref().filter(|_| &*record.owner.kind == "StatefulSet")?.name;
    name.rsplit_once('-')?.1.parse().ok()
}
