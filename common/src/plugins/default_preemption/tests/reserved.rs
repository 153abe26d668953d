//! Preemption and reservations: reservations of the same or a higher priority keep their room, reservations of victims do not.

use super::*;
use crate::testing::{NodeBuilder, plain, replica_set};

fn keeps(priority: i32, cpu: &str) -> NodeBuilder {
    node("n1").reserves(reservation(&deployment("web")).cpu(cpu).priority(priority))
}

#[test]
fn what_is_kept_for_a_more_important_one_stays_kept() {
    let test_cluster = |priority| {
        cluster_builder().node(keeps(priority, "2")).pod(on("a", "n1", 0, "1")).pod(on("b", "n1", 1, "1"))
    };
    // 4 cpus, of which 2 are kept and 2 used.
    assert_eq!(candidates(test_cluster(10), &preemptor("1")), ["*n1: a (0)"]);
    assert_eq!(candidates(test_cluster(10), &preemptor("2")), ["*n1: b a (0)"]);
    assert_eq!(candidates(test_cluster(10), &preemptor("3")), [""; 0]);
    assert_eq!(
        candidates(test_cluster(9), &preemptor("3")),
        ["*n1: a (0)"],
        "what is kept for a lesser one yields"
    );
    let words = no_fit(test_cluster(11), &preemptor("3")).message();
    assert!(words.ends_with("preemption: 0/1 nodes are available: 1 Insufficient cpu."), "{words}");
}

#[test]
fn by_hand_it_is_kept_from_everybody() {
    let kept = plain(&deployment("web").uid).cpu("2");
    let test_cluster = cluster_builder().node(node("n1").reserves(kept)).pod(on("a", "n1", 0, "2"));
    assert_eq!(candidates(test_cluster.clone(), &preemptor("2")), ["*n1: a (0)"]);
    assert_eq!(candidates(test_cluster, &preemptor("3")), [""; 0]);
}

#[test]
fn a_reservation_alone_displaces_nobody() {
    let test_cluster = cluster_builder().node(keeps(10, "4"));
    let no_fit = no_fit(test_cluster, &preemptor("1"));
    assert_eq!(
        no_fit.message(),
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims \
         found for incoming pod."
    );
    let owner = pod("w").priority(10).cpu("4").owned_by(&deployment("web"));
    let test_cluster =
        cluster_builder().workload(&deployment("web")).node(keeps(10, "4")).pod(on("a", "n1", 10, "1"));
    let no_fit = super::no_fit(test_cluster, &owner);
    assert_eq!(no_fit.post_filter.candidates, [], "not even for its owner");
}

#[test]
fn the_seat_of_a_victim_does_not_stand_in_the_way_of_who_displaced_it() {
    let (owner, set) = (deployment("web"), replica_set("web-1").of(&deployment("web")));
    let kept = reservation(&owner).cpu("4").priority(0).created(at(-60));
    let taker = on("w", "n1", 0, "4").owned_by(&set).stamp(&kept.id()).scheduled_at(at(-30));
    let test_cluster =
        cluster_builder().workload(&owner).workload(&set).node(node("n1").reserves(kept)).pod(taker);
    assert_eq!(candidates(test_cluster, &preemptor("4")), ["*n1: w (0)"]);
}
