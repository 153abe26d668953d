//! Which pods get automatic reservations, and what the belief does in the step in which such a pod vanishes.

use crate::api::names;
use crate::api::reservation::PER_NODE_MAX;
use crate::cluster::{Cluster, Event, NotReservedReason, ReservationState, WatchEvent};
use crate::model::keep::{Keep, LIFE_DEFAULT};
use crate::model::owner::{OwnerKind, Workload};
use crate::model::reservation::{AUTOMATIC, Placement};
use crate::model::{Pod, Reservation};
use crate::testing::{
    ClusterBuilder, PodBuilder, at, cluster_builder, deployment, namespace, node, now, pod, replica_set,
    reservation, workload,
};
use serde_json::json;
use std::time::Duration;

fn with_keep(mut workload: Workload, replicas: u32) -> Workload {
    workload.keep = Keep::read("true");
    workload.desired_pods = Some(replicas);
    workload
}

fn web(replicas: u32) -> Workload {
    with_keep(deployment("web"), replicas)
}

fn set(of: &Workload) -> Workload {
    replica_set("web-1").of(of)
}

fn one(name: &str, set: &Workload) -> PodBuilder {
    pod(name).owned_by(set).cpu("3").on("n1")
}

/// A node and a Deployment with so many replicas.
fn test_cluster(replicas: u32) -> (ClusterBuilder, Workload) {
    let web = web(replicas);
    let set = set(&web);
    (cluster_builder().node(node("n1")).workload(&web).workload(&set), set)
}

fn result_for(cluster: &Cluster, name: &str) -> Result<Reservation, NotReservedReason> {
    let key = crate::model::PodKey::new("default", name);
    cluster.automatic_reservation(cluster.pod(&key).unwrap(), now())
}

fn vanish(cluster: &mut Cluster, pod: Pod) {
    cluster.apply(Event::Pods(WatchEvent::Deleted(pod)));
}

fn states(cluster: &mut Cluster, seconds: i64) -> Vec<ReservationState> {
    cluster
        .snapshot(at(seconds))
        .nodes()
        .flat_map(|ledger| &ledger.entries)
        .map(|entry| entry.state)
        .collect()
}

#[test]
fn a_pod_that_is_being_deleted_and_wanted_back_gets_a_reservation() {
    let (builder, set) = test_cluster(1);
    let leaving = one("a", &set).priority(7).with("/metadata/deletionTimestamp", json!(at(30).to_string()));
    let cluster = builder.pod(leaving.clone()).cluster();
    let made = result_for(&cluster, "a").unwrap();
    let record = made.record().unwrap();
    assert_eq!((&*record.owner.kind, &*record.owner.name), ("Deployment", "web"));
    assert_eq!((made.amount.cpu, made.amount.pods, record.priority), (3000, 1, 7));
    assert_eq!((record.created, record.expires), (at(1), at(30 + 600)), "a life after its grace");
    assert_eq!((&*record.by, record.placement), (AUTOMATIC, Placement::Prefer));
    assert_eq!(record.replaces.as_ref().unwrap().uid, leaving.build().uid);
    assert_eq!(made.id.seat, crate::model::Seat::for_replaced(&leaving.build().uid));
    assert_eq!(result_for(&cluster, "a").unwrap(), made, "the same for whoever asks");
}

#[test]
fn who_wishes_it_and_for_how_long() {
    let (plain, plain_set) = {
        let web = Workload { keep: None, ..web(1) };
        let set = set(&web);
        (cluster_builder().node(node("n1")).workload(&web).workload(&set), set)
    };
    let leaving = one("a", &plain_set).terminating();
    assert_eq!(
        result_for(&plain.clone().pod(leaving.clone()).cluster(), "a"),
        Err(NotReservedReason::NotRequested)
    );
    let own = leaving.clone().with("/metadata/annotations", json!({ "reserve/keep": "5m" }));
    let life = |cluster: &Cluster, name: &str| {
        cluster.reservation_life(cluster.pod(&crate::model::PodKey::new("default", name)).unwrap())
    };
    assert_eq!(life(&plain.clone().pod(own).cluster(), "a"), Some(Duration::from_secs(300)));
    let space = namespace("default").annotation("reserve/keep", "true");
    assert_eq!(life(&plain.clone().with(space).pod(leaving.clone()).cluster(), "a"), Some(LIFE_DEFAULT));
    let odd = leaving.with("/metadata/annotations", json!({ "reserve/keep": "maybe" }));
    assert_eq!(result_for(&plain.pod(odd).cluster(), "a"), Err(NotReservedReason::NotRequested));
    let (test_cluster, set) = test_cluster(1);
    assert_eq!(
        result_for(&test_cluster.pod(one("a", &set)).cluster(), "a"),
        Err(NotReservedReason::NotRequested),
        "it stays"
    );
}

