//! The kinds of object that are followed: where they are, and what becomes of them.

use common::api::replica::DaemonNamespaces;
use common::api::{self, DecodeError};
use common::cluster::{Event, Seen, Shared};
use common::model::owner::{OwnerKind, Workload};
use common::model::{Node, Other, OtherKind, Pod, Replica};

/// An object with all that it has.
const WHOLE: &str = "application/json";

/// One kind of object.
pub trait Watched {
    /// What it is decoded to.
    type Object;

    /// The plural, for logs.
    fn name(&self) -> &'static str;

    /// Where the API server lists it.
    fn path(&self) -> String;

    /// Which of them, as a query.
    fn selector(&self) -> &'static str {
        ""
    }

    /// In which form the API server is to send a list of it.
    fn accept_list(&self) -> &'static str {
        WHOLE
    }

    /// In which form the API server is to send each of it in a watch.
    fn accept_watch(&self) -> &'static str {
        WHOLE
    }

    /// What is learnt when we may not read it; `None` if the daemon cannot do without it.
    fn unreadable(&self) -> Option<Event> {
        None
    }

    /// Reads one object.
    fn decode(&self, json: &str) -> Result<Self::Object, DecodeError>;

    /// Makes one copy of what it has in common with others of the same list.
    fn share(&self, _shared: &mut Shared, _object: &mut Self::Object) {}

    /// What is learnt by having seen it.
    fn event(&self, seen: Seen<Self::Object>) -> Event;

    /// What is learnt by having seen everything up to a version; `None` if nobody asks how far we are.
    fn up_to(&self, _version: u64) -> Option<Event> {
        None
    }
}

/// All nodes.
pub struct Nodes;

/// All pods that have not ended.
pub struct Pods;

/// All workloads of one kind. Of CronJobs, which say neither how many pods they want nor where, only the metadata is read.
pub struct Workloads(pub OwnerKind);

/// All objects of another kind.
pub struct Others(pub OtherKind);

/// The replicas of the daemon in one namespace, by their Leases.
pub struct Replicas {
    /// Where they are.
    pub namespace: String,
}

impl Watched for Nodes {
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

    fn share(&self, shared: &mut Shared, node: &mut Node) {
        shared.share_node(node);
    }

    fn event(&self, seen: Seen<Node>) -> Event {
        Event::Nodes(seen)
    }

    fn up_to(&self, version: u64) -> Option<Event> {
        Some(Event::NodesUpTo(version))
    }
}

impl Watched for Pods {
    type Object = Pod;

    fn name(&self) -> &'static str {
        "pods"
    }

    fn path(&self) -> String {
        "/api/v1/pods".into()
    }

    /// `status.phase!=Succeeded,status.phase!=Failed`: a pod that ended arrives as deleted.
    fn selector(&self) -> &'static str {
        "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"
    }

    fn decode(&self, json: &str) -> Result<Pod, DecodeError> {
        api::pod::pod(json)
    }

    fn share(&self, shared: &mut Shared, pod: &mut Pod) {
        shared.share_pod(pod);
    }

    fn event(&self, seen: Seen<Pod>) -> Event {
        Event::Pods(seen)
    }

    fn up_to(&self, version: u64) -> Option<Event> {
        Some(Event::PodsUpTo(version))
    }
}

impl Watched for Workloads {
    type Object = Workload;

    fn name(&self) -> &'static str {
        self.0.plural()
    }

    fn path(&self) -> String {
        self.0.path()
    }

    // Metadata alone. A server that was asked for lists in a watch would send lists, one for each object.
    fn accept_list(&self) -> &'static str {
        match self.0.is_read_whole() {
            true => WHOLE,
            false => "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
        }
    }

    fn accept_watch(&self) -> &'static str {
        match self.0.is_read_whole() {
            true => WHOLE,
            false => "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
        }
    }

    fn unreadable(&self) -> Option<Event> {
        Some(Event::Unreadable(self.0))
    }

    fn decode(&self, json: &str) -> Result<Workload, DecodeError> {
        api::workload::workload(self.0, json)
    }

    fn event(&self, seen: Seen<Workload>) -> Event {
        Event::Workloads(self.0, seen)
    }
}

impl Watched for Others {
    type Object = Other;

    fn name(&self) -> &'static str {
        self.0.plural()
    }

    fn path(&self) -> String {
        self.0.path()
    }

    fn unreadable(&self) -> Option<Event> {
        Some(Event::OthersUnreadable(self.0))
    }

    fn decode(&self, json: &str) -> Result<Other, DecodeError> {
        api::other::other(self.0, json)
    }

    fn event(&self, seen: Seen<Other>) -> Event {
        Event::Others(self.0, seen)
    }
}

impl Watched for Replicas {
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

    /// A Lease of another namespace is no replica's, even if the server should send one.
    fn decode(&self, json: &str) -> Result<Replica, DecodeError> {
        api::replica::believed(json, &DaemonNamespaces::only(&self.namespace))
    }

    fn event(&self, seen: Seen<Replica>) -> Event {
        Event::Replicas(seen)
    }
}
