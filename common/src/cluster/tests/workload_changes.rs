//! Workloads that are added, changed and removed: only the ledgers of the nodes that they concern are computed again.

use super::{replica, test_cluster, web, web_set};
use crate::cluster::ledger::Entry;
use crate::cluster::{Change, Cluster, Event, WatchEvent};
use crate::model::owner::{OwnerKind, Workload};
use crate::testing::{
    RandomChoices, at, cluster_builder, node, now, pod, reference_to, reservation, workload,
};
use proptest::prelude::{ProptestConfig, any, prop, proptest};

const NODES: usize = 3;

/// Workloads of several kinds, each of which may come to control any other.
fn workloads() -> Vec<Workload> {
    use OwnerKind::{CronJob, Deployment, Job, ReplicaSet, StatefulSet};
    let kinds = [ReplicaSet, Deployment, StatefulSet, Job, CronJob, ReplicaSet];
    kinds.into_iter().enumerate().map(|(index, kind)| workload(kind, &format!("w{index}"))).collect()
}

/// Some pods on nodes with reservations of some workloads, none of which was read yet.
fn start(random: &mut RandomChoices<'_>, all: &[Workload]) -> Cluster {
    let mut start = cluster_builder();
    for number in 0..NODES {
        let kept = [-20, -19].map(|created| {
            let seat = if created == -20 { "s0" } else { "s1" };
            reservation(&all[random.below(all.len())]).seat(seat).cpu("1").created(at(created))
        });
        let name = format!("n{number}");
        start = start.node(kept.iter().fold(node(&name), |node, one| node.reserves(one.build())));
        for index in 0..random.below(4) {
            let mut test_pod = pod(&format!("p-{number}-{index}")).cpu("1").on(&name);
            test_pod =
                test_pod.owned_by(&all[random.below(all.len())]).scheduled_at(at(-random.of(&[1, 5, 30])));
            let stamp = kept[random.below(2)].id();
            start = start.pod(if random.one_in(3) { test_pod.stamp(&stamp) } else { test_pod });
        }
    }
    let mut cluster = start.cluster();
    cluster.advance(now());
    cluster
}

/// Changes the workloads at random, and compares all entries with entries that are computed anew after each change.
fn check_history(choices: &[u16]) {
    let (mut random, mut all) = (RandomChoices::new(choices), workloads());
    let mut cluster = start(&mut random, &all);
    let mut version = 1;
    while !random.is_over() {
        version += 1;
        let (index, above) = (random.below(all.len()), all[random.below(all.len())].clone());
        let own = &mut all[index];
        own.resource_version = version;
        own.controller = (!random.one_in(3)).then(|| reference_to(&above));
        let event = if random.one_in(4) {
            WatchEvent::Deleted(own.clone())
        } else {
            WatchEvent::Applied(own.clone())
        };
        cluster.apply(Event::Workloads(own.kind, event));
        let kept = all_entries(&cluster);
        cluster.recompute_reserved_nodes();
        assert_eq!(kept, all_entries(&cluster), "after news of {}", own.name);
    }
}

/// Each reservation with its state.
fn all_entries(cluster: &Cluster) -> Vec<String> {
    let line = |entry: &Entry| {
        let taker = entry.taken_by.as_ref().map(|pod| pod.key.to_string());
        format!("{} {:?} {:?} {taker:?}", entry.reservation.id, entry.state, entry.held)
    };
    cluster.nodes.iter().flat_map(|ledger| &ledger.entries).map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn books_are_as_if_all_were_done_again(choices in prop::collection::vec(any::<u16>(), 60..160)) {
        check_history(&choices);
    }
}

#[test]
fn a_workload_that_nothing_is_kept_for_concerns_no_node() {
    let mut cluster = test_cluster(&[reservation(&web()).cpu("1")]).cluster();
    let before = cluster.version();
    let job = workload(OwnerKind::Job, "batch-1").of(&workload(OwnerKind::CronJob, "batch"));
    let owners = [job.uid.clone(), job.controller.as_ref().unwrap().uid.clone()];
    let changes = cluster.apply(Event::Workloads(OwnerKind::Job, WatchEvent::Applied(job)));
    assert_eq!(changes, owners.map(Change::OwnerChanged));
    assert_eq!(cluster.version(), before, "no books were done again");
}

#[test]
fn the_pods_that_wait_for_an_owner_are_told() {
    let waiting = |name: &str, owner: &Workload| pod(name).owned_by(owner);
    let start = cluster_builder().workload(&web_set()).pod(waiting("own", &web_set()));
    let start = start.pod(waiting("other", &workload(OwnerKind::Job, "x"))).pod(replica("there"));
    let mut cluster = start.cluster();
    let mut waiting_pods = |event: WatchEvent<Workload>| -> Vec<String> {
        let kind = event.iter().next().unwrap().kind;
        let waiting =
            cluster.apply(Event::Workloads(kind, event)).into_iter().filter_map(|change| match change {
                Change::PodWaiting(key) => Some(key.name.to_string()),
                _ => None,
            });
        waiting.collect()
    };
    assert_eq!(waiting_pods(WatchEvent::Applied(web())), ["own"], "its owner's owner");
    assert_eq!(waiting_pods(WatchEvent::Applied(web())), [""; 0], "nothing is new");
    assert_eq!(waiting_pods(WatchEvent::Deleted(web_set())), ["own"]);
    let bound = waiting("own", &web_set()).version(2).on("n1").build();
    cluster.apply(Event::Pods(WatchEvent::Applied(bound)));
    let changes = cluster.apply(Event::Workloads(OwnerKind::ReplicaSet, WatchEvent::Applied(web_set())));
    assert!(!changes.iter().any(|change| matches!(change, Change::PodWaiting(_))), "it waits no more");
}

#[test]
fn the_pods_that_leave_are_found_by_each_of_their_owners() {
    let bare = pod("bare").on("n1").terminating();
    let cluster =
        test_cluster(&[]).pod(replica("web-1").terminating()).pod(replica("web-2")).pod(bare).cluster();
    for owner in [web(), web_set()] {
        let found = cluster.reservation_candidates_of(&owner.uid);
        assert_eq!(found.iter().map(|key| &*key.name).collect::<Vec<_>>(), ["web-1"], "{}", owner.name);
    }
    assert!(cluster.reservation_candidates_of(&workload(OwnerKind::Job, "x").uid).is_empty());
}
