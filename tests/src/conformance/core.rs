//! Our side: reads lines of cases into a [`Cluster`], asks the cycle, and says it in the common format.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail, ensure};
use common::api;
use common::cluster::{Assumed, Cluster, Event, NodeId, PodContext, Seen, Snapshot};
use common::cycle::{self, Decision, Depth};
use common::framework::{PostFiltered, Registry, Rejection, Trace};
use common::model::ids::NodeName;
use common::model::pod::{Feature, Features, PodSpec};
use common::model::storage::VolumeChoice;
use common::model::{OtherKind, OwnerKind, Pod};
use common::plugins::{default_registry, without_reservations};
use jiff::Timestamp;
use serde_json::value::RawValue;

use super::format::{Candidate, Line, NodeOutcome, Objects, Outcome, Preemption, Scored, Verdict};

/// The names of the upstream plugins that the core serves, which is what can be compared.
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

/// Those of them that reject nodes.
pub fn served_filters() -> Vec<String> {
    without_reservations().filters.iter().map(|plugin| plugin.name().to_owned()).collect()
}

/// Those of them that score nodes.
pub fn served_scores() -> Vec<String> {
    without_reservations().scores.iter().map(|score| score.plugin.name().to_owned()).collect()
}

/// The core with its belief about the last cluster read.
pub struct Core {
    cluster: Cluster,
    /// The names of the nodes in the order of the cluster line.
    order: Vec<String>,
    /// Upstream's plugins, which are asked step by step.
    steps: Registry,
    /// The product's, which decide.
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
    /// Reads a line. A cluster has no outcome, a pod has one.
    ///
    /// # Errors
    /// When the line or an object in it cannot be read, or the core contradicts itself.
    pub fn read(&mut self, line: &str) -> Result<Option<Outcome>> {
        let line: Line<'_> = serde_json::from_str(line).context("read the line")?;
        match (line.cluster, line.pod) {
            (Some(objects), None) => {
                self.learn(&objects)?;
                Ok(None)
            }
            (None, Some(json)) => {
                let pod = api::pod::pod(json.get())?;
                let mut outcome = self.decide(&pod, line.all)?;
                outcome.id = line.id;
                if line.assume {
                    self.assume(pod, &outcome);
                }
                Ok(Some(outcome))
            }
            _ => bail!("neither a cluster nor a pod, or both"),
        }
    }

    fn learn(&mut self, objects: &Objects<'_>) -> Result<()> {
        let decode = |json: &&RawValue| api::node::node(json.get());
        let nodes = objects.nodes.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        let decode = |json: &&RawValue| api::pod::pod(json.get());
        let pods = objects.pods.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        self.order = nodes.iter().map(|node| node.name.to_string()).collect();
        self.cluster = Cluster::default();
        self.cluster.apply(Event::Nodes(Seen::Relisted(nodes)));
        self.cluster.apply(Event::Pods(Seen::Relisted(pods)));
        for kind in OwnerKind::ALL {
            let decode = |json: &&RawValue| api::workload::workload(kind, json.get());
            let live = objects.workloads(kind).iter().map(decode).collect::<Result<Vec<_>, _>>()?;
            self.cluster.apply(Event::Workloads(kind, Seen::Relisted(live)));
        }
        for kind in OtherKind::ALL {
            let decode = |json: &&RawValue| api::other::other(kind, json.get());
            let live = objects.others(kind).iter().map(decode).collect::<Result<Vec<_>, _>>()?;
            self.cluster.apply(Event::Others(kind, Seen::Relisted(live)));
        }
        Ok(())
    }

