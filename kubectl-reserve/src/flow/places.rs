//! Finds a node for every pod of a node that is drained, before any of them is evicted. Each pod is scheduled as if the pods before
//! it had moved already and the drained node were cordoned. `places` is for a drain, `obstacles` for one pod and one node.

use common::cluster::Cluster;
use common::cluster::{Assumption, Event, WatchEvent};
use common::cycle::{self, Decision, Inspection, Refusal};
use common::framework::Registry;
use common::model::{Node, NodeName, Pod, PodKey, Uid};
use jiff::Timestamp;

/// The new node of a pod, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub pod: PodKey,
    /// The new node, or the scheduler's message.
    pub to: Result<NodeName, String>,
}

/// Finds a new node for each of `pods`, which are on `node`, in the order in which they will move: the largest first, because it
/// fits on the fewest nodes. `cluster` is changed as if they had moved.
pub fn places(
    cluster: &mut Cluster,
    node: &Node,
    mut pods: Vec<Pod>,
    registry: &Registry,
    now: Timestamp,
) -> Vec<Place> {
    let cordoned = Node { unschedulable: true, resource_version: node.resource_version + 1, ..node.clone() };
    cluster.apply(Event::Nodes(WatchEvent::Applied(cordoned)));
    pods.sort_by_key(|pod| std::cmp::Reverse(size(pod, node)));
    let mut places = Vec::new();
    for (index, pod) in pods.into_iter().enumerate() {
        let to = place(cluster, &pod, index, registry, now);
        places.push(Place { pod: pod.key, to });
    }
    places
}

/// Why the pod cannot move to the node called `to`: the reasons of all filters; empty if it can. `cluster` is changed as if the pod
/// were gone.
///
/// # Errors
/// The error of a filter, or that the node does not exist.
pub fn obstacles(
    cluster: &mut Cluster,
    pod: &Pod,
    to: &NodeName,
    registry: &Registry,
    now: Timestamp,
) -> Result<Vec<String>, String> {
    let replacement = replace(cluster, pod, 0);
    let world = cluster.snapshot(now);
    let context = world.context(&replacement);
    let inspection = Inspection::new(&context, &world, registry)?;
    let id = world.find(to).ok_or_else(|| format!("there is no node {to}"))?;
    let mut words: Vec<String> =
        inspection.every_reason(id)?.iter().map(|rejection| rejection.reason.to_string()).collect();
    words.dedup();
    Ok(words)
}

/// The largest share of `node` that the pod requests of any resource, in millionths. The key makes the order unique.
fn size(pod: &Pod, node: &Node) -> (i64, PodKey) {
    let share = |(resource, amount): (common::model::ResourceName, i64)| {
        let has = i128::from(node.allocatable.get(&resource)).max(1);
        i64::try_from(i128::from(amount) * 1_000_000 / has).unwrap_or(i64::MAX)
    };
    (pod.spec.requests.incoming.iter().map(share).max().unwrap_or(0), pod.key.clone())
}

fn place(
    cluster: &mut Cluster,
    pod: &Pod,
    index: usize,
    registry: &Registry,
    now: Timestamp,
) -> Result<NodeName, String> {
    let replacement = replace(cluster, pod, index);
    let decision = cycle::schedule(&replacement, &cluster.snapshot(now), registry);
    let (to, claims) = match decision {
        Decision::Place { node, claims } => (node, claims),
        Decision::NoFit(no_fit) => return Err(cycle::message(&no_fit.diagnosis)),
        Decision::WaitForNode(awaited) => return Err(awaited.to_string()),
        Decision::Refused(Refusal::Unreadable(why)) => return Err(why.into()),
        Decision::Refused(Refusal::Gated(_)) => return Err("it waits for scheduling gates".into()),
        Decision::Refused(Refusal::Unsupported { features, .. }) => {
            let fields: Vec<&str> = features.iter().map(|feature| feature.field()).collect();
            return Err(format!("it uses {}, which cannot be judged", fields.join(", ")));
        }
        Decision::Failed(why) => return Err(why.into()),
    };
    let assumed = Assumption { uid: replacement.uid.clone(), node: to.clone(), claims, since: now };
    cluster.assume(&replacement.key, assumed);
    Ok(to)
}

/// Replaces `pod` in `cluster` by a Pending copy without a node, and returns the copy.
fn replace(cluster: &mut Cluster, pod: &Pod, index: usize) -> Pod {
    cluster.apply(Event::Pods(WatchEvent::Deleted(Pod { resource_version: u64::MAX, ..pod.clone() })));
    let replacement = Pod {
        uid: Uid::from(format!("replacement-{index}-{}", pod.uid)),
        resource_version: 1,
        node: None,
        nominated_node: None,
        stamp: None,
        scheduled: None,
        started: None,
        deleting: false,
        phase: common::model::pod::Phase::Pending,
        ..pod.clone()
    };
    cluster.apply(Event::Pods(WatchEvent::Applied(replacement.clone())));
    replacement
}

