//! Calls the extenders of the configuration about one pod: filters one after the other, ignorable extenders last; then all
//! scores at once. Entry points: [`Extenders::ask`] and [`Extenders::bind`].
//!
//! Extenders need the pod as the API server has it, and some need whole nodes. The belief has neither, so they are read for this:
//! the pod each time, all nodes at once and at most every ten seconds. Extenders with `nodeCacheCapable` need no nodes.

use super::call::ExtenderClient;
use crate::effects::read;
use crate::scheduler::ExtenderAnswer;
use common::api::extender::client::{self, SentNodes};
use common::config::Extender;
use common::model::{NodeName, PodKey, Uid};
use kube::Client;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// The factor for scores of extenders, as upstream: their highest score is 10, that of plugins is 100.
const SCALE: i64 = 10;

/// How old nodes may be when they are sent to an extender. The decision is made with the newer belief afterwards.
const NODES_TTL: Duration = Duration::from_secs(10);

pub(crate) struct Extenders {
    pub(super) clients: Vec<ExtenderClient>,
    client: Client,
    nodes: Mutex<Option<WholeNodes>>,
}

/// All nodes as the API server had them at `at`.
struct WholeNodes {
    at: Instant,
    by_name: BTreeMap<NodeName, Box<RawValue>>,
}

/// A pod as the API server has it.
pub(super) struct WholePod {
    pub(super) json: Box<RawValue>,
    /// The names of all resources in the requests and limits of its containers.
    resources: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de> + Default"))]
struct ObjectWire<S = IgnoredAny> {
    metadata: MetaWire,
    #[serde(default)]
    spec: S,
}

#[derive(Deserialize)]
pub(super) struct MetaWire {
    name: String,
    #[serde(default)]
    pub(super) uid: String,
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
    requests: BTreeMap<String, IgnoredAny>,
    limits: BTreeMap<String, IgnoredAny>,
}

#[derive(Deserialize)]
struct ListWire {
    items: Vec<Box<RawValue>>,
}

/// The metadata of any object.
pub(super) fn metadata(object: &RawValue) -> Option<MetaWire> {
    serde_json::from_str::<ObjectWire>(object.get()).ok().map(|object| object.metadata)
}

impl Extenders {
    /// The extenders of a configuration.
    pub(crate) fn new(configured: &[Extender], client: Client) -> anyhow::Result<Self> {
        let mut clients = configured.iter().map(ExtenderClient::new).collect::<anyhow::Result<Vec<_>>>()?;
        clients.sort_by_key(|extender| extender.config.ignorable);
        Ok(Self { clients, client, nodes: Mutex::new(None) })
    }

    /// Asks all extenders about `nodes` for a pod.
    ///
    /// # Errors
    /// The message for the pod's condition, when an extender that is not ignorable fails.
    pub(crate) async fn ask(
        &self,
        pod: &PodKey,
        uid: &Uid,
        nodes: Vec<NodeName>,
    ) -> Result<ExtenderAnswer, String> {
        let whole = self.whole_pod(pod, uid).await?;
        let mut opinions = ExtenderAnswer { passed: nodes, ..ExtenderAnswer::default() };
        for extender in self.clients.iter().filter(|extender| is_interested(&extender.config, &whole)) {
            if opinions.passed.is_empty() {
                break;
            }
            match self.filter(extender, &whole, &mut opinions).await {
                Err(why) if extender.config.ignorable => {
                    tracing::warn!(%pod, extender = extender.config.url_prefix, "skipped: {why}");
                }
                answer => answer?,
            }
        }
        // With only one node left, extenders are not asked for scores, as upstream.
        if opinions.passed.len() > 1 {
            opinions.scores = self.scores(&whole, &opinions.passed, pod).await;
        }
        Ok(opinions)
    }