#[test]
fn a_pod_that_says_so_itself_has_its_place_from_the_start() {
    let (builder, set) = test_cluster(1);
    let cluster = builder
        .pod(one("a", &set).with("/metadata/annotations", json!({ "reserve/keep": "1m" })))
        .pod(pod("bare").on("n1").with("/metadata/annotations", json!({ "reserve/keep": "true" })))
        .cluster();
    assert_eq!(result_for(&cluster, "a").unwrap().expires(), Some(at(60 + 240)), "it is extended rarely");
    let bare = result_for(&cluster, "bare").unwrap();
    assert_eq!(
        (&*bare.record().unwrap().owner.kind, bare.id.owner.clone()),
        ("Pod", crate::testing::uid("bare"))
    );
}

#[test]
fn pods_that_are_not_kept_a_place_for() {
    let (builder, set) = test_cluster(1);
    let leaving = || one("a", &set).terminating();
    let why =
        |pod: PodBuilder, builder: ClusterBuilder| result_for(&builder.pod(pod).cluster(), "a").unwrap_err();
    let target = |reason: &str| json!([{ "type": "DisruptionTarget", "status": "True", "reason": reason }]);
    let is_unfit = |why: NotReservedReason| matches!(why, NotReservedReason::Unfit(_));
    for unfit in [
        leaving().with("/metadata/annotations", json!({ "kubernetes.io/config.mirror": "x" })),
        leaving().with("/status/conditions", target("PreemptionByScheduler")),
        leaving().with("/status/conditions", target("TerminationByKubelet")),
        leaving().asks("cpu", "many"),
    ] {
        assert!(is_unfit(why(unfit, builder.clone())));
    }
    let daemons = with_keep(workload(OwnerKind::DaemonSet, "agents"), 1);
    assert!(is_unfit(why(
        pod("a").owned_by(&daemons).on("n1").terminating(),
        builder.clone().workload(&daemons)
    )));
    let not_ready = node("n2").with("/status/conditions", json!([{ "type": "Ready", "status": "Unknown" }]));
    assert!(is_unfit(why(leaving().on("n2"), builder.clone().node(not_ready))));
    assert_eq!(why(leaving().on("n9"), builder.clone()), NotReservedReason::NoNode);
    let orphan = replica_set("orphan").of(&deployment("gone"));
    let orphan = with_keep(orphan, 1);
    let pod = pod("a").owned_by(&orphan).on("n1").terminating();
    assert_eq!(why(pod, builder.workload(&orphan)), NotReservedReason::NoOwner, "its Deployment is gone");
}

#[test]
fn no_more_places_are_kept_than_pods_are_lacking() {
    let (builder, set) = test_cluster(2);
    let standing = |name: &str| one(name, &set).cpu("1");
    let cluster =
        builder.clone().pod(standing("b")).pod(standing("c")).pod(one("a", &set).terminating()).cluster();
    assert_eq!(
        result_for(&cluster, "a"),
        Err(NotReservedReason::NoMissingReplica),
        "two stand, and two are wanted"
    );
    let cluster = builder.clone().pod(standing("b")).pod(one("a", &set).terminating()).cluster();
    assert!(result_for(&cluster, "a").is_ok());
    // One pod is missing, and there is a reservation for it already.
    let web = web(2);
    let kept = node("n2").reserves(reservation(&web).cpu("1").replaces(&pod("old").build()));
    let cluster = builder.node(kept).pod(standing("b")).pod(one("a", &set).terminating()).cluster();
    assert_eq!(result_for(&cluster, "a"), Err(NotReservedReason::NoMissingReplica));
}

#[test]
fn an_owner_that_is_on_its_way_out_lacks_nothing() {
    let ending = Workload { is_deleting: true, ..web(1) };
    let set = set(&ending);
    let builder = cluster_builder().node(node("n1")).workload(&set);
    let leaving = one("a", &set).terminating();
    assert_eq!(
        result_for(&builder.clone().workload(&ending).pod(leaving.clone()).cluster(), "a"),
        Err(NotReservedReason::NoMissingReplica)
    );
    let space = namespace("default").terminating();
    let cluster = builder.workload(&web(1)).with(space).pod(leaving).cluster();
    assert_eq!(result_for(&cluster, "a"), Err(NotReservedReason::NoMissingReplica));
}

#[test]
fn a_place_is_kept_in_the_very_step_in_which_a_pod_vanishes() {
    let (builder, set) = test_cluster(1);
    let leaving = one("a", &set).terminating();
    let mut cluster = builder.clone().pod(leaving.clone()).cluster();
    cluster.advance(now());
    assert_eq!(states(&mut cluster, 0), []);
    vanish(&mut cluster, leaving.build());
    assert_eq!(states(&mut cluster, 0), [ReservationState::Held]);
    assert_eq!(states(&mut cluster, 179), [ReservationState::Held]);
    assert_eq!(states(&mut cluster, 180), [], "nobody wrote it down");
    // The kubelet first reports that the pod ended.
    let mut cluster = builder.clone().pod(leaving.clone()).cluster();
    cluster.advance(now());
    cluster.apply(Event::Pods(WatchEvent::Applied(leaving.clone().phase("Failed").version(2).build())));
    assert_eq!(states(&mut cluster, 0), [ReservationState::Held]);
    // The belief sees the deletion only in the last event.
    let mut cluster = builder.clone().pod(one("a", &set)).cluster();
    cluster.advance(now());
    vanish(&mut cluster, leaving.build());
    assert_eq!(states(&mut cluster, 0), [ReservationState::Held]);
    // The pod was not deleted by anybody: it ended.
    let mut cluster = builder.pod(one("a", &set)).cluster();
    cluster.advance(now());
    vanish(&mut cluster, one("a", &set).build());
    assert_eq!(states(&mut cluster, 0), []);
}

