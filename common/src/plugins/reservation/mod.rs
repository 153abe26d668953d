//! Reservation: room that is kept for an owner is not free for anybody else; an owner's pod goes to its reserved node if it can.

mod reserved_node;
#[cfg(test)]
mod tests;

use super::kit::Kit;
use super::node_ports::is_taken;
use crate::cluster::ledger::{Entry, Room};
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::config::PluginArgs;
use crate::framework::{
    Admission, Filter, Keeper, NodeFilter, Normalise, Numbers, Plugin, PreFilter, Reason, Rejection,
    Rejections, Reserve, Reserved, SCORE_MAX, Scope, Score, Scorer, Verdict, on_ledger, score_ledger,
};
use crate::model::{HostPort, ResourceName, Resources};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The plugin.
pub struct Reservation;

/// More than all other default scores together can make up for: a replacement prefers its own place to any other.
pub const WEIGHT: i64 = 100;

const NAME: &str = "Reservation";

/// The plugin at its extension points.
pub(super) fn kit(_args: &PluginArgs) -> Kit {
    let plugin = Arc::new(Reservation);
    Kit {
        pre_filter: Some(plugin.clone()),
        filter: Some(plugin.clone()),
        score: Some(plugin.clone()),
        reserve: Some(plugin),
        ..Kit::default()
    }
}

impl Plugin for Reservation {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl PreFilter for Reservation {
    fn pre_filter(&self, pod_context: &PodContext<'_>, world: &Snapshot<'_>) -> Admission {
        reserved_node::reserved_node(pod_context, world).map_or(Admission::All, Admission::ReservedNode)
    }
}

impl Filter for Reservation {
    fn scope(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn exceptions(&self, pod_context: &PodContext<'_>, world: &Snapshot<'_>) -> Vec<NodeId> {
        own_nodes(pod_context, world)
    }

    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        let asks = &pod_context.pod.spec.requests.incoming;
        on_ledger(world, move |ledger| {
            if ledger.entries.is_empty() {
                return Verdict::Fits;
            }
            let room = ledger.room_for(pod_context);
            let mut all = rejections(asks, &room);
            all.extend(ports(&pod_context.pod.spec.ports, ledger, &room));
            Verdict::from_rejections(all)
        })
    }
}

impl Score for Reservation {
    fn scope(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn exceptions(&self, pod_context: &PodContext<'_>, world: &Snapshot<'_>) -> Vec<NodeId> {
        own_nodes(pod_context, world)
    }

    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, String> {
        let score = |ledger: &Ledger| if ledger.room_for(pod_context).own.is_some() { SCORE_MAX } else { 0 };
        Ok(Some(score_ledger(world, Normalise::Already, score)))
    }
}

impl Reserve for Reservation {
    fn reserve(
        &self,
        pod_context: &PodContext<'_>,
        ledger: &Ledger,
        _world: &Snapshot<'_>,
    ) -> Result<Reserved, Rejection> {
        let own = ledger.room_for(pod_context).own;
        Ok(Reserved { seat: own.filter(|id| id.seat.is_some()).cloned(), ..Reserved::default() })
    }
}

/// The nodes where the pod may use something, or that a DaemonSet's controller made it for: there its owner matters, and
/// elsewhere not.
fn own_nodes(pod_context: &PodContext<'_>, world: &Snapshot<'_>) -> Vec<NodeId> {
    world.reserved().filter(|ledger| is_own(pod_context, ledger)).map(|ledger| ledger.id).collect()
}

fn is_own(pod_context: &PodContext<'_>, ledger: &Ledger) -> bool {
    ledger.entries.iter().any(|entry| pod_context.may_use(&entry.reservation))
        || pod_context.is_made_for(ledger)
}

/// Everything of which there would be enough, were it not kept for others. What is lacking anyway is for
/// NodeResourcesFit to say.
fn rejections(asks: &Resources, room: &Room<'_>) -> Rejections {
    let blocked = |(resource, asks): (ResourceName, i64)| {
        let numbers = numbers(&resource, asks, room);
        let is_short = asks > 0 && numbers.short() > 0;
        let would_fit = Numbers { reserved: 0, ..numbers }.short() == 0;
        (is_short && would_fit).then(|| reject(resource, numbers, room))
    };
    asks.iter().filter_map(blocked).collect()
}

/// The ports that would be free, were they not kept for others. What a pod has is for NodePorts to say.
fn ports(wanted: &[HostPort], ledger: &Ledger, room: &Room<'_>) -> Option<Rejection> {
    let mut blocked = Vec::new();
    let mut kept = BTreeSet::new();
    for port in wanted.iter().filter(|port| !is_taken(port, &ledger.pods)) {
        let keeps = |entry: &&Entry| entry.reservation.ports.iter().any(|own| own.conflicts_with(port));
        let kept_for = room.kept.iter().map(|(entry, _)| *entry);
        let keepers: Vec<_> = kept_for.filter(keeps).map(|entry| &entry.reservation.id).collect();
        if !keepers.is_empty() {
            blocked.push(port.clone());
            kept.extend(keepers);
        }
    }
    if blocked.is_empty() {
        return None;
    }
    let kept = kept.into_iter().cloned().collect();
    Some(Rejection::new(NAME, Reason::Ports { ports: blocked.into(), kept }))
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
    let kept = room
        .kept
        .iter()
        .map(|(entry, held)| Keeper {
            reservation: entry.reservation.id.clone(),
            amount: held.get(&resource),
        })
        .filter(|keeper| keeper.amount > 0)
        .collect();
    Rejection::new(NAME, Reason::Insufficient { resource, numbers, kept })
}
