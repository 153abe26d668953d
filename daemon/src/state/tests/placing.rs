//! Plugins between the choice of a node and the binding.

use super::{answer, apply, bind, decoded, listed_with, now, told, waiting};
use crate::queue::Backoff;
use crate::state::{Binding, Effect, Input, State};
use common::cluster::Snapshot;
use common::cluster::{Asker, Ledger};
use common::framework::{
    Bind, Cure, Permission, Permit, Plugin, PostBind, PreBind, Reason, Registry, Rejection, Reserve, Reserved,
};
use common::plugins::default_registry;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Answers as it is told, and writes down what it was asked.
#[derive(Clone)]
struct Script {
    permission: Permission,
    pre_bind: Result<(), Rejection>,
    asked: Arc<Mutex<Vec<&'static str>>>,
}

impl Script {
    fn new() -> Self {
        Self { permission: Permission::Granted, pre_bind: Ok(()), asked: Arc::default() }
    }

    fn note(&self, what: &'static str) {
        self.asked.lock().unwrap().push(what);
    }

    fn asked(&self) -> String {
        std::mem::take(&mut *self.asked.lock().unwrap()).join(" ")
    }

    /// A state that has listed one node, with this plugin after all others.
    fn state(&self) -> State {
        let plugin = Arc::new(self.clone());
        let mut registry = default_registry();
        registry.reserves.push(plugin.clone());
        registry.permits.push(plugin.clone());
        registry.pre_binds.push(plugin.clone());
        registry.binds.insert(0, plugin.clone());
        registry.post_binds.push(plugin);
        with(registry)
    }
}

fn with(registry: Registry) -> State {
    let state = State::new([("reserve-scheduler".into(), registry)].into(), Backoff::default());
    listed_with(state, &json!({}))
}

impl Plugin for Script {
    fn name(&self) -> &'static str {
        "Script"
    }
}

impl Reserve for Script {
    fn reserve(&self, _: &Asker<'_>, _: &Ledger, _: &Snapshot<'_>) -> Result<Reserved, Rejection> {
        self.note("reserve");
        Ok(Reserved::default())
    }

    fn unreserve(&self, _: &Asker<'_>, _: &Ledger) {
        self.note("unreserve");
    }
}

impl Permit for Script {
    fn permit(&self, _: &Asker<'_>, _: &Ledger) -> Permission {
        self.note("permit");
        self.permission.clone()
    }
}

impl PreBind for Script {
    fn pre_bind(&self, _: &Asker<'_>, _: &Ledger) -> Result<(), Rejection> {
        self.note("preBind");
        self.pre_bind.clone()
    }
}

impl Bind for Script {
    fn binds(&self, _: &Asker<'_>) -> bool {
        self.note("bind");
        false
    }
}

impl PostBind for Script {
    fn post_bind(&self, _: &Asker<'_>, _: &Ledger) {
        self.note("postBind");
    }
}

fn no(words: &'static str) -> Rejection {
    Rejection::new("Script", Reason::said(words, Cure::Node))
}

fn arrives(state: &mut State) -> Vec<Effect> {
    apply(state, decoded(&waiting("a", "1")), 0)
}

#[test]
fn all_are_asked_in_order_and_told_when_it_is_bound() {
    let script = Script::new();
    let mut state = script.state();
    assert_eq!(arrives(&mut state), [bind("a")]);
    assert_eq!(script.asked(), "reserve permit preBind bind");
    answer(&mut state, "a", Binding::Bound, 1);
    assert_eq!(script.asked(), "postBind");
}

#[test]
fn a_binding_that_fails_is_taken_back() {
    let script = Script::new();
    let mut state = script.state();
    arrives(&mut state);
    script.asked();
    answer(&mut state, "a", Binding::Refused { why: "no".into() }, 0);
    assert_eq!(script.asked(), "unreserve");
}

#[test]
fn a_pod_that_is_denied_waits_for_a_cure() {
    let script = Script { permission: Permission::Denied(no("not today")), ..Script::new() };
    let mut state = script.state();
    assert_eq!(told(&arrives(&mut state)), ["0/1 nodes are available: 1 not today."]);
    assert_eq!(script.asked(), "reserve permit unreserve");
    state.handle(Input::Tick, now(200));
    assert_eq!(script.asked(), "", "nothing has changed");
}

#[test]
fn a_pod_that_has_to_wait_is_asked_about_again() {
    let script = Script { permission: Permission::Wait(Duration::from_secs(30)), ..Script::new() };
    let mut state = script.state();
    let words = "0/1 nodes are available: 1 node(s) have to wait for plugin Script to permit it.";
    assert_eq!(told(&arrives(&mut state)), [words]);
    assert_eq!(script.asked(), "reserve permit unreserve");
    state.handle(Input::Tick, now(29));
    assert_eq!(script.asked(), "");
    state.handle(Input::Tick, now(30));
    assert_eq!(script.asked(), "reserve permit unreserve", "when the time is over");
    let effects = apply(&mut state, decoded(&waiting("b", "7")), 45);
    assert!(effects.iter().all(|effect| !matches!(effect, Effect::Bind { .. })));
    assert_eq!(script.asked(), "reserve permit unreserve", "when something happens");
}

#[test]
fn a_pod_that_is_not_ready_backs_off_and_is_tried_again() {
    let script = Script { pre_bind: Err(no("no disk")), ..Script::new() };
    let mut state = script.state();
    assert_eq!(told(&arrives(&mut state)), ["0/1 nodes are available: 1 no disk."]);
    assert_eq!(script.asked(), "reserve permit preBind unreserve");
    state.handle(Input::Tick, now(5));
    assert_eq!(script.asked(), "reserve permit preBind unreserve");
}

#[test]
fn somebody_has_to_bind() {
    let mut registry = default_registry();
    registry.binds.clear();
    registry.binds.push(Arc::new(Script::new()));
    let words = "no plugin at bind takes care of the pod; DefaultBinder would";
    assert_eq!(told(&arrives(&mut with(registry))), [words]);
}
