//! Calls the extenders of the configuration about the victims of a preemption, one after the other: each gets the candidates
//! that the extenders before it left. Entry point: [`Extenders::victims`].

use super::ask::{Extenders, WholePod, is_interested, metadata};
use super::call::ExtenderClient;
use crate::state::PreemptionCandidate;
use common::api::extender::{Victims, client};
use common::model::{NodeName, PodKey, Uid};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

type VictimsByNode = BTreeMap<NodeName, Victims>;

impl Extenders {
    /// The candidates that all extenders left, and their victims.
    ///
    /// # Errors
    /// The message for the pod's condition, when an extender that is not ignorable fails.
    pub(crate) async fn victims(
        &self,
        pod: &PodKey,
        uid: &Uid,
        candidates: &[PreemptionCandidate],
    ) -> Result<VictimsByNode, String> {
        let whole = self.whole_pod(pod, uid).await?;
        let mut left: VictimsByNode =
            candidates.iter().map(|one| (one.node.clone(), one.victims.clone())).collect();
        let choosers = self.clients.iter().filter(|extender| {
            !extender.config.preempt_verb.is_empty() && is_interested(&extender.config, &whole)
        });
        for extender in choosers {
            match self.choose(extender, &whole, &left, candidates).await {
                Err(why) if extender.config.ignorable => {
                    tracing::warn!(%pod, extender = extender.config.url_prefix, "skipped in preemption: {why}");
                }
                Err(why) => return Err(why),
                Ok(answer) => left = checked(answer, extender.config.ignorable)?,
            }
            if left.is_empty() {
                break;
            }
        }
        Ok(left)
    }

    async fn choose(
        &self,
        extender: &ExtenderClient,
        whole: &WholePod,
        left: &VictimsByNode,
        candidates: &[PreemptionCandidate],
    ) -> Result<VictimsByNode, String> {
        let config = &extender.config;
        let victims = if config.node_cache_capable { None } else { Some(self.whole_victims(left).await?) };
        let question = client::preemption_args(&whole.json, left, victims.as_ref());
        let answer = client::preemption_result(&extender.send(&config.preempt_verb, question).await?)?;
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

    /// The pods of these nodes as the API server has them. Victims that are gone are missing.
    async fn whole_victims(&self, left: &VictimsByNode) -> Result<BTreeMap<Uid, Box<RawValue>>, String> {
        let read = left.keys().map(async |node| {
            let path = format!("/api/v1/pods?fieldSelector=spec.nodeName%3D{node}");
            self.list(&path, "pods").await
        });
        let mut victims = BTreeMap::new();
        for list in futures::future::try_join_all(read).await? {
            victims.extend(list.into_iter().filter_map(|pod| Some((Uid::from(metadata(&pod)?.uid), pod))));
        }
        Ok(victims)
    }
}

/// A node without victims is an error; from an ignorable extender, the node is only dropped.
fn checked(mut left: VictimsByNode, is_ignorable: bool) -> Result<VictimsByNode, String> {
    if let Some((node, _)) = left.iter().find(|(_, victims)| victims.pods.is_empty() && !is_ignorable) {
        return Err(format!("expected at least one victim pod on node {:?}", node.as_str()));
    }
    left.retain(|_, victims| !victims.pods.is_empty());
    Ok(left)
}
