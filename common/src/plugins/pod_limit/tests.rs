//! PodLimit: a table of cases, and the counts as the cluster changes.

use super::PodLimit;
use crate::cluster::{Assumption, Cluster, Event, WatchEvent};
use crate::config::PodLimitArgs;
use crate::framework::{Admission, PreFilter as _};
use crate::testing::{ClusterBuilder, PodBuilder, admission, cluster_builder, node, now, pod};

fn limit(max_pods: Option<i64>, namespaces: &[(&str, i64)]) -> PodLimit {
    let namespaces = namespaces.iter().map(|(name, max)| ((*name).into(), *max)).collect();
    PodLimit { args: PodLimitArgs { max_pods, namespaces } }
}

/// Three pods of `default` on two nodes, one of `other`.
fn test_cluster() -> ClusterBuilder {
    let bound = |name: &str, node: &str| pod(name).on(node);
    cluster_builder()
        .node(node("n1"))
        .node(node("n2"))
        .pod(bound("a", "n1"))
        .pod(bound("b", "n1").terminating())
        .pod(bound("c", "n2"))
        .pod(bound("d", "n2").namespace("other"))
        .pod(bound("ended", "n2").phase("Succeeded"))
        .pod(pod("waiting"))
}

fn words(admission: &Admission) -> String {
    match admission {
        Admission::All => String::new(),
        Admission::Rejects(reasons) => {
            assert!(reasons.iter().all(|one| one.reason.is_unresolvable()));
            reasons.iter().map(|one| one.reason.to_string()).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_namespace_has_only_so_many_pods() {
    let here = || pod("p");
    let other = || pod("p").namespace("other");
    let nobody = || pod("p").namespace("nobody");
    let full = |namespace: &str, count: i64, max: i64| {
        format!("namespace \"{namespace}\" has {count} pods, at most {max} are allowed")
    };
    let table: [(PodLimit, PodBuilder, String); 10] = [
        (limit(None, &[]), here(), String::new()),
        (limit(Some(4), &[]), here(), String::new()),
        (limit(Some(3), &[]), here(), full("default", 3, 3)),
        (limit(Some(1), &[]), here(), full("default", 3, 1)),
        (limit(Some(3), &[]), other(), String::new()),
        (limit(Some(0), &[]), nobody(), full("nobody", 0, 0)),
        (limit(Some(1), &[("default", 9)]), here(), String::new()),
        (limit(Some(9), &[("default", 2)]), here(), full("default", 3, 2)),
        (limit(None, &[("other", 1)]), here(), String::new()),
        (limit(None, &[("other", 1)]), other(), full("other", 1, 1)),
    ];
    for (plugin, pod, expected) in table {
        assert_eq!(words(&admission(&plugin, test_cluster(), &pod)), expected, "{:?}", plugin.args);
    }
}

fn count(cluster: &mut Cluster) -> String {
    let (snapshot, pod) = (cluster.snapshot(now()), pod("p").build());
    words(&limit(Some(0), &[]).pre_filter(&snapshot.context(&pod), &snapshot))
}

#[test]
fn the_counts_follow_the_cluster() {
    let mut cluster = test_cluster().cluster();
    let has = |count: i64| format!("namespace \"default\" has {count} pods, at most 0 are allowed");
    assert_eq!(count(&mut cluster), has(3));
    let waiting = pod("waiting").build();
    let assumed =
        Assumption { uid: waiting.uid.clone(), node: "n1".into(), claims: None.into(), since: now() };
    cluster.assume(&waiting.key, assumed);
    assert_eq!(count(&mut cluster), has(4), "assumed pods count");
    cluster.forget(&waiting.key, &waiting.uid);
    assert_eq!(count(&mut cluster), has(3));
    cluster.apply(Event::Pods(WatchEvent::Relisted(vec![pod("a").on("n1").build()])));
    assert_eq!(count(&mut cluster), has(1), "pods that are gone do not");
    cluster.apply(Event::Nodes(WatchEvent::Relisted(vec![node("n2").build()])));
    assert_eq!(count(&mut cluster), has(0), "nor those of a node that is gone");
}
