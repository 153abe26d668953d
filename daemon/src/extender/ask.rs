//! Asking the extenders of the configuration about one pod: filters one after the other, those that may be ignored last;
//! then all scores at once.
//!
//! Extenders want the pod as the API server has it, and some want whole nodes. The belief keeps neither, so they are read
//! for the purpose: the pod each time, nodes all at once and at most every ten seconds. `nodeCacheCapable` saves the latter.

use super::call::Caller;
use crate::effects::{Outcome, call};
use crate::scheduler::Opinions;
use common::api::extender::ask::{self, Nodes};
use common::config::Extender;
use common::model::{NodeName, PodKey, Uid};
use kube::Client;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// What upstream multiplies the scores of extenders with: they count to 10, plugins to 100.
const SCALE: i64 = 10;

/// How old the nodes may be that are shown to an extender. The pod is checked against the belief afterwards.
const NODES_FOR: Duration = Duration::from_secs(10);

/// The extenders of the configuration.
pub(crate) struct Extenders {
    pub(super) callers: Vec<Caller>,
    client: Client,
    nodes: Mutex<Option<WholeNodes>>,
}

/// All nodes as the API server had them.
struct WholeNodes {
    at: Instant,
    by_name: BTreeMap<NodeName, Box<RawValue>>,
}

/// A pod as the API server has it.
pub(super) struct Whole {
    pub(super) json: Box<RawValue>,
    /// Everything that its containers name in requests and limits.
    resources: BTreeSet<String>,
}

#[derive(Deserialize)]
struct PodWire {
    metadata: MetaWire,
    #[serde(default)]
    spec: SpecWire,
}

