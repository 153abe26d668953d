//! Our side: reads lines of cases into a [`Cluster`], asks the cycle, and says it in the common format.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use common::api;
use common::cluster::{Asker, Assumed, Cluster, Event, Ledger, Seen, Snapshot};
use common::cycle::{self, Decision, Depth, Trace};
use common::framework::{Registry, Rejection};
use common::model::ids::NodeName;
use common::model::{OtherKind, OwnerKind, Pod};
use common::plugins::{default_registry, without_reservations};
use jiff::Timestamp;
use serde_json::value::RawValue;

use super::format::{Line, NodeOutcome, Objects, Outcome, Scored, Verdict};

/// The names of the upstream plugins that the core serves, which is what can be compared.
pub fn served() -> Vec<String> {
    let mut names = served_filters();
    names.extend(served_scores());
    names.sort();
    names.dedup();
    names
}

/// Those of them that reject nodes.
pub fn served_filters() -> Vec<String> {
    without_reservations().filters().map(|plugin| plugin.name().to_owned()).collect()
}

/// Those of them that score nodes.
pub fn served_scores() -> Vec<String> {
    without_reservations().scores().iter().map(|score| score.plugin.name().to_owned()).collect()
}

/// The core with its belief about the last cluster read.
#[derive(Default)]
pub struct Core {
    cluster: Cluster,
    /// The names of the nodes in the order of the cluster line.
    order: Vec<String>,
}

impl Core {
    /// Reads a line. A cluster has no outcome, a pod has one.
    ///
    /// # Errors
    /// When the line or an object in it cannot be read.
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
        let (key, uid) = (pod.key.clone(), pod.uid.clone());
        self.cluster.apply(Event::Pods(Seen::Applied(pod)));
        let node = NodeName::from(node.as_str());
        self.cluster.assume(key, Assumed { uid, node, seat: None, since: Timestamp::UNIX_EPOCH });
    }

    fn decide(&self, pod: &Pod, all: bool) -> Result<Outcome> {
        let world = self.cluster.snapshot(Timestamp::UNIX_EPOCH);
        let (asker, registry) = (world.asker(pod), without_reservations());
        let first = cycle::judge(&asker, &world, &registry, Depth::First);
        let every = all.then(|| cycle::judge(&asker, &world, &registry, Depth::All));
        let mut nodes: BTreeMap<String, NodeOutcome> = BTreeMap::new();
        for (index, trace) in first.nodes.iter().enumerate() {
            let node = trace.node.to_string();
            let rejection = verdicts(&trace.rejections).into_iter().next();
            let filters = every.as_ref().map(|every| verdicts(&every.nodes[index].rejections));
            let filters = filters.unwrap_or_default();
            nodes.insert(node.clone(), NodeOutcome { node, rejection, filters, ..NodeOutcome::default() });
        }
        score(&asker, &world, &registry, &first, &mut nodes);
        let nodes: Vec<NodeOutcome> = self.order.iter().filter_map(|name| nodes.remove(name)).collect();
        let message = first.feasible().next().is_none().then(|| first.message());
        let mut outcome = Outcome { best: best(&nodes), nodes, message, ..Outcome::default() };
        outcome.host = host(pod, &world, &outcome)?;
        Ok(outcome)
    }
}

/// What the product would do, reservations and all. Whom it refuses for asking what is not served, it would have put on
/// one of the best nodes.
fn host(pod: &Pod, world: &Snapshot<'_>, outcome: &Outcome) -> Result<Option<String>> {
    match cycle::schedule(pod, world, &default_registry()) {
        Decision::Place { node, .. } => Ok(Some(node.to_string())),
        Decision::Refused(_) => Ok(outcome.best.first().cloned()),
        Decision::NoFit(trace) if Some(trace.message()) == outcome.message => Ok(None),
        Decision::NoFit(trace) => {
            bail!("the cycle says {:?}, its steps {:?}", trace.message(), outcome.message)
        }
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
    asker: &Asker<'_>,
    world: &Snapshot<'_>,
    registry: &Registry,
    trace: &Trace,
    nodes: &mut BTreeMap<String, NodeOutcome>,
) {
    let feasible: Vec<&Ledger<'_>> = trace.feasible().map(|node| &world.nodes[node]).collect();
    for scores in cycle::scores(asker, world, registry, &feasible) {
        for (ledger, (raw, weighted)) in feasible.iter().zip(scores.raw.iter().zip(&scores.weighted)) {
            if let Some(node) = nodes.get_mut(ledger.node.name.as_str()) {
                let scored = Scored { raw: *raw, weighted: *weighted };
                node.scores.insert(scores.plugin.to_owned(), scored);
                *node.total.get_or_insert(0) += weighted;
            }
        }
    }
}

/// The feasible nodes with the highest total; one that was not scored is the only one.
fn best(nodes: &[NodeOutcome]) -> Vec<String> {
    let feasible = || nodes.iter().filter(|node| node.rejection.is_none());
    let highest = feasible().map(|node| node.total).max();
    feasible().filter(|node| Some(node.total) == highest).map(|node| node.node.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::Core;
    use crate::conformance::generator::Generator;

    #[test]
    fn every_kind_of_object_that_is_generated_is_read() {
        let mut core = Core::default();
        let mut counts = [0; 11];
        for batch in Generator::new(1, 400) {
            core.read(&batch.unwrap().cluster.to_string()).unwrap();
            assert!(core.cluster.is_complete());
            let kept = core.cluster.catalog();
            let here = [
                kept.namespaces.len(),
                kept.services.len(),
                kept.claims.len(),
                kept.volumes.len(),
                kept.classes.len(),
                kept.csi_nodes.len(),
                kept.csi_drivers.len(),
                kept.csi_capacities.len(),
                kept.attachments.len(),
                kept.budgets.len(),
                kept.claims.iter().filter(|claim| claim.is_bound()).count(),
            ];
            counts.iter_mut().zip(here).for_each(|(sum, more)| *sum += more);
        }
        assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    }
}
