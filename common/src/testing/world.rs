//! A cluster in the making.

use crate::cluster::ledger::Entry;
use crate::cluster::{Cluster, Event, Seen, Snapshot};
use crate::model::other::{Other, OtherKind};
use crate::model::owner::{OwnerKind, Workload};
use crate::model::{Node, Pod};

/// Everything that a cluster is about to learn at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    nodes: Vec<Node>,
    pods: Vec<Pod>,
    workloads: Vec<Workload>,
    others: Vec<Other>,
}

/// An empty world.
pub(crate) fn world() -> World {
    World::default()
}

/// The books of the one reservation that there is.
pub(crate) fn entry<'s, 'w>(snapshot: &'s Snapshot<'w>) -> &'s Entry {
    let mut entries = snapshot.nodes().flat_map(|ledger| &ledger.entries);
    let entry = entries.next().unwrap();
    assert!(entries.next().is_none(), "there are several reservations");
    entry
}

impl World {
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

    /// An object of another kind: `world().with(claim("data").bound_to("pv1")).with(volume("pv1"))`.
    pub(crate) fn with(mut self, object: impl Into<Other>) -> Self {
        self.others.push(object.into());
        self
    }

    /// A cluster that has listed everything once.
    pub(crate) fn cluster(self) -> Cluster {
        self.listed_into(Cluster::default())
    }

    /// The same, listed at `now`.
    pub(crate) fn cluster_at(self, now: jiff::Timestamp) -> Cluster {
        let mut cluster = Cluster::default();
        cluster.advance(now);
        self.listed_into(cluster)
    }

    fn listed_into(self, mut cluster: Cluster) -> Cluster {
        for kind in OwnerKind::ALL {
            let live = self.workloads.iter().filter(|workload| workload.kind == kind).cloned().collect();
            cluster.apply(Event::Workloads(kind, Seen::Relisted(live)));
        }
        for kind in OtherKind::ALL {
            // The store passes over objects of other kinds.
            cluster.apply(Event::Others(kind, Seen::Relisted(self.others.clone())));
        }
        cluster.apply(Event::Nodes(Seen::Relisted(self.nodes)));
        cluster.apply(Event::Pods(Seen::Relisted(self.pods)));
        assert!(cluster.is_complete());
        cluster
    }
}
