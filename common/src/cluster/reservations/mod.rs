//! Rules about the reservations of all nodes: which pods get automatic ones (`automatic`), what a reservation says and when it
//! expires (`replacement`), which ones an owner still needs (`missing_replicas`), and whether all replicas have seen a write
//! (`acknowledgement`). The ledger of a node says what each reservation holds there.

pub(in crate::cluster) mod acknowledgement;
pub(in crate::cluster) mod active_pods;
pub(in crate::cluster) mod automatic;
pub(in crate::cluster) mod controller_queries;
pub(in crate::cluster) mod enforcement;
pub(in crate::cluster) mod index;
pub(in crate::cluster) mod missing_replicas;
pub(in crate::cluster) mod namespace_requests;
pub(in crate::cluster) mod pending_writes;
pub(in crate::cluster) mod pods_by_controller;
pub(in crate::cluster) mod record_too_long;
pub(in crate::cluster) mod replacement;