    /// Counts the pod on the first of its best nodes.
    fn assume(&mut self, pod: Pod, outcome: &Outcome) {
        let Some(node) = outcome.best.first() else { return };
        let node = NodeName::from(node.as_str());
        let volumes = chosen(&pod, &node, &self.cluster.snapshot(Timestamp::UNIX_EPOCH), &self.steps);
        let (key, uid) = (pod.key.clone(), pod.uid.clone());
        // One that names its node would count as bound; it is to be assumed like the others.
        self.cluster.apply(Event::Pods(Seen::Applied(Pod { node: None, ..pod })));
        let assumed = Assumed { uid: uid.clone(), node, seat: None, since: Timestamp::UNIX_EPOCH };
        self.cluster.assume(&key, assumed);
        self.cluster.choose(&key, &uid, volumes);
    }

    fn decide(&mut self, pod: &Pod, all: bool) -> Result<Outcome> {
        let pre_enqueue = held_back(pod, &self.steps);
        if !pre_enqueue.is_empty() {
            return Ok(Outcome { pre_enqueue, ..Outcome::default() });
        }
        let world = self.cluster.snapshot(Timestamp::UNIX_EPOCH);
        match step_by_step(&world.pod_context(pod), &world, &self.steps, all) {
            Err(error) => Ok(Outcome { error: Some(error), ..Outcome::default() }),
            Ok((trace, mut nodes)) => {
                let nodes = self.order.iter().filter_map(|name| nodes.remove(name)).collect();
                let mut outcome = Outcome { nodes, ..Outcome::default() };
                outcome.best = best(&outcome.nodes);
                outcome.pre_filter = verdicts(&trace.refused).into_iter().next();
                outcome.excluded_by = trace.left_out_by.iter().map(|&plugin| plugin.to_owned()).collect();
                conclude(pod, &world, &self.product, &trace, &mut outcome)?;
                Ok(outcome)
            }
        }
    }
}

/// The volumes that the pod's claims get on `node`.
fn chosen(pod: &Pod, node: &NodeName, world: &Snapshot<'_>, registry: &Registry) -> Vec<VolumeChoice> {
    let Some(ledger) = world.find(node).and_then(|id| world.ledger(id)) else { return Vec::new() };
    let pod_context = world.pod_context(pod);
    let reserved =
        registry.reserves.iter().filter_map(|plugin| plugin.reserve(&pod_context, ledger, world).ok());
    reserved.flat_map(|reserved| reserved.volumes).collect()
}

/// Who keeps the pod from being looked at.
fn held_back(pod: &Pod, registry: &Registry) -> Vec<Verdict> {
    let rejections = registry.pre_enqueues.iter().filter_map(|plugin| plugin.check(pod));
    let mut verdicts: Vec<Verdict> = rejections.flat_map(|rejection| verdicts(&[rejection])).collect();
    verdicts.sort_by(|one, other| one.plugin.cmp(&other.plugin));
    verdicts
}

/// What every node says, what every filter says of every node, and every score.
fn step_by_step(
    pod_context: &PodContext<'_>,
    world: &Snapshot<'_>,
    registry: &Registry,
    all: bool,
) -> Result<(Trace, BTreeMap<String, NodeOutcome>), String> {
    let first = cycle::judge(pod_context, world, registry, Depth::First)?;
    let is_refused = !first.refused.is_empty();
    let every = match all && !is_refused {
        true => cycle::judge(pod_context, world, registry, Depth::All)?.nodes,
        false => Vec::new(),
    };
    let mut nodes: BTreeMap<String, NodeOutcome> = BTreeMap::new();
    for (index, trace) in first.nodes.iter().enumerate() {
        let node = world.name(trace.id).map(ToString::to_string).unwrap_or_default();
        let rejection = verdicts(&trace.rejections).into_iter().next();
        let filters = every.get(index).map(|every| verdicts(&every.rejections)).unwrap_or_default();
        nodes.insert(node.clone(), NodeOutcome { node, rejection, filters, ..NodeOutcome::default() });
    }
    score(pod_context, world, registry, &first, &mut nodes)?;
    Ok((first, nodes))
}

