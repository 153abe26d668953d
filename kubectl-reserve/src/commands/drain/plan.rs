//! Which pods a drain moves, and to which node each of them goes.

use super::cannot;
use crate::amount::shown;
use crate::cli::Drain;
use crate::cluster_data::{self, ClusterData, Resource};
use crate::commands::Context;
use crate::commands::recreate::{not_enforced, unknown};
use crate::connect::Session;
use crate::error::{Exit, Failure};
use crate::flow::places::{Place, places};
use crate::reader::{self, PODS, PodView, with_labels};
use crate::render::table::table;
use crate::ui::printer;
use common::cluster::Enforcement;
use common::model::{NodeName, Pod, PodKey, ResourceName, Uid};
use common::plugins::default_registry;
use std::collections::BTreeSet;

/// The new node of each pod, or why there is none.
pub(super) struct DrainPlan {
    pub(super) places: Vec<Place>,
    /// The pods that leave the node: those that are moved, and those that were terminating before.
    pub(super) leaving: BTreeSet<Uid>,
    pub(super) is_cordoned: bool,
    rows: Vec<Vec<String>>,
}

/// Finds a node for every pod that must be moved.
pub(super) async fn plan(args: &Drain, context: &Context, node: &str) -> Result<DrainPlan, Failure> {
    let session = &context.session;
    let mut there = on_node(session, node, &args.pod_selector).await?;
    let builder = cluster_data::ClusterDataBuilder::default();
    let mut data = cluster_data::read(session, &context.ui, cluster_data::Depth::Decisions, builder)
        .await?
        .require_nodes_and_pods()?;
    let name = NodeName::from(node);
    let Some(ledger) = data.cluster.ledger_of(&name) else {
        return Err(Failure::new(format!("Error from server (NotFound): nodes \"{node}\" not found")));
    };
    let drained_node = ledger.node.clone();
    // Nothing is planned for pods that terminate already: their replacements exist, or will be placed without this command.
    let terminating: Vec<PodView> = there.extract_if(.., |pod| pod.deleting && !pod.is_mirror).collect();
    let is_of_set = |pod: &&PodView| data.cluster.context(&pod.pod).is_of_daemon_set();
    let mut uids: BTreeSet<Uid> =
        terminating.iter().filter(|pod| !is_of_set(pod)).map(|pod| pod.uid.clone()).collect();
    let leaving = pods_to_move(args, &data, there)?;
    uids.extend(leaving.iter().map(|pod| pod.uid.clone()));
    if !args.unenforced {
        check_enforcement(&data, &leaving, session)?;
    }
    let owners: Vec<(PodKey, String)> =
        leaving.iter().map(|pod| (pod.key.clone(), owner(&data, pod))).collect();
    let asks: Vec<Pod> = leaving.clone();
    let now = data.now;
    let places = places(&mut data.cluster, &drained_node, leaving, &default_registry(), now);
    let rows = places.iter().map(|place| row(place, &owners, &asks)).collect();
    Ok(DrainPlan { places, leaving: uids, is_cordoned: drained_node.unschedulable, rows })
}

/// Finds a node for one pod again, with the current state of the cluster.
pub(super) async fn again(context: &Context, node: &str, key: &PodKey) -> Result<Place, Failure> {
    let builder = cluster_data::ClusterDataBuilder::default();
    let mut data = cluster_data::read(&context.session, &context.ui, cluster_data::Depth::Decisions, builder)
        .await?
        .require_nodes_and_pods()?;
    let gone = || Failure::new(format!("{node} or pod/{} is gone", key.name));
    let drained_node =
        data.cluster.ledger_of(&NodeName::from(node)).map(|ledger| ledger.node.clone()).ok_or_else(gone)?;
    let pod = data.cluster.pod(key).map(|pod| (**pod).clone()).ok_or_else(gone)?;
    let now = data.now;
    let found = places(&mut data.cluster, &drained_node, vec![pod], &default_registry(), now);
    found.into_iter().next().ok_or_else(gone)
}

impl DrainPlan {
    /// The table of pods and their new nodes.
    pub(super) fn table(&self) -> String {
        table(Some(&["POD", "OWNER", "TO", "CPU", "MEMORY"]), &self.rows)
    }

