//! The extension points after a node was chosen: Reserve, Permit, PreBind, Bind, PostBind, in this order. `cycle` calls
//! them. Bind plugins only say whether they bind a pod; the daemon writes the Binding.

use super::{Plugin, Rejection};
use crate::cluster::{Ledger, PodContext, Snapshot};
use crate::model::ReservationId;
use crate::model::storage::VolumeChoice;
use std::time::Duration;

/// Chooses what the pod takes on its node besides room: a reservation, volumes.
pub trait Reserve: Plugin {
    /// What the pod takes on this node.
    ///
    /// # Errors
    /// When something that the pod needs is no longer available on this node.
    fn reserve(
        &self,
        pod_context: &PodContext<'_>,
        ledger: &Ledger,
        world: &Snapshot<'_>,
    ) -> Result<Reserved, Rejection>;

    /// Called when the pod is not bound to the node. The cycle itself drops what `reserve` returned.
    fn unreserve(&self, _pod_context: &PodContext<'_>, _ledger: &Ledger) {}
}

/// What a pod takes on its node besides room: the result of Reserve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reserved {
    /// The reservation that the pod takes, if that reservation has a seat.
    pub seat: Option<ReservationId>,
    /// The volumes for its claims that are not bound yet.
    pub volumes: Vec<VolumeChoice>,
}

impl Reserved {
    /// Merges the results of two plugins; of two seats the first counts.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.volumes.extend(other.volumes);
        Self { seat: self.seat.or(other.seat), volumes: self.volumes }
    }
}

/// Allows, delays or denies the binding of a pod.
pub trait Permit: Plugin {
    /// Whether the pod may be bound to the node of `ledger`.
    fn permit(&self, pod_context: &PodContext<'_>, ledger: &Ledger) -> Permission;
}

/// The answer of a Permit plugin.
#[derive(Clone, Debug, PartialEq)]
pub enum Permission {
    /// The pod may be bound now.
    Granted,
    /// The pod waits until the plugin allows it, at most this long.
    Wait(Duration),
    /// The pod may not be bound to this node.
    Denied(Rejection),
}

/// Prepares the binding of a pod.
pub trait PreBind: Plugin {
    /// Called right before the binding is written.
    ///
    /// # Errors
    /// When the pod cannot be bound to this node.
    fn pre_bind(&self, pod_context: &PodContext<'_>, ledger: &Ledger) -> Result<(), Rejection>;
}

/// Binds pods. The first Bind plugin that accepts a pod binds it.
pub trait Bind: Plugin {
    /// Whether this plugin binds the pod; false: the next Bind plugin is asked.
    fn binds(&self, pod_context: &PodContext<'_>) -> bool;
}

/// Called after a pod was bound.
pub trait PostBind: Plugin {
    /// The pod was bound to the node of `ledger`.
    fn post_bind(&self, pod_context: &PodContext<'_>, ledger: &Ledger);
}