#[cfg(test)]
mod tests {
    use super::{Place, obstacles, places};
    use common::api::{node::node, pod::pod};
    use common::cluster::{Cluster, Event, WatchEvent};
    use common::model::owner::OwnerKind;
    use common::model::{CatalogKind, Node, Pod};
    use common::plugins::default_registry;
    use serde_json::json;

    fn some_node(name: &str, cpu: &str) -> Node {
        let json = json!({ "metadata": { "name": name, "uid": name, "resourceVersion": "1" },
            "status": { "allocatable": { "cpu": cpu, "memory": "16Gi", "pods": "110" } } });
        node(&json.to_string()).unwrap()
    }

    fn some_pod(name: &str, cpu: &str, on: &str) -> Pod {
        let json = json!({ "metadata": { "name": name, "namespace": "d", "uid": name, "resourceVersion": "2" },
            "spec": { "nodeName": on, "containers": [{ "name": "c", "resources": { "requests": { "cpu": cpu } } }] },
            "status": { "phase": "Running" } });
        pod(&json.to_string()).unwrap()
    }

    fn planned(nodes: &[Node], pods: &[Pod]) -> Vec<(String, Result<String, String>)> {
        let mut cluster = Cluster::default();
        OwnerKind::ALL.iter().for_each(|kind| {
            cluster.apply(Event::Workloads(*kind, WatchEvent::Relisted(vec![])));
        });
        CatalogKind::ALL.iter().for_each(|kind| {
            cluster.apply(Event::CatalogObjects(*kind, WatchEvent::Relisted(vec![])));
        });
        cluster.apply(Event::Nodes(WatchEvent::Relisted(nodes.to_vec())));
        cluster.apply(Event::Pods(WatchEvent::Relisted(pods.to_vec())));
        let there = pods.iter().filter(|pod| pod.node.as_ref() == Some(&nodes[0].name)).cloned().collect();
        let now = "2026-11-16T08:00:00Z".parse().unwrap();
        let found = places(&mut cluster, &nodes[0], there, &default_registry(), now);
        let words = |place: Place| (place.pod.name.to_string(), place.to.map(|node| node.to_string()));
        found.into_iter().map(words).collect()
    }

    #[test]
    fn the_largest_goes_first_and_each_counts_for_the_next() {
        let nodes = [some_node("a", "8"), some_node("b", "4"), some_node("c", "3")];
        let pods = [some_pod("small", "1", "a"), some_pod("large", "4", "a"), some_pod("middle", "2", "a")];
        let found = planned(&nodes, &pods);
        let to = |name: &str| Ok(name.to_owned());
        assert_eq!(
            found,
            [("large".into(), to("b")), ("middle".into(), to("c")), ("small".into(), to("c"))],
            "only so do all of them have a place"
        );
    }

    #[test]
    fn what_is_in_the_way_on_one_node_is_told_of_that_node_alone() {
        let mut cluster = Cluster::default();
        let nodes = vec![some_node("a", "8"), some_node("b", "2"), some_node("c", "4")];
        let pod = some_pod("one", "3", "a");
        cluster.apply(Event::Nodes(WatchEvent::Relisted(nodes)));
        cluster.apply(Event::Pods(WatchEvent::Relisted(vec![pod.clone()])));
        let mut on = |to: &str| {
            let now = "2026-11-16T08:00:00Z".parse().unwrap();
            obstacles(&mut cluster, &pod, &to.into(), &default_registry(), now)
        };
        assert_eq!(on("b"), Ok(vec!["Insufficient cpu".to_owned()]));
        assert_eq!(on("c"), Ok(Vec::new()));
        assert_eq!(on("d"), Err("there is no node d".to_owned()));
    }

    #[test]
    fn a_pod_without_a_place_is_told_why_and_never_stays() {
        let nodes = [some_node("a", "8"), some_node("b", "4")];
        let pods = [some_pod("one", "3", "a"), some_pod("two", "3", "a"), some_pod("other", "1", "b")];
        let found = planned(&nodes, &pods);
        assert_eq!(found[0].1, Ok("b".to_owned()));
        let why = found[1].1.as_ref().unwrap_err();
        assert!(why.contains("1 Insufficient cpu") && why.contains("1 node(s) were unschedulable"), "{why}");
    }
}
