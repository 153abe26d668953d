//! Asking the extenders of the configuration who may have to go for a pod, one after the other: each sees what those before
//! it left.

use super::ask::{Extenders, Whole, is_interested};
use super::call::Caller;
use crate::state::Candidate;
use common::api::extender::{Victims, ask};
use common::model::{NodeName, PodKey, Uid};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Nodes with those who would have to go there.
type Left = BTreeMap<NodeName, Victims>;

#[derive(Deserialize)]
struct PodsWire {
    items: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct PodWire {
    metadata: MetaWire,
}

#[derive(Deserialize)]
struct MetaWire {
    #[serde(default)]
    uid: String,
}

impl Extenders {
    /// The candidates that are left, and who has to go there.
    ///
    /// # Errors
    /// With what the pod is told, when one that cannot be ignored fails.
    pub(crate) async fn victims(
        &self,
        pod: &PodKey,
        uid: &Uid,
        candidates: &[Candidate],
    ) -> Result<Left, String> {
        let whole = self.whole(pod, uid).await?;
        let mut left: Left = candidates.iter().map(|one| (one.node.clone(), one.victims.clone())).collect();
        let choosers = self
            .callers
            .iter()
            .filter(|caller| !caller.config.preempt_verb.is_empty() && is_interested(&caller.config, &whole));
        for caller in choosers {
            match self.choose(caller, &whole, &left, candidates).await {
                Err(why) if caller.config.ignorable => {
                    tracing::warn!(%pod, extender = caller.config.url_prefix, "skipped in preemption: {why}");
                }
                Err(why) => return Err(why),
                Ok(answer) => left = checked(answer, caller.config.ignorable)?,
            }
            if left.is_empty() {
                break;
            }
        }
        Ok(left)
    }

    async fn choose(
        &self,
        caller: &Caller,
        whole: &Whole,
        left: &Left,
        candidates: &[Candidate],
    ) -> Result<Left, String> {
        let config = &caller.config;
        let victims = if config.node_cache_capable { None } else { Some(self.whole_victims(left).await?) };
        let question = ask::preemption(&whole.json, left, victims.as_ref());
        let answer = ask::preempted(&caller.send(&config.preempt_verb, question).await?)?;
        for (node, victims) in &answer {
            let Some(known) = candidates.iter().find(|candidate| candidate.node == *node) else {
                return Err(format!("nodeinfo not found for node name {:?}", node.as_str()));
            };
            if let Some(unknown) = victims.pods.iter().find(|uid| !known.pods.contains(uid)) {
                return Err(format!(
                    "extender: {} claims to preempt pod (UID: &{{{unknown}}}) on node: {node}, but the pod is not found on that node",
                    config.url_prefix
                ));
            }
        }
        Ok(answer)
    }

    /// The victims as the API server has them. Those that are gone by now are not shown.
    async fn whole_victims(&self, left: &Left) -> Result<BTreeMap<Uid, Box<RawValue>>, String> {
        let read = left.keys().map(async |node| {
            let path = format!("/api/v1/pods?fieldSelector=spec.nodeName%3D{node}");
            let list = serde_json::from_str::<PodsWire>(&self.read(&path).await?);
            list.map_err(|error| format!("read pods: {error}"))
        });
        let mut victims = BTreeMap::new();
        for list in futures::future::try_join_all(read).await? {
            for pod in list.items {
                if let Ok(wire) = serde_json::from_str::<PodWire>(pod.get()) {
                    victims.insert(Uid::from(&wire.metadata.uid), pod);
                }
            }
        }
        Ok(victims)
    }
}

/// A node without victims is no answer; from an extender that may be ignored, it is only a node less.
fn checked(mut left: Left, is_ignorable: bool) -> Result<Left, String> {
    if let Some((node, _)) = left.iter().find(|(_, victims)| victims.pods.is_empty() && !is_ignorable) {
        return Err(format!("expected at least one victim pod on node {:?}", node.as_str()));
    }
    left.retain(|_, victims| !victims.pods.is_empty());
    Ok(left)
}
