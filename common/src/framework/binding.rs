//! After a node was chosen: take note of it, wait if need be, bind, and be told.

use super::{Plugin, Rejection};
use crate::cluster::{Ledger, PodContext, Snapshot};
use crate::model::ReservationId;
use crate::model::storage::VolumeChoice;
use std::time::Duration;

/// Takes note of what the pod is about to use up, apart from room.
pub trait Reserve: Plugin {
    /// What it will have on this node.
    ///
    /// # Errors
    /// When it cannot have it after all.
    fn reserve(
        &self,
        pod_context: &PodContext<'_>,
        ledger: &Ledger,
        world: &Snapshot<'_>,
    ) -> Result<Reserved, Rejection>;

    /// Told when the pod was not bound after all. What was returned from `reserve` is forgotten anyway.
    fn unreserve(&self, _pod_context: &PodContext<'_>, _ledger: &Ledger) {}
}

/// What a pod will have on its node, apart from room.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reserved {
    /// The reservation that it takes, if that has a seat.
    pub seat: Option<ReservationId>,
    /// What its claims get that have no volumes yet.
    pub volumes: Vec<VolumeChoice>,
}

impl Reserved {
    /// Both together.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.volumes.extend(other.volumes);
        Self { seat: self.seat.or(other.seat), volumes: self.volumes }
    }
}

/// Lets a pod be bound, now, later or not at all.
pub trait Permit: Plugin {
    /// Whether it may be bound.
    fn permit(&self, pod_context: &PodContext<'_>, ledger: &Ledger) -> Permission;
}

/// Whether a pod may be bound.
#[derive(Clone, Debug, PartialEq)]
pub enum Permission {
    /// Now.
    Granted,
    /// When somebody says so, at most this long from now.
    Wait(Duration),
    /// Not there.
    Denied(Rejection),
}

/// Has something to do before a pod is bound.
pub trait PreBind: Plugin {
    /// Called when the binding is about to be written.
    ///
    /// # Errors
    /// When the pod cannot be bound there after all.
    fn pre_bind(&self, pod_context: &PodContext<'_>, ledger: &Ledger) -> Result<(), Rejection>;
}

/// Binds pods. The first that does not pass a pod on has it.
pub trait Bind: Plugin {
    /// Whether it takes care of this pod's binding.
    fn binds(&self, pod_context: &PodContext<'_>) -> bool;
}

/// Told that a pod was bound.
pub trait PostBind: Plugin {
    /// The pod is bound to the node.
    fn post_bind(&self, pod_context: &PodContext<'_>, ledger: &Ledger);
}
