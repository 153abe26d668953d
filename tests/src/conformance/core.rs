//! Our side: [`Core::read`] reads the lines of a case into a [`Cluster`], runs the scheduling cycle, and returns the outcome in the
//! common format.

mod hints;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail, ensure};
use common::api;
use common::cluster::{Assumption, Cluster, Event, NodeId, PodContext, Snapshot, WatchEvent};
use common::cycle::{self, Decision, Depth};
use common::framework::{Diagnosis, PostFilterResult, Registry, Rejection};
use common::model::ids::NodeName;
use common::model::pod::{Feature, Features, PodSpec};
use common::model::{CatalogKind, Claim, Claims, OwnerKind, Pod};
use common::plugins::{default_registry, without_reservations};
use jiff::Timestamp;
use serde_json::value::RawValue;

use super::format::{
    Candidate, CaseLine, CaseObjects, CaseOutcome, NodeOutcome, NodeScore, Preemption, Verdict,
};

/// The names of the upstream plugins that the core implements. Only these are compared.
pub fn served() -> Vec<String> {
    let registry = without_reservations();
    let mut names: Vec<&str> = registry.pre_enqueues.iter().map(|plugin| plugin.name()).collect();
    names.extend(registry.queue_sort.iter().map(|plugin| plugin.name()));
    names.extend(registry.pre_filters.iter().map(|plugin| plugin.name()));
    names.extend(registry.filters.iter().map(|plugin| plugin.name()));
    names.extend(registry.post_filters.iter().map(|plugin| plugin.name()));
    names.extend(registry.pre_scores.iter().map(|plugin| plugin.name()));
    names.extend(registry.scores.iter().map(|score| score.plugin.name()));
    names.extend(registry.reserves.iter().map(|plugin| plugin.name()));
    names.extend(registry.permits.iter().map(|plugin| plugin.name()));
    names.extend(registry.pre_binds.iter().map(|plugin| plugin.name()));
    names.extend(registry.binds.iter().map(|plugin| plugin.name()));
    names.extend(registry.post_binds.iter().map(|plugin| plugin.name()));
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(str::to_owned).collect()
}

/// Those of them that are Filter plugins.
pub fn served_filters() -> Vec<String> {
    without_reservations().filters.iter().map(|plugin| plugin.name().to_owned()).collect()
}

/// Those of them that are Score plugins.
pub fn served_scores() -> Vec<String> {
    without_reservations().scores.iter().map(|score| score.plugin.name().to_owned()).collect()
}

/// The core, with the cluster of the last cluster line.
pub struct Core {
    cluster: Cluster,
    /// The names of the nodes in the order of the cluster line.
    order: Vec<String>,
    /// Upstream's plugins only, for the verdicts and scores of each plugin.
    steps: Registry,
    /// The product's plugins, for the decision.
    product: Registry,
}

impl Default for Core {
    fn default() -> Self {
        Self {
            cluster: Cluster::default(),
            order: Vec::new(),
            steps: without_reservations(),
            product: default_registry(),
        }
    }
}

impl Core {
    /// Reads a line. The line of a pod has an outcome, the line of a cluster has none.
    ///
    /// # Errors
    /// When the line or an object in it cannot be decoded, or the core contradicts itself.
    pub fn read(&mut self, line: &str) -> Result<Option<CaseOutcome>> {
        let line: CaseLine<'_> = serde_json::from_str(line).context("read the line")?;
        match (line.cluster, line.pod) {
            (Some(objects), None) => {
                self.learn(&objects)?;
                Ok(None)
            }
            (None, Some(json)) => {
                let pod = api::pod::pod(json.get())?;
                let mut outcome = match &line.change {
                    Some(change) => self.hints(&pod, change)?,
                    None => self.decide(&pod, line.all)?,
                };
                outcome.id = line.id;
                if line.assume {
                    self.assume(pod, &outcome);
                }
                Ok(Some(outcome))
            }
            _ => bail!("neither a cluster nor a pod, or both"),
        }
    }

    fn learn(&mut self, objects: &CaseObjects<'_>) -> Result<()> {
        let decode = |json: &&RawValue| api::node::node(json.get());
        let nodes = objects.nodes.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        let decode = |json: &&RawValue| api::pod::pod(json.get());
        let pods = objects.pods.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        self.order = nodes.iter().map(|node| node.name.to_string()).collect();
        self.cluster = Cluster::default();
        self.cluster.apply(Event::Nodes(WatchEvent::Relisted(nodes)));
        self.cluster.apply(Event::Pods(WatchEvent::Relisted(pods)));
        for kind in OwnerKind::ALL {
            let decode = |json: &&RawValue| api::workload::workload(kind, json.get());
            let live = objects.workloads(kind).iter().map(decode).collect::<Result<Vec<_>, _>>()?;
            self.cluster.apply(Event::Workloads(kind, WatchEvent::Relisted(live)));
        }
        for kind in CatalogKind::ALL {
            let decode = |json: &&RawValue| api::catalog_object::catalog_object(kind, json.get());
            let live = objects.others(kind).iter().map(decode).collect::<Result<Vec<_>, _>>()?;
            self.cluster.apply(Event::CatalogObjects(kind, WatchEvent::Relisted(live)));
        }
        Ok(())
    }

