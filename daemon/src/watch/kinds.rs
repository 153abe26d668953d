//! The watched kinds: their paths and selectors, how objects are decoded, and which events they become.

use common::api::replica::DaemonNamespaces;
use common::api::{self, DecodeError};
use common::cluster::{Event, ObjectInterner, WatchEvent};
use common::config::Profile;
use common::model::owner::{OwnerKind, Workload};
use common::model::{CatalogKind, CatalogObject, Node, Pod, Replica};
use common::plugins::PluginList;
use std::collections::BTreeSet;

/// The media type of whole objects.
const WHOLE: &str = "application/json";

pub trait WatchedKind {
    type Object;

    /// The plural name, for logs.
    fn name(&self) -> &'static str;

    fn path(&self) -> String;

    /// The selector as part of the query; empty: all objects.
    fn selector(&self) -> &'static str {
        ""
    }

    fn accept_list(&self) -> &'static str {
        WHOLE
    }

    fn accept_watch(&self) -> &'static str {
        WHOLE
    }

    /// The event when the daemon may not read the kind; `None` if the daemon cannot work without it.
    fn unreadable(&self) -> Option<Event> {
        None
    }

    fn decode(&self, json: &str) -> Result<Self::Object, DecodeError>;

    /// Shares the memory of parts that are equal in several objects of a list.
    fn intern(&self, _interner: &mut ObjectInterner, _object: &mut Self::Object) {}

    fn event(&self, event: WatchEvent<Self::Object>) -> Event;

    /// The event that says that everything up to a version was seen; `None` if that is not needed for this kind.
    fn up_to(&self, _version: u64) -> Option<Event> {
        None
    }
}

/// The kinds that reservations follow from, whatever the plugins: namespaces may have `reserve/keep`, and quotas limit automatic
/// reservations.
const FOR_RESERVATIONS: [CatalogKind; 2] = [CatalogKind::Namespace, CatalogKind::ResourceQuota];

/// The kinds of the catalog that are watched: those that a plugin of a profile reads, and [`FOR_RESERVATIONS`].
pub fn watched_kinds(plugins: &PluginList, profiles: &[Profile]) -> BTreeSet<CatalogKind> {
    let mut kinds = plugins.watched_kinds(profiles);
    kinds.extend(FOR_RESERVATIONS);
    kinds
}

pub struct Nodes;

pub struct Pods;

/// All workloads of one kind. Of CronJobs only the metadata is read: they say neither how many pods they want nor where.
pub struct Workloads(pub OwnerKind);

pub struct CatalogObjects(pub CatalogKind);

/// The replicas of the daemon in one namespace, by their Leases.
pub struct Replicas {
    pub namespace: String,
}

impl WatchedKind for Nodes {
    type Object = Node;

    fn name(&self) -> &'static str {
        "nodes"
    }

    fn path(&self) -> String {
        "/api/v1/nodes".into()
    }

    fn decode(&self, json: &str) -> Result<Node, DecodeError> {
        api::node::node(json)
    }

    fn intern(&self, interner: &mut ObjectInterner, node: &mut Node) {
        interner.intern_node(node);
    }

    fn event(&self, event: WatchEvent<Node>) -> Event {
        Event::Nodes(event)
    }

    fn up_to(&self, version: u64) -> Option<Event> {
        Some(Event::NodesUpTo(version))
    }
}

impl WatchedKind for Pods {
    type Object = Pod;

    fn name(&self) -> &'static str {
        "pods"
    }

    fn path(&self) -> String {
        "/api/v1/pods".into()
    }

    /// `status.phase!=Succeeded,status.phase!=Failed`: the watch reports a pod that ends as deleted.
    fn selector(&self) -> &'static str {
        "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"
    }

    fn decode(&self, json: &str) -> Result<Pod, DecodeError> {
        api::pod::pod(json)
    }

    fn intern(&self, interner: &mut ObjectInterner, pod: &mut Pod) {
        interner.intern_pod(pod);
    }

    fn event(&self, event: WatchEvent<Pod>) -> Event {
        Event::Pods(event)
    }

    fn up_to(&self, version: u64) -> Option<Event> {
        Some(Event::PodsUpTo(version))
    }
}

impl WatchedKind for Workloads {
    type Object = Workload;

    fn name(&self) -> &'static str {
        self.0.plural()
    }

    fn path(&self) -> String {
        self.0.path()
    }

    // Only metadata. With the list type in a watch, the server would send a list for each object.
    fn accept_list(&self) -> &'static str {
        match self.0.needs_full_object() {
            true => WHOLE,
            false => "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
        }
    }

    fn accept_watch(&self) -> &'static str {
        match self.0.needs_full_object() {
            true => WHOLE,
            false => "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
        }
    }

    fn unreadable(&self) -> Option<Event> {
        Some(Event::WorkloadsUnreadable(self.0))
    }

    fn decode(&self, json: &str) -> Result<Workload, DecodeError> {
        api::workload::workload(self.0, json)
    }

    fn event(&self, event: WatchEvent<Workload>) -> Event {
        Event::Workloads(self.0, event)
    }
}

impl WatchedKind for CatalogObjects {
    type Object = CatalogObject;

    fn name(&self) -> &'static str {
        self.0.plural()
    }

    fn path(&self) -> String {
        self.0.path()
    }

    fn unreadable(&self) -> Option<Event> {
        Some(Event::CatalogKindUnreadable(self.0))
    }

    fn decode(&self, json: &str) -> Result<CatalogObject, DecodeError> {
        api::catalog_object::catalog_object(self.0, json)
    }

    fn event(&self, event: WatchEvent<CatalogObject>) -> Event {
        Event::CatalogObjects(self.0, event)
    }
}

impl WatchedKind for Replicas {
    type Object = Replica;

    fn name(&self) -> &'static str {
        "leases"
    }

    fn path(&self) -> String {
        format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", self.namespace)
    }

    /// `app.kubernetes.io/name=kubectl-reserve`.
    fn selector(&self) -> &'static str {
        "labelSelector=app.kubernetes.io%2Fname%3Dkubectl-reserve"
    }

    /// A Lease of another namespace is never a replica's, even if the server sends one.
    fn decode(&self, json: &str) -> Result<Replica, DecodeError> {
        api::replica::trusted_replica(json, &DaemonNamespaces::only(&self.namespace))
    }

    fn event(&self, event: WatchEvent<Replica>) -> Event {
        Event::Replicas(event)
    }
}
