//! What was read, and what was decided since: tables of nodes, pods, owners and other objects, and the events that change them.
//! Entry points: [`crate::cluster::Cluster::apply`] in `apply`, [`snapshot::Snapshot`] for readers.

pub(in crate::cluster) mod apply;
pub(in crate::cluster) mod assumed_pods;
pub(in crate::cluster) mod catalog;
pub(in crate::cluster) mod cluster_change;
pub(in crate::cluster) mod cluster_event;
pub mod compare;
pub(in crate::cluster) mod event;
pub(in crate::cluster) mod foreign_owners;
pub(in crate::cluster) mod intern_table;
pub(in crate::cluster) mod node_events;
pub(in crate::cluster) mod nodes;
pub(in crate::cluster) mod nominations;
pub(in crate::cluster) mod object_interner;
pub(in crate::cluster) mod owners;
pub(in crate::cluster) mod pods;
pub(in crate::cluster) mod snapshot;
pub(in crate::cluster) mod store;
pub(in crate::cluster) mod volume_choices;
