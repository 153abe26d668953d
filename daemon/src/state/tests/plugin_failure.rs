//! A plugin that fails.

use super::{apply, decoded, list, now, waiting};
use crate::queue::Backoff;
use crate::state::{Effect, State};
use common::cluster::{PodContext, Snapshot};
use common::framework::{Filter, NodeFilter, Plugin, Verdict};
use common::plugins::default_registry;
use serde_json::json;
use std::time::Duration;

/// When a filter fails, it is unknown whether a node fits; so the pod is tried again without any change.
#[test]
fn a_decision_that_failed_is_told_as_an_error_of_the_scheduler_and_tried_again() {
    let registry = default_registry().filter(Broken);
    let mut state = State::new([("reserve-scheduler".into(), registry)].into(), Backoff::default());
    list(&mut state, &json!({}));
    let effects = apply(&mut state, decoded(&waiting("a", "1")), 0);
    let Some(Effect::Condition { reason, message, .. }) = effects.first() else { panic!("{effects:?}") };
    assert_eq!(
        (*reason, message.as_str()),
        ("SchedulerError", "running \"Broken\" filter plugin: out of order")
    );
    assert_eq!(state.next_tick(now(0)), Some(Duration::from_secs(1)), "after its backoff");
}

struct Broken;

impl Plugin for Broken {
    fn name(&self) -> &'static str {
        "Broken"
    }
}

impl Filter for Broken {
    fn prepare<'c>(&'c self, _: &'c PodContext<'c>, _: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        Some(Box::new(|_| Verdict::Fails("out of order".into())))
    }
}
