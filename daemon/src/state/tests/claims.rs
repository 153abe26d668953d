//! Claims of any plugin: what they need is written before the binding, awaited, and given back if the pod is not bound.

use super::{answer, apply, bind, decoded, listed_with, now, told, waiting};
use crate::queue::Backoff;
use crate::state::{BindingOutcome, Effect, Input, State};
use common::cluster::{Ledger, PodContext, Snapshot};
use common::framework::{ClaimProgress, Plugin, PreparedClaim, Rejection, Reserve};
use common::model::storage::{ChosenVolume, ClaimRef, VolumeChoice};
use common::model::{CatalogKind, Claim, Claims, NodeName, ObjectWrite, PodKey};
use common::plugins::default_registry;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A plugin with one claim for each pod.
struct Disk(Arc<Mutex<ClaimProgress>>);

fn write(patch: &str) -> ObjectWrite {
    let (kind, namespace) = (CatalogKind::PersistentVolumeClaim, Some("default".into()));
    ObjectWrite { kind, namespace, name: "c".into(), is_status: false, patch: patch.into() }
}

impl Plugin for Disk {
    fn name(&self) -> &'static str {
        "Disk"
    }
}

impl Reserve for Disk {
    fn reserve(&self, _: &PodContext<'_>, _: &Ledger, _: &Snapshot<'_>) -> Result<Vec<Claim>, Rejection> {
        let claim = ClaimRef { namespace: "default".into(), name: "c".into(), uid: None };
        let volume = ChosenVolume::Provisioned;
        Ok(vec![Claim::Volume(VolumeChoice { claim, claim_version: 1, volume })])
    }

    fn prepare_claims(&self, claims: &Claims, _: &NodeName, _: &Snapshot<'_>) -> Vec<PreparedClaim> {
        let prepared = |claim: &Claim| {
            let write = Some(write("take"));
            PreparedClaim { claim: claim.clone(), write, version: u64::MAX }
        };
        claims.0.iter().map(prepared).collect()
    }

    fn progress(&self, prepared: &[PreparedClaim], _: &NodeName, _: &Snapshot<'_>) -> ClaimProgress {
        assert_eq!(prepared[0].version, 5, "the writes were answered");
        self.0.lock().unwrap().clone()
    }

    fn timeout(&self) -> (Duration, &'static str) {
        (Duration::from_secs(30), "it took too long")
    }

    fn release_claims(&self, _: &Claims, _: &NodeName, _: &Snapshot<'_>) -> Vec<ObjectWrite> {
        vec![write("give back")]
    }
}

/// A state in which a pod waits for its claim, which has this progress once its write is answered.
fn waits_for(progress: ClaimProgress) -> (State, Vec<Effect>) {
    let mut registry = default_registry();
    registry.reserves = vec![Arc::new(Disk(Arc::new(Mutex::new(progress))))];
    let state = State::new([("reserve-scheduler".into(), registry)].into(), Backoff::default());
    let mut state = listed_with(state, &json!({}));
    let effects = apply(&mut state, decoded(&waiting("a", "4")), 0);
    let (pod, uid) = (PodKey::new("default", "a"), "uid-a".into());
    let id = written(&effects, "take").unwrap();
    let effects = state.handle(Input::ObjectsWritten { pod, uid, id, outcome: Ok(vec![5]) }, now(1));
    (state, effects)
}

/// The number of the try that wants this written.
fn written(effects: &[Effect], patch: &str) -> Option<u64> {
    effects.iter().find_map(|effect| match effect {
        Effect::WriteObjects { writes, id, .. } if *writes == [write(patch)] => Some(*id),
        _ => None,
    })
}

#[test]
fn a_claim_is_prepared_before_the_binding_and_given_back_after_a_refused_one() {
    let (mut state, effects) = waits_for(ClaimProgress::Done);
    assert_eq!(effects, [bind("a")]);
    let effects = answer(&mut state, "a", BindingOutcome::Refused { why: "no".into() }, 2);
    assert!(written(&effects, "give back").is_some(), "{effects:?}");
}

#[test]
fn a_claim_that_fails_or_takes_too_long_is_given_back() {
    let (_, effects) = waits_for(ClaimProgress::Failed("broken".into()));
    assert!(written(&effects, "give back").is_some(), "{effects:?}");
    assert_eq!(told(&effects), ["running PreBind plugin \"Disk\": broken"]);
    let (mut state, effects) = waits_for(ClaimProgress::Waiting);
    assert_eq!(effects, []);
    let effects = state.handle(Input::Tick, now(30));
    assert!(written(&effects, "give back").is_some(), "{effects:?}");
    assert_eq!(told(&effects), ["running PreBind plugin \"Disk\": it took too long"]);
}
