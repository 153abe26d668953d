//! Reservation: room that is kept for an owner is not free for anybody else; an owner's pod goes home if it can.

#[cfg(test)]
mod tests;

use crate::cluster::ledger::Room;
use crate::cluster::{Asker, Snapshot};
use crate::framework::{
    Cure, Filter, Keeper, NodeFilter, NodeScore, Numbers, Reason, Rejection, SCORE_MAX, Score, Verdict,
};
use crate::model::{ResourceName, Resources};

/// The plugin.
pub struct Reservation;

/// More than all other default scores together can make up for: a replacement prefers its own place to any other.
pub const WEIGHT: i64 = 100;

const NAME: &str = "Reservation";

impl Filter for Reservation {
    fn name(&self) -> &'static str {
        NAME
    }

    fn prepare<'c>(&'c self, asker: &'c Asker<'c>, _world: &'c Snapshot<'c>) -> NodeFilter<'c> {
        Box::new(|ledger| {
            let rejections = rejections(&asker.pod.spec.requests.incoming, &ledger.room_for(asker));
            if rejections.is_empty() { Verdict::Fits } else { Verdict::Rejects(rejections) }
        })
    }
}

impl Score for Reservation {
    fn name(&self) -> &'static str {
        NAME
    }

    fn prepare<'c>(&'c self, asker: &'c Asker<'c>, _world: &'c Snapshot<'c>) -> NodeScore<'c> {
        Box::new(|ledger| if ledger.room_for(asker).own.is_some() { SCORE_MAX } else { 0 })
    }
}

/// Everything of which there would be enough, were it not kept for others. What is lacking anyway is for
/// NodeResourcesFit to say.
fn rejections(asks: &Resources, room: &Room<'_, '_>) -> Vec<Rejection> {
    let blocked = |(resource, asks): (ResourceName, i64)| {
        let numbers = numbers(&resource, asks, room);
        let is_short = asks > 0 && numbers.short() > 0;
        let would_fit = Numbers { reserved: 0, ..numbers }.short() == 0;
        (is_short && would_fit).then(|| reject(resource, numbers, room))
    };
    asks.iter().filter_map(blocked).collect()
}

fn numbers(resource: &ResourceName, asks: i64, room: &Room<'_, '_>) -> Numbers {
    Numbers {
        asks,
        allocatable: room.allocatable.get(resource),
        used: room.used.get(resource),
        reserved: room.reserved.get(resource),
    }
}

fn reject(resource: ResourceName, numbers: Numbers, room: &Room<'_, '_>) -> Rejection {
    let kept = room
        .kept
        .iter()
        .map(|entry| Keeper { reservation: entry.reservation.id.clone(), amount: entry.held.get(&resource) })
        .filter(|keeper| keeper.amount > 0)
        .collect();
    Rejection { plugin: NAME, reason: Reason::Insufficient { resource, numbers, kept }, cure: Cure::Room }
}
