//! Reservation: room that is reserved for an owner is not free for other pods (filter); a pod prefers nodes with a reservation that
//! it may use (score), waits for its reserved node (PreFilter, `reserved_node`), and takes a seat there (Reserve).

mod hint;
mod reserved_node;
#[cfg(test)]
mod tests;

use super::node_ports::{is_in_use, port_users};
use super::{Descriptor, Implementations};
use crate::cluster::ledger::{Entry, Room};
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::framework::{
    Admission, BlockingReservation, Evidence, Filter, NodeFilter, Normalise, Numbers, Plugin, PluginError,
    PreFilter, Reason, Rejection, Rejections, Reserve, SCORE_MAX, Scope, Score, Scorer, Verdict,
    ledger_filter, ledger_scorer,
};
use crate::model::{Claim, ExtensionPoint};
use crate::model::{HostPort, ResourceName, Resources};
use std::collections::BTreeSet;
use std::sync::Arc;

pub struct ReservationPlugin;

/// The default weight. It outweighs all other default scores together: a replacement prefers the node of its reservation.
pub const WEIGHT: i32 = 100;

const NAME: &str = "Reservation";

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in(
        NAME,
        &[ExtensionPoint::PreFilter, ExtensionPoint::Filter, ExtensionPoint::Score, ExtensionPoint::Reserve],
        || {
            let plugin = Arc::new(ReservationPlugin);
            Implementations {
                pre_filter: Some(plugin.clone()),
                filter: Some(plugin.clone()),
                score: Some(plugin.clone()),
                reserve: Some(plugin.clone()),
                enqueue_extensions: Some(plugin),
                ..Implementations::default()
            }
        },
    )
    .by_default(WEIGHT)
}

impl Plugin for ReservationPlugin {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl PreFilter for ReservationPlugin {
    fn pre_filter(&self, context: &PodContext<'_>, world: &Snapshot<'_>) -> Admission {
        reserved_node::reserved_node(context, world).map_or(Admission::All, Admission::ReservedNode)
    }
}

impl Filter for ReservationPlugin {
    fn scope(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn exceptions(&self, context: &PodContext<'_>, world: &Snapshot<'_>) -> Vec<NodeId> {
        own_nodes(context, world)
    }

    fn prepare<'c>(&'c self, context: &'c PodContext<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        let asks = &context.pod.spec.requests.incoming;
        ledger_filter(world, move |ledger| {
            if ledger.entries.is_empty() {
                return Verdict::Fits;
            }
            let room = ledger.room_for(context);
            let mut all = rejections(asks, &room);
            all.extend(ports(&context.pod.spec.ports, ledger, &room));
            Verdict::from_rejections(all)
        })
    }

    fn evidence(
        &self,
        reason: Option<&Reason>,
        _context: &PodContext<'_>,
        ledger: &Ledger,
        _world: &Snapshot<'_>,
    ) -> Option<Evidence> {
        port_users(reason?, ledger)
    }
}

impl Score for ReservationPlugin {
    fn scope(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn exceptions(&self, context: &PodContext<'_>, world: &Snapshot<'_>) -> Vec<NodeId> {
        own_nodes(context, world)
    }

    fn prepare<'c>(
        &'c self,
        context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, PluginError> {
        let score = |ledger: &Ledger| if ledger.room_for(context).own.is_some() { SCORE_MAX } else { 0 };
        Ok(Some(ledger_scorer(world, Normalise::NotNeeded, score)))
    }
}

impl Reserve for ReservationPlugin {
    fn reserve(
        &self,
        context: &PodContext<'_>,
        ledger: &Ledger,
        _world: &Snapshot<'_>,
    ) -> Result<Vec<Claim>, Rejection> {
        let own = ledger.room_for(context).own;
        Ok(own.filter(|id| id.seat.is_some()).cloned().map(Claim::Seat).into_iter().collect())
    }
}

/// The nodes where the answers depend on the owner of the pod: those with a reservation that the pod may use, and the node that a
/// DaemonSet's controller created it for.
fn own_nodes(context: &PodContext<'_>, world: &Snapshot<'_>) -> Vec<NodeId> {
    world.reserved().filter(|ledger| is_own(context, ledger)).map(|ledger| ledger.id).collect()
}

fn is_own(context: &PodContext<'_>, ledger: &Ledger) -> bool {
    ledger.entries.iter().any(|entry| context.may_use(&entry.reservation)) || context.is_made_for(ledger)
}

/// One rejection for each resource that would be sufficient without the reservations of others. NodeResourcesFit rejects resources
/// that are insufficient even without reservations.
fn rejections(asks: &Resources, room: &Room<'_>) -> Rejections {
    let blocked = |(resource, asks): (ResourceName, i64)| {
        let numbers = numbers(&resource, asks, room);
        let is_short = asks > 0 && numbers.short() > 0;
        let would_fit = Numbers { reserved: 0, ..numbers }.short() == 0;
        (is_short && would_fit).then(|| reject(resource, numbers, room))
    };
    asks.iter().filter_map(blocked).collect()
}

/// The rejection for ports that would be free without the reservations of others. NodePorts rejects ports that pods use.
fn ports(requested: &[HostPort], ledger: &Ledger, room: &Room<'_>) -> Option<Rejection> {
    let mut blocked = Vec::new();
    let mut blocked_by = BTreeSet::new();
    for port in requested.iter().filter(|port| !is_in_use(port, &ledger.pods)) {
        let keeps = |entry: &&Entry| entry.reservation.ports.iter().any(|own| own.conflicts_with(port));
        let kept_for = room.kept.iter().map(|(entry, _)| *entry);
        let blocking: Vec<_> = kept_for.filter(keeps).map(|entry| &entry.reservation.id).collect();
        if !blocking.is_empty() {
            blocked.push(port.clone());
            blocked_by.extend(blocking);
        }
    }
    if blocked.is_empty() {
        return None;
    }
    let blocked_by = blocked_by.into_iter().cloned().collect();
    Some(Rejection::new(NAME, Reason::Ports { ports: blocked.into(), blocked_by }))
}

fn numbers(resource: &ResourceName, asks: i64, room: &Room<'_>) -> Numbers {
    Numbers {
        asks,
        allocatable: room.allocatable.get(resource),
        used: room.used.get(resource),
        reserved: room.reserved.get(resource),
    }
}

fn reject(resource: ResourceName, numbers: Numbers, room: &Room<'_>) -> Rejection {
    let blocked_by = room
        .kept
        .iter()
        .map(|(entry, held)| BlockingReservation {
            reservation: entry.reservation.id.clone(),
            amount: held.get(&resource),
        })
        .filter(|blocking| blocking.amount > 0)
        .collect();
    Rejection::new(NAME, Reason::Insufficient { resource, numbers, blocked_by })
}
