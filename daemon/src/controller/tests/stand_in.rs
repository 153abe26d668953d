//! A replica that does not lead writes down the places that the leader has not, and does nothing else.

use super::full;
use super::town::{Luck, Town};
use crate::state::Input;

/// Nobody leads: the one state follows a leader that is dead.
fn led_by_a_dead_one() -> Town {
    let mut town = full();
    town.lead(0, false);
    town
}

/// Time passes for those who do not lead, in steps that are short enough.
fn wait(town: &mut Town, millis: u64) {
    for _ in 0..millis / 50 {
        town.pass(50);
    }
}

#[test]
fn the_place_of_a_leaving_pod_is_written_after_a_moment() {
    let mut town = led_by_a_dead_one();
    town.delete("web-1", 30);
    wait(&mut town, 400);
    assert_eq!(town.reservations(), [], "the leader has a moment");
    wait(&mut town, 1000);
    let places = town.reservations();
    assert_eq!(places.len(), 1);
    town.wait(20);
    assert_eq!(town.reservations(), places, "once, and nothing is extended or released");
}

#[test]
fn so_is_that_of_a_pod_that_is_gone_at_once() {
    let mut town = led_by_a_dead_one();
    town.delete("web-1", 0);
    wait(&mut town, 1500);
    assert_eq!(town.reservations().len(), 1);
}

#[test]
fn what_the_leader_writes_is_not_written_again() {
    let mut town = Town::new(&["n1"], 2, 1);
    town.lead(1, false);
    let web = town.comes(true, 0, None);
    town.run();
    town.start_all();
    town.run();
    town.delete(&web, 30);
    town.run();
    let version = town.nodes["n1"].version;
    wait(&mut town, 3000);
    assert_eq!((town.reservations().len(), town.nodes["n1"].version), (1, version));
}

#[test]
fn nothing_else_is_done_without_the_lease() {
    let mut town = led_by_a_dead_one();
    town.delete("web-1", 0);
    wait(&mut town, 1500);
    let written = town.reservations();
    assert_eq!(written.len(), 1);
    town.reconcile();
    town.keep = None;
    town.tell_workloads();
    town.run();
    town.wait(2000);
    assert_eq!(town.reservations(), written, "neither released, nor when its time is over");
    assert_eq!(town.places(), Vec::<String>::new(), "nobody is placed");
    assert_eq!(town.told(), []);
    town.lead(0, true);
    town.run();
    town.wait(30);
    assert_eq!(town.reservations(), [], "whoever leads does");
}

#[test]
fn a_write_that_fails_is_tried_again() {
    let mut town = led_by_a_dead_one();
    town.luck = Luck::Lost;
    town.delete("web-1", 30);
    wait(&mut town, 1500);
    town.luck = Luck::Good;
    wait(&mut town, 3000);
    assert_eq!(town.reservations().len(), 1);
}

impl Town {
    fn lead(&mut self, index: usize, is_leading: bool) {
        self.handle(index, Input::Leading(is_leading));
    }
}
