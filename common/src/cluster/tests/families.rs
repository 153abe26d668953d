//! Workloads that are read, change and go: the books of those nodes are done again that they concern, and of no others.

use super::{replica, test_cluster, web, web_set};
use crate::cluster::ledger::Entry;
use crate::cluster::{Change, Cluster, Event, Seen};
use crate::model::owner::{OwnerKind, Workload};
use crate::testing::{Tape, at, node, now, pod, reference_to, reservation, workload, world};
use proptest::prelude::{ProptestConfig, any, prop, proptest};

const NODES: usize = 3;

/// Workloads of several kinds, each of which may come to control any other.
fn workloads() -> Vec<Workload> {
    use OwnerKind::{CronJob, Deployment, Job, ReplicaSet, StatefulSet};
    let kinds = [ReplicaSet, Deployment, StatefulSet, Job, CronJob, ReplicaSet];
    kinds.into_iter().enumerate().map(|(index, kind)| workload(kind, &format!("w{index}"))).collect()
}

/// Some pods on nodes where places are kept for some workloads, none of which was read yet.
fn start(tape: &mut Tape<'_>, all: &[Workload]) -> Cluster {
    let mut start = world();
    for number in 0..NODES {
        let kept = [-20, -19].map(|created| {
            let seat = if created == -20 { "s0" } else { "s1" };
            reservation(&all[tape.below(all.len())]).seat(seat).cpu("1").created(at(created))
        });
        let name = format!("n{number}");
        start = start.node(kept.iter().fold(node(&name), |node, one| node.reserves(one.build())));
        for index in 0..tape.below(4) {
            let mut test_pod = pod(&format!("p-{number}-{index}")).cpu("1").on(&name);
            test_pod = test_pod.owned_by(&all[tape.below(all.len())]).scheduled_at(at(-tape.of(&[1, 5, 30])));
            let stamp = kept[tape.below(2)].id();
            start = start.pod(if tape.one_in(3) { test_pod.stamp(&stamp) } else { test_pod });
        }
    }
    let mut cluster = start.cluster();
    cluster.advance(now());
    cluster
}

/// A history of the workloads above these pods.
fn told(choices: &[u16]) {
    let (mut tape, mut all) = (Tape::new(choices), workloads());
    let mut cluster = start(&mut tape, &all);
    let mut version = 1;
    while !tape.is_over() {
        version += 1;
        let (index, above) = (tape.below(all.len()), all[tape.below(all.len())].clone());
        let own = &mut all[index];
        own.resource_version = version;
        own.controller = (!tape.one_in(3)).then(|| reference_to(&above));
        let seen = if tape.one_in(4) { Seen::Deleted(own.clone()) } else { Seen::Applied(own.clone()) };
        cluster.apply(Event::Workloads(own.kind, seen));
        let kept = books(&cluster);
        cluster.settle_all();
        assert_eq!(kept, books(&cluster), "after news of {}", own.name);
    }
}

/// Each reservation with what has become of it.
fn books(cluster: &Cluster) -> Vec<String> {
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
        told(&choices);
    }
}

#[test]
fn a_workload_that_nothing_is_kept_for_concerns_no_node() {
    let mut cluster = test_cluster(&[reservation(&web()).cpu("1")]).cluster();
    let before = cluster.version();
    let job = workload(OwnerKind::Job, "batch-1").of(&workload(OwnerKind::CronJob, "batch"));
    let owners = [job.uid.clone(), job.controller.as_ref().unwrap().uid.clone()];
    let changes = cluster.apply(Event::Workloads(OwnerKind::Job, Seen::Applied(job)));
    assert_eq!(changes, owners.map(Change::OwnerChanged));
    assert_eq!(cluster.version(), before, "no books were done again");
}

#[test]
fn the_pods_that_wait_for_an_owner_are_told() {
    let waiting = |name: &str, owner: &Workload| pod(name).owned_by(owner);
    let start = world().workload(&web_set()).pod(waiting("own", &web_set()));
    let start = start.pod(waiting("other", &workload(OwnerKind::Job, "x"))).pod(replica("there"));
    let mut cluster = start.cluster();
    let mut told = |seen: Seen<Workload>| -> Vec<String> {
        let kind = seen.iter().next().unwrap().kind;
        let waiting =
            cluster.apply(Event::Workloads(kind, seen)).into_iter().filter_map(|change| match change {
                Change::PodWaiting(key) => Some(key.name.to_string()),
                _ => None,
            });
        waiting.collect()
    };
    assert_eq!(told(Seen::Applied(web())), ["own"], "its owner's owner");
    assert_eq!(told(Seen::Applied(web())), [""; 0], "nothing is new");
    assert_eq!(told(Seen::Deleted(web_set())), ["own"]);
    let bound = waiting("own", &web_set()).version(2).on("n1").build();
    cluster.apply(Event::Pods(Seen::Applied(bound)));
    let changes = cluster.apply(Event::Workloads(OwnerKind::ReplicaSet, Seen::Applied(web_set())));
    assert!(!changes.iter().any(|change| matches!(change, Change::PodWaiting(_))), "it waits no more");
}

#[test]
fn the_pods_that_leave_are_found_by_each_of_their_owners() {
    let bare = pod("bare").on("n1").terminating();
    let cluster =
        test_cluster(&[]).pod(replica("web-1").terminating()).pod(replica("web-2")).pod(bare).cluster();
    for owner in [web(), web_set()] {
        let found = cluster.leaving_of(&owner.uid);
        assert_eq!(found.iter().map(|key| &*key.name).collect::<Vec<_>>(), ["web-1"], "{}", owner.name);
    }
    assert!(cluster.leaving_of(&workload(OwnerKind::Job, "x").uid).is_empty());
}
