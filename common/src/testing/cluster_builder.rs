//! A builder of clusters: `cluster_builder().node(node("n1")).pod(pod("p").on("n1")).cluster()`.

use crate::cluster::ledger::Entry;
use crate::cluster::{Cluster, Event, Snapshot, WatchEvent};
use crate::model::{CatalogKind, CatalogObject, Node, OwnerKind, Pod, Workload};

/// The objects that a cluster will list.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterBuilder {
    nodes: Vec<Node>,
    pods: Vec<Pod>,
    workloads: Vec<Workload>,
    catalog_objects: Vec<CatalogObject>,
}

/// A builder without objects.
pub(crate) fn cluster_builder() -> ClusterBuilder {
    ClusterBuilder::default()
}

/// The entry of the only reservation.
pub(crate) fn entry<'s, 'w>(snapshot: &'s Snapshot<'w>) -> &'s Entry {
    let mut entries = snapshot.nodes().flat_map(|ledger| &ledger.entries);
    let entry = entries.next().unwrap();
    assert!(entries.next().is_none(), "there are several reservations");
    entry
}

impl ClusterBuilder {
    pub(crate) fn node(mut self, node: impl Into<Node>) -> Self {
        self.nodes.push(node.into());
        self
    }

    pub(crate) fn pod(mut self, pod: impl Into<Pod>) -> Self {
        self.pods.push(pod.into());
        self
    }

    pub(crate) fn workload(mut self, workload: &Workload) -> Self {
        self.workloads.push(workload.clone());
        self
    }

    /// Adds a catalog object: `cluster_builder().with(claim("data").bound_to("pv1")).with(volume("pv1"))`.
    pub(crate) fn with(mut self, object: impl Into<CatalogObject>) -> Self {
        self.catalog_objects.push(object.into());
        self
    }

    /// A cluster that has listed everything once.
    pub(crate) fn cluster(self) -> Cluster {
        self.list_into(Cluster::default())
    }

    /// A cluster that has listed everything once, at `now`.
    pub(crate) fn cluster_at(self, now: jiff::Timestamp) -> Cluster {
        let mut cluster = Cluster::default();
        cluster.advance(now);
        self.list_into(cluster)
    }

    fn list_into(self, mut cluster: Cluster) -> Cluster {
        for kind in OwnerKind::ALL {
            let live = self.workloads.iter().filter(|workload| workload.kind == kind).cloned().collect();
            cluster.apply(Event::Workloads(kind, WatchEvent::Relisted(live)));
        }
        for kind in CatalogKind::ALL {
            // A store ignores objects of other kinds.
            cluster.apply(Event::CatalogObjects(kind, WatchEvent::Relisted(self.catalog_objects.clone())));
        }
        cluster.apply(Event::Nodes(WatchEvent::Relisted(self.nodes)));
        cluster.apply(Event::Pods(WatchEvent::Relisted(self.pods)));
        assert!(cluster.is_complete());
        cluster
    }
}
