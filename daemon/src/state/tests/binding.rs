//! The plugins between the choice of a node and the binding: Reserve, Permit, PreBind, Bind, PostBind.

use super::{FULL, answer, apply, bind, decoded, listed_with, now, told, waiting};
use crate::queue::Backoff;
use crate::state::{BindingOutcome, Effect, Input, Note, State};
use common::cluster::Snapshot;
use common::cluster::{Event, Ledger, PodContext, WatchEvent};
use common::framework::{
    Bind, Permission, Permit, Plugin, PostBind, PreBind, Reason, Registry, Rejection, Reserve,
};
use common::model::{Claim, PodKey};
use common::plugins::default_registry;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A plugin with fixed answers that records its calls.
#[derive(Clone)]
struct ScriptedPlugin {
    permission: Permission,
    pre_bind: Result<(), Rejection>,
    calls: Arc<Mutex<Vec<&'static str>>>,
}

impl ScriptedPlugin {
    fn new() -> Self {
        Self { permission: Permission::Granted, pre_bind: Ok(()), calls: Arc::default() }
    }

    fn record(&self, call: &'static str) {
        self.calls.lock().unwrap().push(call);
    }

    fn take_calls(&self) -> String {
        std::mem::take(&mut *self.calls.lock().unwrap()).join(" ")
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

impl Plugin for ScriptedPlugin {
    fn name(&self) -> &'static str {
        "Script"
    }
}

impl Reserve for ScriptedPlugin {
    fn reserve(&self, _: &PodContext<'_>, _: &Ledger, _: &Snapshot<'_>) -> Result<Vec<Claim>, Rejection> {
        self.record("reserve");
        Ok(Vec::new())
    }

    fn unreserve(&self, _: &PodContext<'_>, _: &Ledger) {
        self.record("unreserve");
    }
}

impl Permit for ScriptedPlugin {
    fn permit(&self, _: &PodContext<'_>, _: &Ledger) -> Permission {
        self.record("permit");
        self.permission.clone()
    }
}

impl PreBind for ScriptedPlugin {
    fn pre_bind(&self, _: &PodContext<'_>, _: &Ledger) -> Result<(), Rejection> {
        self.record("preBind");
        self.pre_bind.clone()
    }
}

impl Bind for ScriptedPlugin {
    fn binds(&self, _: &PodContext<'_>) -> bool {
        self.record("bind");
        false
    }
}

impl PostBind for ScriptedPlugin {
    fn post_bind(&self, _: &PodContext<'_>, _: &Ledger) {
        self.record("postBind");
    }
}

fn no(words: &'static str) -> Rejection {
    Rejection::new("Script", Reason::message(words))
}

fn arrives(state: &mut State) -> Vec<Effect> {
    apply(state, decoded(&waiting("a", "1")), 0)
}

#[test]
fn all_are_asked_in_order_and_told_when_it_is_bound() {
    let script = ScriptedPlugin::new();
    let mut state = script.state();
    assert_eq!(arrives(&mut state), [bind("a")]);
    assert_eq!(script.take_calls(), "reserve permit preBind bind");
    answer(&mut state, "a", BindingOutcome::Bound, 1);
    assert_eq!(script.take_calls(), "postBind");
}

#[test]
fn a_binding_that_fails_is_taken_back() {
    let script = ScriptedPlugin::new();
    let mut state = script.state();
    arrives(&mut state);
    script.take_calls();
    answer(&mut state, "a", BindingOutcome::Refused { why: "no".into() }, 0);
    assert_eq!(script.take_calls(), "unreserve");
}

#[test]
fn a_pod_that_is_denied_waits_for_a_cure() {
    let script = ScriptedPlugin { permission: Permission::Denied(no("not today")), ..ScriptedPlugin::new() };
    let mut state = script.state();
    assert_eq!(told(&arrives(&mut state)), ["0/1 nodes are available: 1 not today."]);
    assert_eq!(script.take_calls(), "reserve permit unreserve");
    state.handle(Input::Tick, now(200));
    assert_eq!(script.take_calls(), "", "nothing has changed");
}

fn nominate(node: Option<&str>) -> Effect {
    let pod = PodKey::new("default", "a");
    Effect::Nominate { pod, uid: "uid-a".into(), node: node.map(Into::into) }
}

#[test]
fn a_pod_that_has_to_wait_keeps_its_room_and_is_asked_about_again() {
    let script =
        ScriptedPlugin { permission: Permission::Wait(Duration::from_secs(30)), ..ScriptedPlugin::new() };
    let mut state = script.state();
    assert_eq!(apply(&mut state, decoded(&waiting("a", "4")), 0), [nominate(Some("n1"))]);
    assert_eq!(script.take_calls(), "reserve permit");
    state.handle(Input::Tick, now(29));
    assert_eq!(script.take_calls(), "", "nothing has changed");
    let effects = apply(&mut state, decoded(&waiting("b", "4")), 29);
    assert_eq!(told(&effects), [FULL], "its room is kept");
    assert_eq!(script.take_calls(), "permit", "something has");
    let effects = state.handle(Input::Tick, now(30));
    let words = "0/1 nodes are available: 1 rejected due to timeout after waiting 30s at plugin Script.";
    assert!(told(&effects).contains(&words), "{effects:?}");
    assert!(script.take_calls().starts_with("permit unreserve"), "and the other one gets the room");
    assert!(
        effects.contains(&Effect::Nominate {
            pod: PodKey::new("default", "b"),
            uid: "uid-b".into(),
            node: Some("n1".into())
        }),
        "{effects:?}"
    );
}

#[test]
fn a_pod_that_gets_leave_is_bound() {
    let script =
        ScriptedPlugin { permission: Permission::Wait(Duration::from_secs(30)), ..ScriptedPlugin::new() };
    let is_granted = Arc::new(Mutex::new(false));
    let mut registry = default_registry();
    registry.permits.push(Arc::new(WaitForFlag(Arc::clone(&is_granted))));
    registry.post_binds.push(Arc::new(script));
    let mut state = with(registry);
    arrives(&mut state);
    *is_granted.lock().unwrap() = true;
    let effects = apply(&mut state, decoded(&waiting("b", "7")), 5);
    assert!(effects.contains(&bind("a")), "{effects:?}");
    let notes = state.take_notes();
    assert!(notes.contains(&Note::PermitWait { result: "Success", waited_ms: 5000 }), "{notes:?}");
}

/// Lets a pod wait until the flag is true.
struct WaitForFlag(Arc<Mutex<bool>>);

impl Plugin for WaitForFlag {
    fn name(&self) -> &'static str {
        "Leave"
    }
}

