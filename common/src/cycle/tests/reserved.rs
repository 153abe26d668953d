//! Decisions over several nodes, several owners and reservations of every form, against a reference that does the books
//! from the design's prose (design §4; I1, I3, I5, I13, I14).

mod audit;
mod books;
mod drawn;
mod kin;
mod life;
mod met;
mod opinion;
mod same;
mod town;
mod wire;

use crate::framework::Registry;
use crate::plugins::default_registry;
use crate::testing::Tape;
use proptest::prelude::{ProptestConfig, any, prop, proptest};
use town::{Place, Town};

/// How many of the waiting pods are decided on at every moment.
const ASKED: usize = 3;

/// Goes through the history that is on the tape, and checks everything at every moment.
fn told(choices: &[u16], registry: &Registry) -> Town {
    let mut tape = Tape::new(choices);
    let mut town = drawn::town(&mut tape);
    while !tape.is_over() {
        town.live(&mut tape, registry);
        audit::check_books(&mut town);
        for guest in waiting(&town) {
            if audit::decided(&mut town, guest, registry).is_none() {
                town.met.insert("nowhere");
            }
        }
    }
    same::check(&mut town, registry);
    town
}

/// Those who wait; the last that came.
fn waiting(town: &Town) -> Vec<usize> {
    let waits = |guest: &usize| town.guests[*guest].place == Place::Waiting;
    (0..town.guests.len()).rev().filter(waits).take(ASKED).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn decisions_are_those_of_the_brute_force_ledger(choices in prop::collection::vec(any::<u16>(), 100..350)) {
        told(&choices, &default_registry());
    }
}

/// The histories meet everything, so that the property above says something about each.
#[test]
fn histories_meet_everything() {
    use proptest::strategy::{Strategy, ValueTree};
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let registry = default_registry();
    let mut missing: Vec<&str> = met::ALL.to_vec();
    for _ in 0..200 {
        let choices = prop::collection::vec(any::<u16>(), 300).new_tree(&mut runner).unwrap().current();
        let town = told(&choices, &registry);
        missing.retain(|note| !town.met.contains(note));
        if missing.is_empty() {
            return;
        }
    }
    panic!("never met: {missing:?}");
}