    /// Fails if there is no node for a pod.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let refused: Vec<String> = self
            .places
            .iter()
            .filter_map(|place| Some(format!("  {}: {}", place.pod, place.to.as_ref().err()?)))
            .collect();
        if refused.is_empty() {
            return Ok(());
        }
        let plural = if refused.len() == 1 { "pod has" } else { "pods have" };
        Err(Failure::new(format!(
            "{} of {} {plural} no place elsewhere\n{}\n  Nothing was changed.",
            refused.len(),
            self.places.len(),
            refused.join("\n")
        ))
        .hint("kubectl reserve nodes shows what is free on the other nodes")
        .exit(Exit::NoRoom))
    }
}

async fn on_node(session: &Session, node: &str, selector: &str) -> Result<Vec<PodView>, Failure> {
    let mut query = reader::on_node(node);
    if !selector.is_empty() {
        query += &format!("&{}", with_labels(selector));
    }
    let listed = reader::pods(session, PODS, &query).await;
    listed.map_err(|error| error.into_failure("list pods", "list pods in all namespaces"))
}

/// The pods that must be moved. Fails if that is not safe.
fn pods_to_move(args: &Drain, data: &ClusterData, there: Vec<PodView>) -> Result<Vec<Pod>, Failure> {
    let (mut leaving, mut of_sets, mut local, mut bare) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for sent in there {
        let (pod, name) = (&sent.pod, sent.pod.key.to_string());
        if pod.is_mirror || pod.is_ended() {
            continue;
        }
        if data.cluster.context(pod).is_of_daemon_set() {
            of_sets.push(name);
            continue;
        }
        if !sent.empty_dirs.is_empty() {
            local.push(name.clone());
        }
        if pod.controller.is_none() {
            bare.push(name);
        }
        leaving.push(sent.pod);
    }
    if !of_sets.is_empty() && !args.ignore_daemonsets {
        return Err(cannot("DaemonSet-managed Pods", "--ignore-daemonsets to ignore", &of_sets));
    }
    if !local.is_empty() && !args.delete_emptydir_data {
        return Err(cannot("Pods with local storage", "--delete-emptydir-data to override", &local));
    }
    if !bare.is_empty() && !args.force {
        return Err(cannot("Pods that declare no controller", "--force to override", &bare));
    }
    if !of_sets.is_empty() {
        printer::warn(&format!("ignoring DaemonSet-managed Pods: {}", of_sets.join(", ")));
    }
    Ok(leaving)
}

/// Fails if the scheduler of a pod does not enforce reservations, or if that is unknown.
fn check_enforcement(data: &ClusterData, pods: &[Pod], session: &Session) -> Result<(), Failure> {
    let is_not_enforced = |pod: &&Pod| data.enforcement(&pod.spec.scheduler_name) == Enforcement::Nobody;
    let Some(pod) = pods.iter().find(is_not_enforced) else { return Ok(()) };
    let (name, scheduler) = (format!("pod {}", pod.key), &pod.spec.scheduler_name);
    if data.unreadable.contains(&Resource::Replicas) {
        return Err(unknown(&name, scheduler, &session.daemon));
    }
    let owner = data.cluster.owner_of(pod).ok();
    Err(not_enforced(&name, scheduler, owner.as_ref(), data.cluster.replicas().iter(), data.now))
}

fn owner(data: &ClusterData, pod: &Pod) -> String {
    match data.cluster.owner_of(pod) {
        Ok(owner) if &*owner.kind == "Pod" => "<none>".to_owned(),
        Ok(owner) => format!("{}/{}", owner.kind, owner.name),
        Err(_) => "<unknown>".to_owned(),
    }
}

fn row(place: &Place, owners: &[(PodKey, String)], pods: &[Pod]) -> Vec<String> {
    let owner = owners.iter().find(|(key, _)| *key == place.pod).map(|(_, owner)| owner.clone());
    let pod = pods.iter().find(|pod| pod.key == place.pod);
    let amount = |resource: ResourceName| {
        pod.map(|pod| shown(&resource, pod.spec.requests.incoming.get(&resource))).unwrap_or_default()
    };
    let to = place.to.as_ref().map_or("<none>".to_owned(), ToString::to_string);
    let cells = [place.pod.to_string(), owner.unwrap_or_default(), to];
    cells.into_iter().chain([amount(ResourceName::Cpu), amount(ResourceName::Memory)]).collect()
}