impl Permit for WaitForFlag {
    fn permit(&self, _: &PodContext<'_>, _: &Ledger) -> Permission {
        if *self.0.lock().unwrap() { Permission::Granted } else { Permission::Wait(Duration::from_secs(9)) }
    }
}

#[test]
fn a_pod_that_is_deleted_while_it_waits_leaves_its_room() {
    let script =
        ScriptedPlugin { permission: Permission::Wait(Duration::from_secs(30)), ..ScriptedPlugin::new() };
    let mut state = script.state();
    apply(&mut state, decoded(&waiting("a", "4")), 0);
    let gone = Event::Pods(WatchEvent::Deleted(decoded(&waiting("a", "4"))));
    state.handle(Input::Cluster(Box::new(gone)), now(1));
    assert_eq!(script.take_calls(), "reserve permit unreserve");
    apply(&mut state, decoded(&waiting("b", "4")), 2);
    assert_eq!(script.take_calls(), "reserve permit", "the room is there");
}

#[test]
fn a_pod_that_is_not_ready_backs_off_and_is_tried_again() {
    let script = ScriptedPlugin { pre_bind: Err(no("no disk")), ..ScriptedPlugin::new() };
    let mut state = script.state();
    assert_eq!(told(&arrives(&mut state)), ["0/1 nodes are available: 1 no disk."]);
    assert_eq!(script.take_calls(), "reserve permit preBind unreserve");
    state.handle(Input::Tick, now(5));
    assert_eq!(script.take_calls(), "reserve permit preBind unreserve");
}

#[test]
fn somebody_has_to_bind() {
    let mut registry = default_registry();
    registry.binds.clear();
    registry.binds.push(Arc::new(ScriptedPlugin::new()));
    let words = "no plugin at bind takes care of the pod; DefaultBinder would";
    assert_eq!(told(&arrives(&mut with(registry))), [words]);
}