    /// Counts the pod on the first of its best nodes.
    fn assume(&mut self, pod: Pod, outcome: &CaseOutcome) {
        let Some(node) = outcome.best.first() else { return };
        let node = NodeName::from(node.as_str());
        let claims = chosen(&pod, &node, &self.cluster.snapshot(Timestamp::UNIX_EPOCH), &self.steps);
        let (key, uid, since) = (pod.key.clone(), pod.uid.clone(), Timestamp::UNIX_EPOCH);
        // A pod with a node name would count as bound; here it must be assumed like the others.
        self.cluster.apply(Event::Pods(WatchEvent::Applied(Pod { node: None, ..pod })));
        self.cluster.assume(&key, Assumption { uid, node, claims, since });
    }

    fn decide(&mut self, pod: &Pod, all: bool) -> Result<CaseOutcome> {
        let pre_enqueue = held_back(pod, &self.steps);
        if !pre_enqueue.is_empty() {
            return Ok(CaseOutcome { pre_enqueue, ..CaseOutcome::default() });
        }
        let snapshot = self.cluster.snapshot(Timestamp::UNIX_EPOCH);
        match step_by_step(&snapshot.context(pod), &snapshot, &self.steps, all) {
            Err(error) => Ok(CaseOutcome { error: Some(error), ..CaseOutcome::default() }),
            Ok((trace, mut nodes)) => {
                let nodes = self.order.iter().filter_map(|name| nodes.remove(name)).collect();
                let mut outcome = CaseOutcome { nodes, ..CaseOutcome::default() };
                outcome.best = best(&outcome.nodes);
                outcome.pre_filter = verdicts(&trace.pre_filter_rejections).into_iter().next();
                outcome.excluded_by = trace.excluded_by.iter().map(|&plugin| plugin.to_owned()).collect();
                conclude(pod, &snapshot, &self.product, &trace, &mut outcome)?;
                Ok(outcome)
            }
        }
    }
}

/// The volumes that the pod's claims get on `node`.
fn chosen(pod: &Pod, node: &NodeName, snapshot: &Snapshot<'_>, registry: &Registry) -> Claims {
    let Some(ledger) = snapshot.find(node).and_then(|id| snapshot.ledger(id)) else {
        return Claims::default();
    };
    let context = snapshot.context(pod);
    let reserved =
        registry.reserves.iter().filter_map(|plugin| plugin.reserve(&context, ledger, snapshot).ok());
    Claims(reserved.flatten().filter(|claim| matches!(claim, Claim::Volume(_))).collect())
}

/// The PreEnqueue plugins that reject the pod.
fn held_back(pod: &Pod, registry: &Registry) -> Vec<Verdict> {
    let rejections = registry.pre_enqueues.iter().filter_map(|plugin| plugin.check(pod));
    let mut verdicts: Vec<Verdict> = rejections.flat_map(|rejection| verdicts(&[rejection])).collect();
    verdicts.sort_by(|one, other| one.plugin.cmp(&other.plugin));
    verdicts
}

/// The first rejection of every node, with `all` the verdict of every filter about every node, and every score.
fn step_by_step(
    context: &PodContext<'_>,
    snapshot: &Snapshot<'_>,
    registry: &Registry,
    all: bool,
) -> Result<(Diagnosis, BTreeMap<String, NodeOutcome>), String> {
    let first = cycle::diagnose(context, snapshot, registry, Depth::First)?;
    let is_refused = !first.pre_filter_rejections.is_empty();
    let every = match all && !is_refused {
        true => cycle::diagnose(context, snapshot, registry, Depth::All)?.nodes,
        false => Vec::new(),
    };
    let mut nodes: BTreeMap<String, NodeOutcome> = BTreeMap::new();
    for (index, trace) in first.nodes.iter().enumerate() {
        let node = snapshot.name(trace.id).map(ToString::to_string).unwrap_or_default();
        let rejection = verdicts(&trace.rejections).into_iter().next();
        let filters = every.get(index).map(|every| verdicts(&every.rejections)).unwrap_or_default();
        nodes.insert(node.clone(), NodeOutcome { node, rejection, filters, ..NodeOutcome::default() });
    }
    score(context, snapshot, registry, &first, &mut nodes)?;
    Ok((first, nodes))
}

/// The product's decision. An error if the index and the scan decide differently.
fn decided(pod: &Pod, snapshot: &Snapshot<'_>, product: &Registry) -> Result<Decision> {
    let decision = cycle::schedule(pod, snapshot, product);
    let scanned = cycle::schedule_by_scan(pod, snapshot, product);
    ensure!(decision == scanned, "found with an index: {decision:?}, and without: {scanned:?}");
    Ok(decision)
}

