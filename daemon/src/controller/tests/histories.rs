//! Histories that nobody wrote down: pods come and go, writes get lost, daemons die, two of them act at once. In the end
//! nothing is left behind, and nobody has lost a place to the rival.

use super::town::{Luck, Town};
use fastrand::Rng;

/// Long enough for everything that was kept to be over: a life, and what I7 allows on top.
const LIFE_AND_MORE: u64 = 600 + 90;

/// One thing happens.
fn happen(town: &mut Town, rng: &mut Rng) {
    let web: Vec<String> =
        town.guests.iter().filter(|(_, guest)| guest.is_web).map(|(name, _)| name.clone()).collect();
    let some = |rng: &mut Rng| rng.choice(web.iter()).cloned();
    match rng.u32(0..14) {
        0..=2 => {
            if let Some(name) = some(rng) {
                town.delete(&name, rng.u64(0..2) * 20);
            }
        }
        3..=4 => {
            if let Some(name) = some(rng) {
                town.vanish(&name);
            }
        }
        5..=6 => town.reconcile(),
        7 => town.start_all(),
        8 => {
            town.wanted = rng.u32(0..4);
            town.tell_workloads();
        }
        9 => town.luck = [Luck::Good, Luck::Silent, Luck::Lost][rng.usize(0..3)],
        10 => {
            let index = rng.usize(0..town.states.len());
            town.crash(index);
        }
        11 => town.wait(rng.u64(0..5)),
        _ => {
            town.run_one();
        }
    }
}

fn history(seed: u64, states: usize) {
    let mut rng = Rng::with_seed(seed);
    let mut town = Town::new(&["n1", "n2"], states, 2);
    town.reconcile();
    town.run();
    town.start_all();
    town.comes(false, 0, None);
    for _ in 0..60 {
        happen(&mut town, &mut rng);
        let per_node = |node: &str| town.reservations().iter().filter(|(of, _)| of == node).count();
        assert!(per_node("n1") <= 4 && per_node("n2") <= 4, "seed {seed}: {:?}", town.reservations());
        check_room(&town, seed);
    }
    // All faults end, and the town comes to rest.
    town.luck = Luck::Good;
    let leaving: Vec<String> = town
        .guests
        .iter()
        .filter(|(_, guest)| guest.leaves.is_some())
        .map(|(name, _)| name.clone())
        .collect();
    leaving.iter().for_each(|name| town.vanish(name));
    town.reconcile();
    town.run();
    for _ in 0..LIFE_AND_MORE / 30 {
        town.wait(30);
        town.start_all();
    }
    town.wait(30);
    assert_eq!(town.reservations(), [], "seed {seed}: left behind");
}

/// Nobody is placed where there is no room, if there is one who decides.
fn check_room(town: &Town, seed: u64) {
    if town.states.len() > 1 {
        return;
    }
    for node in ["n1", "n2"] {
        let there = town.guests.values().filter(|guest| guest.node.as_deref() == Some(node)).count();
        assert!(there <= 1, "seed {seed}: {:?}", town.places());
    }
}

#[test]
fn nothing_is_left_behind_and_no_node_is_overfull() {
    for seed in 0..40 {
        history(seed, 1);
    }
}

#[test]
fn two_that_act_at_once_neither_double_nor_leave_behind() {
    for seed in 100..130 {
        history(seed, 2);
    }
}

#[test]
fn killed_after_each_effect_it_comes_to_the_same_end() {
    for dies in 0..12 {
        let mut town = super::full();
        let mut left = dies;
        let mut step = |town: &mut Town| {
            while town.run_one() {
                if left == 0 {
                    town.crash(0);
                }
                left -= 1;
            }
        };
        town.delete("web-1", 20);
        town.reconcile();
        step(&mut town);
        town.vanish("web-1");
        step(&mut town);
        town.start_all();
        step(&mut town);
        town.wait(90);
        assert_eq!(town.places(), ["web-3 n1"], "killed after {dies}");
        assert_eq!(town.reservations(), [], "killed after {dies}");
    }
}
