//! The watched kinds: their paths and selectors, how objects are decoded, and which events they become.

use common::api::replica::DaemonNamespaces;
use common::api::{self, DecodeError};
use common::cluster::{Event, ObjectInterner, WatchEvent};
use common::config::Profile;
use common::model::{CatalogKind, CatalogObject, Node, OwnerKind, Pod, Replica, Workload};
use common::plugins::PluginList;
use std::collections::BTreeSet;

/// The media type of whole objects.
const WHOLE: &str = "application/json";

type Decode<T> = Box<dyn Fn(&str) -> Result<T, DecodeError> + Send + Sync>;

/// One watched kind: where its objects are listed, and which events they become.
pub struct WatchedKind<T> {
    /// The plural name, for logs.
    pub name: &'static str,
    pub path: String,
    /// The selector as part of the query; empty: all objects.
    pub selector: &'static str,
    /// The `Accept` headers of lists and of watches.
    pub accept: (&'static str, &'static str),
    /// The event when the daemon may not read the kind; `None` if the daemon cannot work without it.
    pub unreadable: Option<Event>,
    pub decode: Decode<T>,
    /// Shares the memory of parts that are equal in several objects of a list.
    pub intern: fn(&mut ObjectInterner, &mut T),
    pub event: Box<dyn Fn(WatchEvent<T>) -> Event + Send + Sync>,
    /// The event that says that everything up to a version was seen; `None` if that is not needed for this kind.
    pub up_to: Option<fn(u64) -> Event>,
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

/// All objects of a kind, as a whole.
fn all<T>(
    name: &'static str,
    path: String,
    decode: impl Fn(&str) -> Result<T, DecodeError> + Send + Sync + 'static,
    event: impl Fn(WatchEvent<T>) -> Event + Send + Sync + 'static,
) -> WatchedKind<T> {
    let (decode, event) = (Box::new(decode), Box::new(event));
    let (accept, intern) = ((WHOLE, WHOLE), |_: &mut ObjectInterner, _: &mut T| ());
    WatchedKind { name, path, selector: "", accept, unreadable: None, decode, intern, event, up_to: None }
}

pub fn nodes() -> WatchedKind<Node> {
    let nodes = all("nodes", "/api/v1/nodes".into(), api::node::node, Event::Nodes);
    WatchedKind { intern: ObjectInterner::intern_node, up_to: Some(Event::NodesUpTo), ..nodes }
}

/// Pods that have not ended (`status.phase!=Succeeded,status.phase!=Failed`): the watch reports a pod that ends as deleted.
pub fn pods() -> WatchedKind<Pod> {
    let selector = "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";
    let pods = all("pods", "/api/v1/pods".into(), api::pod::pod, Event::Pods);
    WatchedKind { selector, intern: ObjectInterner::intern_pod, up_to: Some(Event::PodsUpTo), ..pods }
}

/// All workloads of one kind. Of CronJobs only the metadata is read: they say neither how many pods they want nor where.
pub fn workloads(kind: OwnerKind) -> WatchedKind<Workload> {
    let decode = move |json: &str| api::workload::workload(kind, json);
    let workloads = all(kind.plural(), kind.path(), decode, move |event| Event::Workloads(kind, event));
    let accept = match kind.needs_full_object() {
        true => (WHOLE, WHOLE),
        // With the list type in a watch, the server would send a list for each object.
        false => (
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
        ),
    };
    WatchedKind { accept, unreadable: Some(Event::WorkloadsUnreadable(kind)), ..workloads }
}

pub fn catalog_objects(kind: CatalogKind) -> WatchedKind<CatalogObject> {
    let decode = move |json: &str| api::catalog_object::catalog_object(kind, json);
    let objects = all(kind.plural(), kind.path(), decode, move |event| Event::CatalogObjects(kind, event));
    WatchedKind { unreadable: Some(Event::CatalogKindUnreadable(kind)), ..objects }
}

/// The replicas of the daemon in one namespace, by their Leases (`app.kubernetes.io/name=kubectl-reserve`). A Lease of another
/// namespace is never a replica's, even if the server sends one.
pub fn replicas(namespace: &str) -> WatchedKind<Replica> {
    let path = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases");
    let own = DaemonNamespaces::only(namespace);
    let decode = move |json: &str| api::replica::trusted_replica(json, &own);
    let selector = "labelSelector=app.kubernetes.io%2Fname%3Dkubectl-reserve";
    WatchedKind { selector, ..all("leases", path, decode, Event::Replicas) }
}
