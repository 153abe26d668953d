//! The filters of a registry, ready to be asked about nodes for one pod.

use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::framework::{Begun, Filter, NodeFilter, Registry, Rejections, Verdict};
use crate::model::Pod;
use smallvec::smallvec;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

/// The filters that have something to say about a pod.
pub(super) struct Round<'c> {
    pub(super) pod_context: &'c PodContext<'c>,
    pub(super) world: &'c Snapshot<'c>,
    pub(super) filters: Vec<Ready<'c>>,
    registry: &'c Registry,
    /// How long nodes were looked at so far.
    filtering: Cell<Duration>,
}

/// A filter that has something to say.
pub(super) struct Ready<'c> {
    pub(super) plugin: &'c dyn Filter,
    pub(super) ask: NodeFilter<'c>,
}

impl<'c> Round<'c> {
    pub(super) fn new(
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        registry: &'c Registry,
    ) -> Self {
        let plugins = registry.filters.iter().map(|plugin| &**plugin);
        let filters = ready(plugins, pod_context, world);
        Self { pod_context, world, filters, registry, filtering: Cell::default() }
    }

    /// Nodes are about to be looked at.
    pub(super) fn begin(&self) -> Begun {
        self.registry.begin()
    }

    /// Nodes were looked at until now.
    pub(super) fn looked(&self, begun: Begun) {
        self.filtering.set(self.filtering.get() + self.registry.since(begun));
    }

    /// How long that took in all.
    pub(super) fn looking(&self) -> Duration {
        self.filtering.get()
    }

    /// Why the node cannot have the pod, in the words of the first filter that rejects it.
    ///
    /// Pods that others were preempted for are nominated to a node and not there yet. One that is as important as this
    /// one must not find its room taken; but it may also never come. So the pod has to fit with and without them.
    pub(super) fn ask(&self, id: NodeId) -> Result<Rejections, String> {
        let nominated = self.nominated(id);
        if !nominated.is_empty()
            && let Some(ledger) = self.world.ledger(id)
        {
            let rejections = self.suppose(with(ledger.clone(), &nominated))?;
            if !rejections.is_empty() {
                return Ok(rejections);
            }
        }
        first(&self.filters, id)
    }

    /// The same if the books of a node were these.
    pub(super) fn refit(&self, ledger: Ledger) -> Result<Rejections, String> {
        let nominated = self.nominated(ledger.id);
        if !nominated.is_empty() {
            let rejections = self.suppose(with(ledger.clone(), &nominated))?;
            if !rejections.is_empty() {
                return Ok(rejections);
            }
        }
        self.suppose(ledger)
    }

    /// Why the node cannot have the pod, in the words of every filter.
    pub(super) fn ask_all(&self, id: NodeId) -> Result<Rejections, String> {
        let mut all = Rejections::new();
        for filter in &self.filters {
            all.extend(one(filter, id)?);
        }
        Ok(all)
    }

    /// The same with the pods that are nominated to the node, as long as anything speaks against it then.
    pub(super) fn ask_all_with_nominated(&self, id: NodeId) -> Result<Rejections, String> {
        let nominated = self.nominated(id);
        if let Some(ledger) = self.world.ledger(id).filter(|_| !nominated.is_empty()) {
            let world = self.world.suppose(with(ledger.clone(), &nominated));
            let plugins = self.filters.iter().map(|ready| ready.plugin);
            let mut all = Rejections::new();
            for filter in &ready(plugins, self.pod_context, &world) {
                all.extend(one(filter, id)?);
            }
            if !all.is_empty() {
                return Ok(all);
            }
        }
        self.ask_all(id)
    }

    /// The pods nominated to the node that this one has to leave room for.
    pub(super) fn nominated(&self, id: NodeId) -> Vec<&'c Arc<Pod>> {
        nominated(self.pod_context, id, self.world)
    }

    /// Asks again with these books. A filter that had nothing to say about the pod is not asked again, as upstream.
    fn suppose(&self, ledger: Ledger) -> Result<Rejections, String> {
        let id = ledger.id;
        let world = self.world.suppose(ledger);
        let plugins = self.filters.iter().map(|ready| ready.plugin);
        first(&ready(plugins, self.pod_context, &world), id)
    }
}

/// The pods nominated to the node that the asking one has to leave room for.
pub fn nominated<'c>(pod_context: &PodContext<'_>, id: NodeId, world: &Snapshot<'c>) -> Vec<&'c Arc<Pod>> {
    if !world.has_nominated() {
        return Vec::new();
    }
    let pod = pod_context.pod;
    let others = world.nominated(id).iter();
    others.filter(|other| other.spec.priority >= pod.spec.priority && other.uid != pod.uid).collect()
}

fn ready<'c>(
    plugins: impl Iterator<Item = &'c dyn Filter>,
    pod_context: &'c PodContext<'c>,
    world: &'c Snapshot<'c>,
) -> Vec<Ready<'c>> {
    plugins.filter_map(|plugin| Some(Ready { plugin, ask: plugin.prepare(pod_context, world)? })).collect()
}

fn with(mut ledger: Ledger, pods: &[&Arc<Pod>]) -> Ledger {
    for pod in pods {
        ledger.add(Arc::new(pod.bound(ledger.node.name.clone(), None, None)));
    }
    ledger
}

fn first(filters: &[Ready<'_>], id: NodeId) -> Result<Rejections, String> {
    for filter in filters {
        let rejections = one(filter, id)?;
        if !rejections.is_empty() {
            return Ok(rejections);
        }
    }
    Ok(Rejections::new())
}

fn one(filter: &Ready<'_>, id: NodeId) -> Result<Rejections, String> {
    match (filter.ask)(id) {
        Verdict::Fits => Ok(Rejections::new()),
        Verdict::Rejects(rejections) => Ok(rejections),
        Verdict::Says(phrase) => Ok(smallvec![phrase.into()]),
        Verdict::Fails(why) => Err(failed(filter, &why)),
    }
}

/// Whether the filter lets the pod have the node.
pub(super) fn fits(filter: &Ready<'_>, id: NodeId) -> Result<bool, String> {
    match (filter.ask)(id) {
        Verdict::Fits => Ok(true),
        Verdict::Rejects(_) | Verdict::Says(_) => Ok(false),
        Verdict::Fails(why) => Err(failed(filter, &why)),
    }
}

fn failed(filter: &Ready<'_>, why: &str) -> String {
    format!("running \"{}\" filter plugin: {why}", filter.plugin.name())
}