    async fn filter(
        &self,
        extender: &ExtenderClient,
        whole: &WholePod,
        opinions: &mut ExtenderAnswer,
    ) -> Result<(), String> {
        let config = &extender.config;
        if config.filter_verb.is_empty() {
            return Ok(());
        }
        let question = self.question(config, whole, &opinions.passed).await?;
        let answer = client::filter_result(
            &extender.send(&config.filter_verb, question).await?,
            config.node_cache_capable,
        )?;
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

    /// The sum of all scores, in the scale of plugins. An extender that fails gives no scores.
    async fn scores(&self, whole: &WholePod, nodes: &[NodeName], pod: &PodKey) -> BTreeMap<NodeName, i64> {
        let interested = self.clients.iter().filter(|extender| {
            !extender.config.prioritize_verb.is_empty() && is_interested(&extender.config, whole)
        });
        let ask = async |extender: &ExtenderClient| {
            let question = self.question(&extender.config, whole, nodes).await?;
            client::priority_list(&extender.send(&extender.config.prioritize_verb, question).await?)
        };
        let answers = interested.map(|extender| async move { (extender, ask(extender).await) });
        let mut sums = BTreeMap::new();
        for (extender, answer) in futures::future::join_all(answers).await {
            match answer {
                Ok(scores) => {
                    for (node, score) in scores {
                        let weighted = score.saturating_mul(extender.config.weight).saturating_mul(SCALE);
                        let sum = sums.entry(node).or_insert(0_i64);
                        *sum = sum.saturating_add(weighted);
                    }
                }
                Err(why) => tracing::warn!(%pod, extender = extender.config.url_prefix, "no scores: {why}"),
            }
        }
        sums
    }

    /// Lets the extender with a bind verb bind the pod, and returns the outcome. `None`: no extender binds this pod, or an
    /// ignorable one failed.
    pub(crate) async fn bind(&self, pod: &PodKey, uid: &Uid, node: &NodeName) -> Option<Result<(), String>> {
        let extender = self.clients.iter().find(|extender| !extender.config.bind_verb.is_empty())?;
        if !extender.config.managed_resources.is_empty() {
            match self.whole_pod(pod, uid).await {
                Ok(whole) if is_interested(&extender.config, &whole) => {}
                Ok(_) => return None,
                Err(why) => return Some(Err(why)),
            }
        }
        let question = client::binding_args(pod, uid, node);
        let answer = extender
            .send(&extender.config.bind_verb, question)
            .await
            .and_then(|text| client::binding_result(&text));
        match answer {
            Err(why) if extender.config.ignorable => {
                tracing::warn!(%pod, extender = extender.config.url_prefix, "skipped in bind: {why}");
                None
            }
            answer => Some(answer),
        }
    }

    async fn question(
        &self,
        config: &Extender,
        whole: &WholePod,
        nodes: &[NodeName],
    ) -> Result<String, String> {
        if config.node_cache_capable {
            return Ok(client::args(&whole.json, &SentNodes::Names(nodes)));
        }
        let objects = self.whole_nodes(nodes).await?;
        Ok(client::args(&whole.json, &SentNodes::Objects(&objects)))
    }

    pub(super) async fn whole_pod(&self, pod: &PodKey, uid: &Uid) -> Result<WholePod, String> {
        let path = format!("/api/v1/namespaces/{}/pods/{}", pod.namespace, pod.name);
        let text = read(&self.client, &path).await?;
        let wire: ObjectWire<SpecWire> =
            serde_json::from_str(&text).map_err(|error| format!("read the pod: {error}"))?;
        if Uid::from(&wire.metadata.uid) != *uid {
            return Err(format!("pods {:?} not found", wire.metadata.name));
        }
        let containers = wire.spec.containers.iter().chain(&wire.spec.init_containers);
        let resources = containers.flat_map(|container| {
            container.resources.requests.keys().chain(container.resources.limits.keys()).cloned()
        });
        let resources = resources.collect();
        Ok(WholePod { json: RawValue::from_string(text).map_err(|error| error.to_string())?, resources })
    }

    /// These nodes as whole objects, from the cache if that is recent.
    async fn whole_nodes(&self, names: &[NodeName]) -> Result<Vec<Box<RawValue>>, String> {
        let mut kept = self.nodes.lock().await;
        let is_good = |kept: &WholeNodes| {
            kept.at.elapsed() < NODES_TTL && names.iter().all(|name| kept.by_name.contains_key(name))
        };
        if !kept.as_ref().is_some_and(is_good) {
            let nodes = self.list("/api/v1/nodes", "nodes").await?.into_iter();
            let named = nodes.filter_map(|node| Some((NodeName::from(metadata(&node)?.name), node)));
            *kept = Some(WholeNodes { at: Instant::now(), by_name: named.collect() });
        }
        let kept = kept.as_ref();
        Ok(names.iter().filter_map(|name| kept?.by_name.get(name).cloned()).collect())
    }

    /// The objects of a list.
    pub(super) async fn list(&self, path: &str, what: &str) -> Result<Vec<Box<RawValue>>, String> {
        let list: ListWire = serde_json::from_str(&read(&self.client, path).await?)
            .map_err(|error| format!("read {what}: {error}"))?;
        Ok(list.items)
    }
}

/// Whether the extender is called for the pod: it manages a resource that the pod names, or has no list of managed resources.
pub(super) fn is_interested(config: &Extender, whole: &WholePod) -> bool {
    config.managed_resources.is_empty()
        || config.managed_resources.iter().any(|managed| whole.resources.contains(&managed.name))
}