#[test]
fn a_sibling_that_was_bound_just_before_has_not_come_for_the_place() {
    let (builder, set) = test_cluster(2);
    let leaving = one("a", &set).terminating();
    // The API server's clock is up to a second ahead of ours.
    for seconds in [-1, 0] {
        let sibling = one("b", &set).cpu("1").scheduled_at(at(seconds));
        let mut cluster = builder.clone().pod(leaving.clone()).pod(sibling).cluster();
        cluster.advance(now());
        vanish(&mut cluster, leaving.clone().build());
        assert_eq!(states(&mut cluster, 0), [ReservationState::Held], "bound at {seconds} s");
    }
}

#[test]
fn what_the_node_says_goes_before_what_we_keep_ourselves() {
    let (builder, set) = test_cluster(1);
    let leaving = one("a", &set).terminating();
    let mut cluster = builder.pod(leaving.clone()).cluster();
    cluster.advance(now());
    let made = result_for(&cluster, "a").unwrap();
    vanish(&mut cluster, leaving.build());
    let said = node("n1").reserves(made.clone()).version(2);
    cluster.apply(Event::Nodes(WatchEvent::Applied(said.build())));
    assert_eq!(states(&mut cluster, 61), [ReservationState::Held], "now it lives as long as it says");
    cluster.apply(Event::Nodes(WatchEvent::Applied(node("n1").version(3).build())));
    assert_eq!(states(&mut cluster, 61), [], "released is released");
    cluster.apply(Event::Nodes(WatchEvent::Applied(said.version(4).build())));
    cluster.drop_local(&"n1".into(), &made.id);
    assert_eq!(states(&mut cluster, 61), [ReservationState::Held], "it is not ours to drop");
}

#[test]
fn a_namespace_has_a_limited_number_of_automatic_reservations() {
    let (builder, set) = test_cluster(9);
    let leaving = |name: &str| one(name, &set).cpu("1").terminating();
    let mut cluster = builder.pod(leaving("a")).pod(leaving("b")).cluster();
    cluster.set_automatic_max(1);
    cluster.advance(now());
    assert!(result_for(&cluster, "b").is_ok());
    vanish(&mut cluster, leaving("a").build());
    assert_eq!(result_for(&cluster, "b"), Err(NotReservedReason::TooMany(1)));
    vanish(&mut cluster, leaving("b").build());
    assert_eq!(states(&mut cluster, 0), [ReservationState::Held]);
}

#[test]
fn a_node_that_is_full_of_annotations_gets_no_more() {
    let (_, set) = test_cluster(1);
    let full = node("n1").annotation("example.com/novel", &"x".repeat(200 << 10));
    let cluster = cluster_builder()
        .node(full)
        .workload(&web(1))
        .workload(&set)
        .pod(one("a", &set).terminating())
        .cluster();
    assert_eq!(result_for(&cluster, "a"), Err(NotReservedReason::NodeFull));
}

#[test]
fn a_node_with_as_many_reservations_as_one_can_have_gets_no_more() {
    let (_, set) = test_cluster(1);
    let key = |number| format!("{}/00000000-0000-4000-8000-{number:012}", names::CPU);
    for (reservations, is_full) in [(PER_NODE_MAX - 1, false), (PER_NODE_MAX, true)] {
        let n1 = (0..reservations).fold(node("n1"), |node, number| node.annotation(&key(number), "1m"));
        let leaving = one("a", &set).terminating();
        let cluster = cluster_builder().node(n1).workload(&web(1)).workload(&set).pod(leaving).cluster();
        assert_eq!(result_for(&cluster, "a") == Err(NotReservedReason::NodeFull), is_full, "{reservations}");
    }
}

#[test]
fn a_cron_job_lacks_what_its_jobs_lack() {
    let cron = Workload { keep: Keep::read("true"), ..workload(OwnerKind::CronJob, "nightly") };
    let job = Workload { desired_pods: Some(2), ..workload(OwnerKind::Job, "nightly-1").of(&cron) };
    let builder = cluster_builder().node(node("n1")).workload(&cron).workload(&job);
    let leaving = pod("a").owned_by(&job).on("n1").terminating();
    let one = |name: &str| pod(name).owned_by(&job).on("n1");
    let made = result_for(&builder.clone().pod(leaving.clone()).pod(one("b")).cluster(), "a").unwrap();
    assert_eq!(&*made.record().unwrap().owner.kind, "CronJob");
    let cluster = builder.pod(leaving).pod(one("b")).pod(one("c")).cluster();
    assert_eq!(result_for(&cluster, "a"), Err(NotReservedReason::NoMissingReplica));
}