/// The pod without the features that our scheduler refuses: the oracle ignores these features.
fn without_what_is_refused(pod: &Pod) -> Pod {
    let mut spec = PodSpec::clone(&pod.spec);
    let is_served = |feature: &Feature| !feature.is_unsupported() && *feature != Feature::SchedulingGates;
    let mut features = Features::default();
    spec.features.iter().filter(is_served).for_each(|feature| features.insert(feature));
    spec.features = features;
    Pod { spec: spec.into(), ..pod.clone() }
}

/// Adds the product's decision, with all its plugins, to the outcome.
fn conclude(
    pod: &Pod,
    snapshot: &Snapshot<'_>,
    product: &Registry,
    trace: &Diagnosis,
    outcome: &mut CaseOutcome,
) -> Result<()> {
    let decision = match decided(pod, snapshot, product)? {
        Decision::Refused(_) => decided(&without_what_is_refused(pod), snapshot, product)?,
        decision => decision,
    };
    let said = trace.feasible().next().is_none().then(|| cycle::message(trace));
    match decision {
        Decision::Place { node, .. } => {
            // If the pod was nominated to this node, only this node was looked at.
            if pod.nominated_node.as_deref() == Some(&node) {
                outcome.best = vec![node.to_string()];
            }
            outcome.host = Some(node.to_string());
        }
        Decision::Refused(_) => {
            outcome.host = outcome.best.first().cloned();
            outcome.message = said;
        }
        Decision::NoFit(no_fit) => {
            let message = cycle::message(&no_fit.diagnosis);
            // For a nominated pod the cycle also looks at its nominated node, even if a PreFilter plugin excludes it.
            let has_more = pod.nominated_node.is_some() && !trace.excluded_by.is_empty();
            ensure!(
                has_more || Some(&message) == said.as_ref(),
                "the cycle says {message:?}, its steps {said:?}"
            );
            outcome.message = Some(no_fit.message());
            outcome.preemption =
                (!no_fit.diagnosis.nodes.is_empty()).then(|| preemption(&no_fit.post_filter));
        }
        // The cases have no reservations, so this does not happen.
        Decision::WaitForNode(awaited) => outcome.error = Some(awaited.to_string()),
        Decision::Failed(why) => outcome.error = Some(why.to_string()),
    }
    Ok(())
}

fn preemption(help: &PostFilterResult) -> Preemption {
    let candidates = help.candidates.iter().map(|candidate| {
        let victims = candidate.pods.iter().map(|pod| pod.key.to_string()).collect();
        let found = Candidate {
            victims,
            violations: i64::try_from(candidate.violations).unwrap_or(i64::MAX),
            highest_priority: i64::from(candidate.highest_priority()),
            priority_sum: candidate.priority_sum(),
            earliest_start: candidate.earliest_start().map(Timestamp::from),
        };
        (candidate.node.to_string(), found)
    });
    Preemption {
        nominated: help.nominated.as_ref().map(|victims| victims.node.to_string()),
        candidates: candidates.collect(),
    }
}

/// One verdict for each plugin. The rejections are grouped by plugin.
fn verdicts(rejections: &[Rejection]) -> Vec<Verdict> {
    let plugins = rejections.chunk_by(|one, next| one.plugin == next.plugin);
    let verdict = |of_one: &[Rejection]| {
        let mut reasons: Vec<String> = of_one.iter().map(|one| one.reason.to_string()).collect();
        reasons.sort();
        let unresolvable = of_one.iter().any(|one| one.reason.is_unresolvable());
        let code = if unresolvable { "UU" } else { "U" };
        let plugin = of_one.first().map(|one| one.plugin.to_owned()).unwrap_or_default();
        Verdict { plugin, code: code.to_owned(), reasons }
    };
    plugins.map(verdict).collect()
}

fn score(
    context: &PodContext<'_>,
    snapshot: &Snapshot<'_>,
    registry: &Registry,
    trace: &Diagnosis,
    nodes: &mut BTreeMap<String, NodeOutcome>,
) -> Result<(), String> {
    let fitting: Vec<_> = trace.nodes.iter().filter(|node| node.rejections.is_empty()).collect();
    let feasible: Vec<NodeId> = fitting.iter().map(|node| node.id).collect();
    for scores in cycle::scores(context, snapshot, registry, &feasible)? {
        for (fits, (raw, weighted)) in fitting.iter().zip(scores.raw.iter().zip(&scores.weighted)) {
            if let Some(node) = snapshot.name(fits.id).and_then(|name| nodes.get_mut(name.as_str())) {
                let scored = NodeScore { raw: *raw, weighted: *weighted };
                node.scores.insert(scores.plugin.to_owned(), scored);
                *node.total.get_or_insert(0) += weighted;
            }
        }
    }
    Ok(())
}

/// The feasible nodes with the highest total. A single feasible node has no scores.
fn best(nodes: &[NodeOutcome]) -> Vec<String> {
    let feasible = || nodes.iter().filter(|node| node.rejection.is_none());
    let highest = feasible().map(|node| node.total).max();
    feasible().filter(|node| Some(node.total) == highest).map(|node| node.node.clone()).collect()
}