/// What the product decides, found in both ways.
fn decided(pod: &Pod, world: &Snapshot<'_>, product: &Registry) -> Result<Decision> {
    let decision = cycle::schedule(pod, world, product);
    let scanned = cycle::schedule_by_scan(pod, world, product);
    ensure!(decision == scanned, "found with an index: {decision:?}, and without: {scanned:?}");
    Ok(decision)
}

/// The pod as it looks to a scheduler that passes over what ours does not serve, which the oracle is.
fn without_what_is_refused(pod: &Pod) -> Pod {
    let mut spec = PodSpec::clone(&pod.spec);
    let is_served = |feature: &Feature| !feature.is_unserved() && *feature != Feature::SchedulingGates;
    let mut features = Features::default();
    spec.features.iter().filter(is_served).for_each(|feature| features.insert(feature));
    spec.features = features;
    Pod { spec: spec.into(), ..pod.clone() }
}

/// What the product would do, reservations and all.
fn conclude(
    pod: &Pod,
    world: &Snapshot<'_>,
    product: &Registry,
    trace: &Trace,
    outcome: &mut Outcome,
) -> Result<()> {
    let decision = match decided(pod, world, product)? {
        Decision::Refused(_) => decided(&without_what_is_refused(pod), world, product)?,
        decision => decision,
    };
    let said = trace.feasible().next().is_none().then(|| cycle::message(trace));
    match decision {
        Decision::Place { node, .. } => {
            // Where others were preempted for it, it is the only one that was looked at.
            if pod.nominated.as_deref() == Some(&node) {
                outcome.best = vec![node.to_string()];
            }
            outcome.host = Some(node.to_string());
        }
        Decision::Refused(_) => {
            outcome.host = outcome.best.first().cloned();
            outcome.message = said;
        }
        Decision::NoFit(no_fit) => {
            let message = cycle::message(&no_fit.trace);
            // Of the node that it was nominated to the cycle says more, if that is left out otherwise.
            let is_told_more = pod.nominated.is_some() && !trace.left_out_by.is_empty();
            ensure!(
                is_told_more || Some(&message) == said.as_ref(),
                "the cycle says {message:?}, its steps {said:?}"
            );
            outcome.message = Some(no_fit.message());
            outcome.preemption = (!no_fit.trace.nodes.is_empty()).then(|| preemption(&no_fit.help));
        }
        // Nothing is kept for anybody in these cases.
        Decision::Awaits(awaited) => outcome.error = Some(awaited.to_string()),
        Decision::Failed(why) => outcome.error = Some(why),
    }
    Ok(())
}

fn preemption(help: &PostFiltered) -> Preemption {
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

/// Rejections, which come plugin by plugin, as one verdict for each plugin.
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
    pod_context: &PodContext<'_>,
    world: &Snapshot<'_>,
    registry: &Registry,
    trace: &Trace,
    nodes: &mut BTreeMap<String, NodeOutcome>,
) -> Result<(), String> {
    let fitting: Vec<_> = trace.nodes.iter().filter(|node| node.rejections.is_empty()).collect();
    let feasible: Vec<NodeId> = fitting.iter().map(|node| node.id).collect();
    for scores in cycle::scores(pod_context, world, registry, &feasible)? {
        for (fits, (raw, weighted)) in fitting.iter().zip(scores.raw.iter().zip(&scores.weighted)) {
            if let Some(node) = world.name(fits.id).and_then(|name| nodes.get_mut(name.as_str())) {
                let scored = Scored { raw: *raw, weighted: *weighted };
                node.scores.insert(scores.plugin.to_owned(), scored);
                *node.total.get_or_insert(0) += weighted;
            }
        }
    }
    Ok(())
}

/// The feasible nodes with the highest total; one that was not scored is the only one.
fn best(nodes: &[NodeOutcome]) -> Vec<String> {
    let feasible = || nodes.iter().filter(|node| node.rejection.is_none());
    let highest = feasible().map(|node| node.total).max();
    feasible().filter(|node| Some(node.total) == highest).map(|node| node.node.clone()).collect()
}
