//! Who lives in the cluster: the workloads, and what each pod claims to belong to.

use super::test_cluster::{Amounts, RESOURCES};
use super::wire;
use crate::model::owner::{OwnerKind, Workload};
use crate::testing::{PodBuilder, daemon_set, deployment, pod, replica_set, uid, workload};
use serde_json::json;

pub(super) const WEB: usize = 0;
pub(super) const AGENT: usize = 8;
pub(super) const WORKLOADS: usize = 9;

/// As much as a pod of the DaemonSet asks for at most.
pub(super) const AGENT_ASKS: Amounts = [1000, 1 << 30, 1 << 30, 1, 1];

/// The DaemonSet, whose template tolerates no taint.
fn agent() -> Workload {
    let asks = RESOURCES.iter().zip(AGENT_ASKS).filter(|(resource, _)| **resource != "pods");
    let template = asks
        .fold(pod("agent"), |pod, (resource, amount)| pod.asks(resource, &wire::quantity(resource, amount)));
    daemon_set("agent", &template, &[("app", "test_cluster")])
}

/// All workloads that there are, whether they were read or not.
pub(super) fn workloads() -> [Workload; WORKLOADS] {
    let (web, shop) = (deployment("web"), deployment("shop"));
    let nightly = workload(OwnerKind::CronJob, "nightly");
    let sets = [("web-1", &web), ("shop-1", &shop), ("shop-2", &shop)];
    let [web_1, shop_1, shop_2] = sets.map(|(name, owner)| replica_set(name).of(owner));
    let batch = workload(OwnerKind::Job, "batch").of(&nightly);
    let (db, agent) = (workload(OwnerKind::StatefulSet, "db"), agent());
    [web, web_1, shop, shop_1, shop_2, db, batch, nightly, agent]
}

/// What a pod is, and what it says it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kin {
    Web,
    /// Of the ReplicaSet before a rollout, and of the one after it.
    ShopOld,
    ShopNew,
    Db,
    Batch,
    Agent,
    Bare,
    /// A bare pod of the same name in another namespace.
    Stray,
    /// Refers to an owner that does not control it: a bare pod.
    Follower,
    Liar(Lie),
}

/// How a pod lies about its owner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lie {
    /// The UID of a Deployment under another name.
    Name,
    /// The name of a ReplicaSet with another UID.
    Guess,
    /// All is right, in another namespace.
    Abroad,
    /// The UID of a DaemonSet under another name.
    Daemon,
}

impl Kin {
    pub(super) const ALL: [Kin; 18] = [
        Kin::Web,
        Kin::Web,
        Kin::Web,
        Kin::ShopOld,
        Kin::ShopNew,
        Kin::Db,
        Kin::Db,
        Kin::Batch,
        Kin::Agent,
        Kin::Bare,
        Kin::Bare,
        Kin::Stray,
        Kin::Stray,
        Kin::Follower,
        Kin::Liar(Lie::Name),
        Kin::Liar(Lie::Guess),
        Kin::Liar(Lie::Abroad),
        Kin::Liar(Lie::Daemon),
    ];

    /// The owners that it really has, nearest first, as places among [`workloads`].
    pub(super) fn owners(self) -> &'static [usize] {
        match self {
            Kin::Web => &[1, WEB],
            Kin::ShopOld => &[3, 2],
            Kin::ShopNew => &[4, 2],
            Kin::Db => &[5],
            Kin::Batch => &[6, 7],
            Kin::Agent => &[AGENT],
            Kin::Bare | Kin::Stray | Kin::Follower | Kin::Liar(_) => &[],
        }
    }

    pub(super) fn is_bare(self) -> bool {
        matches!(self, Kin::Bare | Kin::Stray | Kin::Follower)
    }

    pub(super) fn namespace(self) -> &'static str {
        if matches!(self, Kin::Stray | Kin::Liar(Lie::Abroad)) { "abroad" } else { "default" }
    }

    /// The names that its pods may have; the `number` is nobody else's.
    pub(super) fn names(self, number: usize) -> Vec<String> {
        match self {
            Kin::Db => vec!["db-0".into(), "db-1".into(), "db-2".into()],
            Kin::Bare | Kin::Stray => vec!["tool-0".into(), "tool-1".into()],
            Kin::Follower => vec!["helper".into()],
            // Under a name that a bare pod might have.
            Kin::Liar(Lie::Abroad) => vec!["tool-0".into(), "db-0".into(), format!("p-{number}")],
            _ => vec![format!("p-{number}")],
        }
    }

    /// The pod with the owner that it claims.
    pub(super) fn dress(self, pod: PodBuilder, workloads: &[Workload]) -> PodBuilder {
        let renamed = |place: usize| Workload { name: "liar".into(), ..workloads[place].clone() };
        let owner = match self {
            Kin::Liar(Lie::Name) => renamed(WEB),
            Kin::Liar(Lie::Daemon) => renamed(AGENT),
            Kin::Liar(Lie::Guess) => Workload { uid: uid("guess"), ..workloads[1].clone() },
            Kin::Liar(Lie::Abroad) => workloads[1].clone(),
            Kin::Bare | Kin::Stray => return pod,
            Kin::Follower => {
                let followed = pod.owned_by(&workloads[1]);
                return followed.with("/metadata/ownerReferences/0/controller", json!(false));
            }
            _ => workloads[self.owners()[0]].clone(),
        };
        pod.owned_by(&owner)
    }
}
