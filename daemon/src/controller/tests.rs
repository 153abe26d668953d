//! The controller inside the whole state machine: each rule, then all of them in histories that nobody wrote down.

mod histories;
mod places;
mod rules;
mod stand_in;
mod town;
mod wishes;

use town::{Luck, Town, time};

/// A town with one node, full of the one pod that the Deployment wants, and a rival that waits.
fn full() -> Town {
    let mut town = Town::new(&["n1"], 1, 1);
    town.reconcile();
    town.run();
    town.start_all();
    town.comes(false, 0, None);
    town.run();
    assert_eq!(town.places(), ["web-1 n1"]);
    assert_eq!(town.reservations(), []);
    town
}

#[test]
fn a_place_is_kept_taken_and_released() {
    let mut town = full();
    town.delete("web-1", 30);
    town.reconcile();
    town.run();
    let [(_, kept)] = &town.reservations()[..] else { panic!("{:?}", town.reservations()) };
    assert_eq!(kept.expires(), Some(time(30 + 600)), "a life after its grace");
    town.wait(30);
    town.vanish("web-1");
    town.run();
    assert_eq!(town.places(), ["web-3 n1"], "the replacement, not the rival");
    town.wait(1);
    assert_eq!(town.reservations().len(), 1, "it does not run yet");
    town.start_all();
    town.run();
    assert_eq!(town.reservations(), []);
    assert_eq!(town.told(), []);
}

#[test]
fn the_time_is_moved_at_the_very_moment_when_it_is_due() {
    let mut town = full();
    town.delete("web-1", 30);
    town.run();
    // It outlives its grace. Now exactly one life is left: that is when to move on, or there would be a look each instant.
    town.wait(30);
    let [(_, kept)] = &town.reservations()[..] else { panic!("{:?}", town.reservations()) };
    assert!(kept.expires() > Some(time(30 + 600)), "{kept:?}");
}

#[test]
fn what_was_made_and_is_not_seen_yet_is_not_made_again_and_again() {
    let mut town = full();
    town.are_nodes_unheard = true;
    town.delete("web-1", 30);
    // That it comes to rest is the point: each write that only finds what is there would be followed by the next.
    town.run();
    assert_eq!(town.reservations().len(), 1);
    town.are_nodes_unheard = false;
    town.tell_node("n1");
    town.run();
    town.wait(30);
    town.vanish("web-1");
    town.reconcile();
    town.run();
    assert_eq!(town.places(), ["web-3 n1"]);
}

#[test]
fn a_pod_that_vanishes_at_once_leaves_no_gap() {
    let mut town = full();
    // The rival is decided on in the very step in which the room is empty, before the replacement is even made.
    town.wait(20);
    town.delete("web-1", 0);
    town.run();
    assert_eq!(town.places(), [""; 0]);
    assert_eq!(town.reservations().len(), 1, "written down as soon as it could be");
    town.reconcile();
    town.run();
    assert_eq!(town.places(), ["web-3 n1"]);
    town.start_all();
    town.run();
    assert_eq!(town.reservations(), []);
}

#[test]
fn without_the_wish_the_place_is_lost() {
    let mut town = Town::new(&["n1"], 1, 1);
    town.keep = None;
    town.tell_workloads();
    town.reconcile();
    town.run();
    town.comes(false, 0, None);
    town.run();
    town.wait(20);
    town.delete("web-1", 0);
    town.run();
    assert_eq!(town.places(), ["rival-2 n1"], "or the other tests would prove nothing");
}

#[test]
fn a_pod_that_does_not_start_has_taken_its_place_after_a_minute() {
    let mut town = full();
    town.delete("web-1", 0);
    town.reconcile();
    town.run();
    town.wait(59);
    assert_eq!(town.reservations().len(), 1);
    town.wait(2);
    assert_eq!(town.reservations(), []);
}

