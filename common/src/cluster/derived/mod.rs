//! Values that are computed from ledgers and kept until a ledger changes. Entry point:
//! [`crate::cluster::Snapshot::derive`]; `cache` keeps the values, the other modules are the kinds of values.

pub(in crate::cluster) mod cache;
pub(in crate::cluster) mod column;
pub(in crate::cluster) mod domain_counts;
pub(in crate::cluster) mod domains;
pub(in crate::cluster) mod pod_affinity_counts;
