//! The filters of a registry, prepared for one pod. Entry point: [`FilterSet::new`]; then the filters run on single nodes. Pods
//! that are nominated to a node are counted there, as kube-scheduler does.

use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::framework::{CycleError, Filter, NodeFilter, Registry, Rejection, Rejections, StartTime, Verdict};
use crate::model::Pod;
use smallvec::smallvec;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

/// The filters that may reject nodes for one pod.
pub(super) struct FilterSet<'c> {
    pub(super) context: &'c PodContext<'c>,
    pub(super) world: &'c Snapshot<'c>,
    pub(super) filters: Vec<PreparedFilter<'c>>,
    registry: &'c Registry,
    /// The time spent on filtering so far.
    filtering: Cell<Duration>,
}

pub(super) struct PreparedFilter<'c> {
    pub(super) plugin: &'c dyn Filter,
    pub(super) run: NodeFilter<'c>,
}

impl<'c> FilterSet<'c> {
    pub(super) fn new(context: &'c PodContext<'c>, world: &'c Snapshot<'c>, registry: &'c Registry) -> Self {
        let plugins = registry.filters.iter().map(|plugin| &**plugin);
        let filters = prepare(plugins, context, world);
        Self { context, world, filters, registry, filtering: Cell::default() }
    }

    pub(super) fn start_timer(&self) -> StartTime {
        self.registry.start_timer()
    }

    pub(super) fn add_filter_time(&self, start: StartTime) {
        self.filtering.set(self.filtering.get() + self.registry.elapsed(start));
    }

    /// The time spent on filtering so far.
    pub(super) fn filter_time(&self) -> Duration {
        self.filtering.get()
    }

    /// The rejections of the first filter that rejects the node; empty if the pod fits.
    ///
    /// A pod for which others were preempted is nominated to a node and not there yet. A nominated pod of the same or a higher
    /// priority must still find its room; but it may also never come. So this pod has to fit with and without the nominated pods.
    pub(super) fn first_rejections(&self, id: NodeId) -> Result<Rejections, CycleError> {
        let nominated = self.nominated(id);
        if !nominated.is_empty()
            && let Some(ledger) = self.world.ledger(id)
        {
            let rejections = self.suppose(with_pods(ledger.clone(), &nominated))?;
            if !rejections.is_empty() {
                return Ok(rejections);
            }
        }
        run_until_rejected(&self.filters, id)
    }

    /// The rejections of the first filter that rejects the node if its ledger were this one; empty if the pod would fit.
    pub(super) fn filter_with(&self, ledger: Ledger) -> Result<Rejections, CycleError> {
        let nominated = self.nominated(ledger.id);
        if !nominated.is_empty() {
            let rejections = self.suppose(with_pods(ledger.clone(), &nominated))?;
            if !rejections.is_empty() {
                return Ok(rejections);
            }
        }
        self.suppose(ledger)
    }

    /// The rejections of every filter, without the nominated pods.
    pub(super) fn all_rejections(&self, id: NodeId) -> Result<Rejections, CycleError> {
        let mut all = Rejections::new();
        for filter in &self.filters {
            all.extend(run(filter, id)?);
        }
        Ok(all)
    }

    /// The rejections of every filter with the nominated pods; or without them, if the pod would fit with them.
    pub(super) fn all_rejections_with_nominated(&self, id: NodeId) -> Result<Rejections, CycleError> {
        let nominated = self.nominated(id);
        if let Some(ledger) = self.world.ledger(id).filter(|_| !nominated.is_empty()) {
            let world = self.world.suppose(with_pods(ledger.clone(), &nominated));
            let plugins = self.filters.iter().map(|filter| filter.plugin);
            let mut all = Rejections::new();
            for filter in &prepare(plugins, self.context, &world) {
                all.extend(run(filter, id)?);
            }
            if !all.is_empty() {
                return Ok(all);
            }
        }
        self.all_rejections(id)
    }

    /// The pods nominated to the node whose priority is not lower than that of this pod.
    pub(super) fn nominated(&self, id: NodeId) -> Vec<&'c Arc<Pod>> {
        nominated(self.context, id, self.world)
    }

    /// Runs the filters again with this ledger. A filter that was skipped for the pod stays skipped, as in kube-scheduler.
    fn suppose(&self, ledger: Ledger) -> Result<Rejections, CycleError> {
        let id = ledger.id;
        let world = self.world.suppose(ledger);
        let plugins = self.filters.iter().map(|filter| filter.plugin);
        run_until_rejected(&prepare(plugins, self.context, &world), id)
    }
}

/// The pods nominated to the node whose priority is not lower than that of the pod in `context`. They keep their room.
pub fn nominated<'c>(context: &PodContext<'_>, id: NodeId, world: &Snapshot<'c>) -> Vec<&'c Arc<Pod>> {
    if !world.has_nominated() {
        return Vec::new();
    }
    let pod = context.pod;
    let others = world.nominated(id).iter();
    others.filter(|other| other.spec.priority >= pod.spec.priority && other.uid != pod.uid).collect()
}

fn prepare<'c>(
    plugins: impl Iterator<Item = &'c dyn Filter>,
    context: &'c PodContext<'c>,
    world: &'c Snapshot<'c>,
) -> Vec<PreparedFilter<'c>> {
    plugins
        .filter_map(|plugin| Some(PreparedFilter { plugin, run: plugin.prepare(context, world)? }))
        .collect()
}

fn with_pods(mut ledger: Ledger, pods: &[&Arc<Pod>]) -> Ledger {
    for pod in pods {
        ledger.add(Arc::new(pod.bound(ledger.node.name.clone(), None, None)));
    }
    ledger
}

fn run_until_rejected(filters: &[PreparedFilter<'_>], id: NodeId) -> Result<Rejections, CycleError> {
    for filter in filters {
        let rejections = run(filter, id)?;
        if !rejections.is_empty() {
            return Ok(rejections);
        }
    }
    Ok(Rejections::new())
}

fn run(filter: &PreparedFilter<'_>, id: NodeId) -> Result<Rejections, CycleError> {
    match (filter.run)(id) {
        Verdict::Fits => Ok(Rejections::new()),
        Verdict::Rejects(rejections) => Ok(rejections),
        Verdict::RejectsStatic { plugin, reason } => Ok(smallvec![Rejection::new(plugin, *reason)]),
        Verdict::Fails(source) => Err(CycleError::Filter { plugin: filter.plugin.name(), source }),
    }
}

pub(super) fn fits(filter: &PreparedFilter<'_>, id: NodeId) -> Result<bool, CycleError> {
    match (filter.run)(id) {
        Verdict::Fits => Ok(true),
        Verdict::Rejects(_) | Verdict::RejectsStatic { .. } => Ok(false),
        Verdict::Fails(source) => Err(CycleError::Filter { plugin: filter.plugin.name(), source }),
    }
}
