//! Pods that asked for a reservation by themselves are told when they have it: once every live replica has seen it.

use super::{Controller, Look, report};
use crate::state::{Effect, Step};
use common::cluster::{Acknowledged, Ledger, acknowledged};
use common::model::keep::Keep;
use common::model::{Pod, PodKey, Uid};
use std::collections::BTreeMap;

/// Who has to be told, and who was.
#[derive(Default)]
pub(super) struct Confirmations {
    by_pod: BTreeMap<PodKey, Confirmation>,
}

struct Confirmation {
    uid: Uid,
    /// The version of the node that every replica must have seen; `None` once the pod was told.
    version: Option<u64>,
}

impl Confirmations {
    /// The pod's reservation is there.
    pub(super) fn made(&mut self, pod: &Pod, ledger: &Ledger) {
        let asks = pod.keep().and_then(Keep::life).is_some();
        if !asks || pod.deleting || self.by_pod.get(&pod.key).is_some_and(|known| known.uid == pod.uid) {
            return;
        }
        let version = Some(ledger.node.resource_version);
        self.by_pod.insert(pod.key.clone(), Confirmation { uid: pod.uid.clone(), version });
    }
}

impl Controller {
    /// Tells the pods whose reservations every live replica has seen.
    pub(super) fn confirm(&mut self, look: &Look, step: &mut Step<'_>) {
        if !look.replicas && look.pods.is_empty() && !look.all {
            return;
        }
        let (cluster, now) = (&*step.cluster, step.now.wall);
        let is_there = |key: &PodKey, uid: &Uid| cluster.pod(key).is_some_and(|pod| pod.uid == *uid);
        self.confirmations.by_pod.retain(|key, known| is_there(key, &known.uid));
        for (key, known) in &mut self.confirmations.by_pod {
            let Some(version) = known.version else { continue };
            let Some(pod) = cluster.pod(key) else { continue };
            if acknowledged(cluster.replicas().iter(), version, now) == Acknowledged::ByAll {
                known.version = None;
                let report = report::reserved(pod, now);
                step.effects.push(Effect::Report(Box::new(report)));
            }
        }
    }
}