#[derive(Deserialize)]
struct MetaWire {
    name: String,
    #[serde(default)]
    uid: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct SpecWire {
    containers: Vec<ContainerWire>,
    init_containers: Vec<ContainerWire>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ContainerWire {
    resources: ResourcesWire,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ResourcesWire {
    requests: BTreeMap<String, serde::de::IgnoredAny>,
    limits: BTreeMap<String, serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct NodesWire {
    items: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct NamedWire {
    metadata: MetaWire,
}

impl Extenders {
    /// The extenders of a configuration.
    ///
    /// # Errors
    /// When one of them cannot be asked as it says.
    pub(crate) fn new(configured: &[Extender], client: Client) -> anyhow::Result<Self> {
        let mut callers = configured.iter().map(Caller::new).collect::<anyhow::Result<Vec<_>>>()?;
        callers.sort_by_key(|caller| caller.config.ignorable);
        Ok(Self { callers, client, nodes: Mutex::new(None) })
    }

    /// What they say about `nodes` for a pod.
    ///
    /// # Errors
    /// With what the pod is told, when one that cannot be ignored fails.
    pub(crate) async fn ask(
        &self,
        pod: &PodKey,
        uid: &Uid,
        nodes: Vec<NodeName>,
    ) -> Result<Opinions, String> {
        let whole = self.whole(pod, uid).await?;
        let mut opinions = Opinions { passed: nodes, ..Opinions::default() };
        for caller in self.callers.iter().filter(|caller| is_interested(&caller.config, &whole)) {
            if opinions.passed.is_empty() {
                break;
            }
            match self.filter(caller, &whole, &mut opinions).await {
                Err(why) if caller.config.ignorable => {
                    tracing::warn!(%pod, extender = caller.config.url_prefix, "skipped: {why}");
                }
                answer => answer?,
            }
        }
        // Nobody is asked for scores when there is nothing to choose from, as upstream.
        if opinions.passed.len() > 1 {
            opinions.scores = self.scores(&whole, &opinions.passed, pod).await;
        }
        Ok(opinions)
    }

    async fn filter(&self, caller: &Caller, whole: &Whole, opinions: &mut Opinions) -> Result<(), String> {
        let config = &caller.config;
        if config.filter_verb.is_empty() {
            return Ok(());
        }
        let question = self.question(config, whole, &opinions.passed).await?;
        let answer =
            ask::filtered(&caller.send(&config.filter_verb, question).await?, config.node_cache_capable)?;
        let known: BTreeSet<&NodeName> = opinions.passed.iter().collect();
        if let Some(unknown) = answer.nodes.iter().find(|node| !known.contains(node)) {
            return Err(format!(
                "extender {:?} claims a filtered node {:?} which is not found in the input node list",
                config.url_prefix,
                unknown.as_str()
            ));
        }
        opinions.failed.extend(answer.failed);
        opinions.unresolvable.extend(answer.unresolvable);
        opinions.passed = answer.nodes;
        Ok(())
    }

    /// The sum of all scores, brought to the scale of plugins. Whoever fails gives none.
    async fn scores(&self, whole: &Whole, nodes: &[NodeName], pod: &PodKey) -> BTreeMap<NodeName, i64> {
        let interested = self.callers.iter().filter(|caller| {
            !caller.config.prioritize_verb.is_empty() && is_interested(&caller.config, whole)
        });
        let ask = async |caller: &Caller| {
            let question = self.question(&caller.config, whole, nodes).await?;
            ask::prioritized(&caller.send(&caller.config.prioritize_verb, question).await?)
        };
        let answers = interested.map(|caller| async move { (caller, ask(caller).await) });
        let mut sums = BTreeMap::new();
        for (caller, answer) in futures::future::join_all(answers).await {
            match answer {
                Ok(scores) => {
                    for (node, score) in scores {
                        let weighted = score.saturating_mul(caller.config.weight).saturating_mul(SCALE);
                        let sum = sums.entry(node).or_insert(0_i64);
                        *sum = sum.saturating_add(weighted);
                    }
                }
                Err(why) => tracing::warn!(%pod, extender = caller.config.url_prefix, "no scores: {why}"),
            }
        }
        sums
    }

    /// Whether a binder among them takes care of the pod, and what came of it. `None`: nobody does, or it may be ignored
    /// and failed.
    pub(crate) async fn bind(&self, pod: &PodKey, uid: &Uid, node: &NodeName) -> Option<Result<(), String>> {
        let caller = self.callers.iter().find(|caller| !caller.config.bind_verb.is_empty())?;
        if !caller.config.managed_resources.is_empty() {
            match self.whole(pod, uid).await {
                Ok(whole) if is_interested(&caller.config, &whole) => {}
                Ok(_) => return None,
                Err(why) => return Some(Err(why)),
            }
        }
        let question = ask::binding(pod, uid, node);
        let answer = caller.send(&caller.config.bind_verb, question).await.and_then(|text| ask::bound(&text));
        match answer {
            Err(why) if caller.config.ignorable => {
                tracing::warn!(%pod, extender = caller.config.url_prefix, "skipped in bind: {why}");
                None
            }
            answer => Some(answer),
        }
    }

    async fn question(&self, config: &Extender, whole: &Whole, nodes: &[NodeName]) -> Result<String, String> {
        if config.node_cache_capable {
            return Ok(ask::question(&whole.json, &Nodes::Names(nodes)));
        }
        let objects = self.objects(nodes).await?;
        Ok(ask::question(&whole.json, &Nodes::Objects(&objects)))
    }

    /// The pod as it is now.
    pub(super) async fn whole(&self, pod: &PodKey, uid: &Uid) -> Result<Whole, String> {
        let text = self.read(&format!("/api/v1/namespaces/{}/pods/{}", pod.namespace, pod.name)).await?;
        let wire: PodWire = serde_json::from_str(&text).map_err(|error| format!("read the pod: {error}"))?;
        if Uid::from(&wire.metadata.uid) != *uid {
            return Err(format!("pods {:?} not found", wire.metadata.name));
        }
        let containers = wire.spec.containers.iter().chain(&wire.spec.init_containers);
        let resources = containers.flat_map(|container| {
            container.resources.requests.keys().chain(container.resources.limits.keys()).cloned()
        });
        let resources = resources.collect();
        Ok(Whole { json: RawValue::from_string(text).map_err(|error| error.to_string())?, resources })
    }

    /// These nodes as whole objects.
    async fn objects(&self, names: &[NodeName]) -> Result<Vec<Box<RawValue>>, String> {
        let mut kept = self.nodes.lock().await;
        let is_good = |kept: &WholeNodes| {
            kept.at.elapsed() < NODES_FOR && names.iter().all(|name| kept.by_name.contains_key(name))
        };
        if !kept.as_ref().is_some_and(is_good) {
            let text = self.read("/api/v1/nodes").await?;
            let list: NodesWire =
                serde_json::from_str(&text).map_err(|error| format!("read nodes: {error}"))?;
            let named = list.items.into_iter().filter_map(|node| {
                let name: NamedWire = serde_json::from_str(node.get()).ok()?;
                Some((NodeName::from(name.metadata.name), node))
            });
            *kept = Some(WholeNodes { at: Instant::now(), by_name: named.collect() });
        }
        let kept = kept.as_ref();
        Ok(names.iter().filter_map(|name| kept?.by_name.get(name).cloned()).collect())
    }

    pub(super) async fn read(&self, path: &str) -> Result<String, String> {
        let request = http::Request::get(path).body(Vec::new()).map_err(|error| error.to_string())?;
        match call(self.client.request_text(request)).await {
            Outcome::Done(text) => Ok(text),
            Outcome::Refused(status) => Err(status.message),
            Outcome::Unknown(why) => Err(why),
        }
    }
}

/// Whether the pod concerns the extender: it names a resource that the extender looks after, or that looks after none.
pub(super) fn is_interested(config: &Extender, whole: &Whole) -> bool {
    config.managed_resources.is_empty()
        || config.managed_resources.iter().any(|managed| whole.resources.contains(&managed.name))
}
