//! The workloads of the cluster, and the owners that pods have or falsely claim.

use super::test_cluster::{Amounts, RESOURCES};
use super::wire;
use crate::model::owner::{OwnerKind, Workload};
use crate::testing::{PodBuilder, daemon_set, deployment, pod, replica_set, uid, workload};
use serde_json::json;

pub(super) const WEB: usize = 0;
pub(super) const AGENT: usize = 8;
pub(super) const WORKLOADS: usize = 9;

/// What the template of the DaemonSet requests; a pod of it requests no more.
pub(super) const AGENT_ASKS: Amounts = [1000, 1 << 30, 1 << 30, 1, 1];

/// The DaemonSet, whose template tolerates no taint.
fn agent() -> Workload {
    let asks = RESOURCES.iter().zip(AGENT_ASKS).filter(|(resource, _)| **resource != "pods");
    let template = asks
        .fold(pod("agent"), |pod, (resource, amount)| pod.asks(resource, &wire::quantity(resource, amount)));
    daemon_set("agent", &template, &[("app", "test_cluster")])
}

/// All workloads of the cluster, also those that were not read yet.
pub(super) fn workloads() -> [Workload; WORKLOADS] {
    let (web, shop) = (deployment("web"), deployment("shop"));
    let nightly = workload(OwnerKind::CronJob, "nightly");
    let sets = [("web-1", &web), ("shop-1", &shop), ("shop-2", &shop)];
    let [web_1, shop_1, shop_2] = sets.map(|(name, owner)| replica_set(name).of(owner));
    let batch = workload(OwnerKind::Job, "batch").of(&nightly);
    let (db, agent) = (workload(OwnerKind::StatefulSet, "db"), agent());
    [web, web_1, shop, shop_1, shop_2, db, batch, nightly, agent]
}

/// The owner that a pod has, or claims to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PodOwner {
    Web,
    /// A pod of the ReplicaSet before a rollout; `ShopNew` is of the one after it.
    ShopOld,
    ShopNew,
    Db,
    Batch,
    Agent,
    Bare,
    /// A bare pod of the same name in another namespace.
    Stray,
    /// A bare pod with an owner reference that is not its controller.
    Follower,
    False(FalseOwner),
}

/// A false owner reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FalseOwner {
    /// The UID of a Deployment under another name.
    Name,
    /// The name of a ReplicaSet with another UID.
    Guess,
    /// All fields are right, but the pod is in another namespace.
    Abroad,
    /// The UID of a DaemonSet under another name.
    Daemon,
}

impl PodOwner {
    pub(super) const ALL: [PodOwner; 18] = [
        PodOwner::Web,
        PodOwner::Web,
        PodOwner::Web,
        PodOwner::ShopOld,
        PodOwner::ShopNew,
        PodOwner::Db,
        PodOwner::Db,
        PodOwner::Batch,
        PodOwner::Agent,
        PodOwner::Bare,
        PodOwner::Bare,
        PodOwner::Stray,
        PodOwner::Stray,
        PodOwner::Follower,
        PodOwner::False(FalseOwner::Name),
        PodOwner::False(FalseOwner::Guess),
        PodOwner::False(FalseOwner::Abroad),
        PodOwner::False(FalseOwner::Daemon),
    ];

    /// The owners that the pod really has, nearest first, as indexes of [`workloads`].
    pub(super) fn owners(self) -> &'static [usize] {
        match self {
            PodOwner::Web => &[1, WEB],
            PodOwner::ShopOld => &[3, 2],
            PodOwner::ShopNew => &[4, 2],
            PodOwner::Db => &[5],
            PodOwner::Batch => &[6, 7],
            PodOwner::Agent => &[AGENT],
            PodOwner::Bare | PodOwner::Stray | PodOwner::Follower | PodOwner::False(_) => &[],
        }
    }

    pub(super) fn is_bare(self) -> bool {
        matches!(self, PodOwner::Bare | PodOwner::Stray | PodOwner::Follower)
    }

    pub(super) fn namespace(self) -> &'static str {
        if matches!(self, PodOwner::Stray | PodOwner::False(FalseOwner::Abroad)) {
            "abroad"
        } else {
            "default"
        }
    }

    /// The names that such pods may have. `number` is unique, for generated names.
    pub(super) fn names(self, number: usize) -> Vec<String> {
        match self {
            PodOwner::Db => vec!["db-0".into(), "db-1".into(), "db-2".into()],
            PodOwner::Bare | PodOwner::Stray => vec!["tool-0".into(), "tool-1".into()],
            PodOwner::Follower => vec!["helper".into()],
            // Under a name that a bare pod might have.
            PodOwner::False(FalseOwner::Abroad) => {
                vec!["tool-0".into(), "db-0".into(), format!("p-{number}")]
            }
            _ => vec![format!("p-{number}")],
        }
    }

    /// Adds the owner reference that the pod claims.
    pub(super) fn add_to(self, pod: PodBuilder, workloads: &[Workload]) -> PodBuilder {
        let renamed = |index: usize| Workload { name: "liar".into(), ..workloads[index].clone() };
        let owner = match self {
            PodOwner::False(FalseOwner::Name) => renamed(WEB),
            PodOwner::False(FalseOwner::Daemon) => renamed(AGENT),
            PodOwner::False(FalseOwner::Guess) => Workload { uid: uid("guess"), ..workloads[1].clone() },
            PodOwner::False(FalseOwner::Abroad) => workloads[1].clone(),
            PodOwner::Bare | PodOwner::Stray => return pod,
            PodOwner::Follower => {
                let followed = pod.owned_by(&workloads[1]);
                return followed.with("/metadata/ownerReferences/0/controller", json!(false));
            }
            _ => workloads[self.owners()[0]].clone(),
        };
        pod.owned_by(&owner)
    }
}