#[test]
fn what_is_no_longer_needed_is_released() {
    let mut town = full();
    town.delete("web-1", 30);
    town.run();
    town.wanted = 0;
    town.tell_workloads();
    town.run();
    assert_eq!(town.reservations().len(), 1, "not while the replaced pod is there");
    town.wait(30);
    town.vanish("web-1");
    town.run();
    assert_eq!(town.reservations(), []);
    town.wait(15);
    assert_eq!(town.places(), ["rival-2 n1"]);
}

#[test]
fn a_scale_down_keeps_nothing() {
    let mut town = full();
    town.wanted = 0;
    town.tell_workloads();
    town.reconcile();
    town.run();
    assert_eq!(town.reservations(), []);
    town.vanish("web-1");
    town.wait(15);
    assert_eq!(town.places(), ["rival-2 n1"]);
}

#[test]
fn a_replacement_elsewhere_frees_the_place() {
    let mut town = Town::new(&["n1"], 1, 1);
    town.reconcile();
    town.run();
    town.delete("web-1", 100);
    town.run();
    assert_eq!(town.reservations().len(), 1);
    town.nodes.insert("n2".into(), crate::effects::Server::new(&[]));
    town.tell_node("n2");
    town.reconcile();
    town.run();
    assert_eq!(town.places(), ["web-1 n1", "web-2 n2"], "prefer does not mean wait");
    town.vanish("web-1");
    town.run();
    assert_eq!(town.reservations(), []);
}

#[test]
fn time_that_is_up_is_up_and_a_pod_that_takes_long_gets_more() {
    let mut town = full();
    town.delete("web-1", 10);
    town.run();
    // It outlives its grace by far.
    town.wait(3000);
    let [(_, kept)] = &town.reservations()[..] else { panic!("{:?}", town.reservations()) };
    assert!(kept.expires() >= Some(time(3000 + 590)) && kept.expires() <= Some(time(3000 + 670)));
    town.vanish("web-1");
    town.run();
    town.wait(500);
    assert_eq!((town.reservations().len(), town.places().len()), (1, 0), "nobody made a replacement");
    town.wait(200);
    assert_eq!(town.reservations(), []);
    assert_eq!(town.places(), ["rival-2 n1"]);
}

#[test]
fn a_daemon_that_may_not_write_says_nothing_and_goes_on() {
    let mut town = full();
    town.luck = Luck::Forbidden;
    town.delete("web-1", 30);
    town.run();
    assert_eq!(town.reservations(), []);
    town.vanish("web-1");
    town.run();
    town.wait(220);
    assert_eq!(town.places(), ["rival-2 n1"]);
}

#[test]
fn what_is_being_written_counts_for_the_limit_of_a_namespace() {
    let mut town = Town::new(&["n1", "n2"], 1, 2);
    town.states[0].set_automatic_max(1);
    town.reconcile();
    town.run();
    town.start_all();
    town.comes(false, 0, None);
    town.run();
    town.wait(20);
    town.are_nodes_unheard = true;
    town.delete("web-1", 30);
    town.delete("web-2", 30);
    town.run();
    assert_eq!(town.reservations().len(), 1, "the second is one too many, whether or not the first was seen");
    town.vanish("web-1");
    town.run();
    assert_eq!(
        town.places().len(),
        1,
        "nobody is placed where room is about to be kept: {:?}",
        town.places()
    );
}

#[test]
fn what_could_not_be_written_is_tried_again() {
    for luck in [Luck::Lost, Luck::Silent] {
        let mut town = full();
        town.luck = luck;
        town.delete("web-1", 30);
        town.run();
        town.wait(5);
        town.luck = Luck::Good;
        town.wait(10);
        assert_eq!(town.reservations().len(), 1, "{luck:?}");
        town.luck = luck;
        town.vanish("web-1");
        town.reconcile();
        town.run();
        town.start_all();
        town.run();
        town.luck = Luck::Good;
        town.wait(60);
        assert_eq!(town.reservations(), [], "{luck:?}");
        assert_eq!(town.places(), ["web-3 n1"]);
    }
}
