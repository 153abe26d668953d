//! The hints of our plugins about a change ([`Core::hints`]). The change goes through [`Cluster::apply`], and is then taken back.

use anyhow::{Context as _, Result, bail};
use common::api;
use common::cluster::{Change, Cluster, Event, EventResource, WatchEvent};
use common::framework::QueueingHint;
use common::model::{CatalogKind, Pod};
use jiff::Timestamp;
use serde_json::value::RawValue;

use super::Core;
use crate::conformance::format::{CaseChange, CaseOutcome};

impl Core {
    /// Of each plugin whether the change may help the pod.
    pub(super) fn hints(&mut self, pod: &Pod, change: &CaseChange<'_>) -> Result<CaseOutcome> {
        // A pod that changes itself waits meanwhile.
        let is_own = change.kind == "TargetPod";
        if is_own {
            apply(
                &mut self.cluster,
                change,
                change.old.context("a waiting pod without its old state")?,
                false,
            )?;
        }
        let (forward, is_gone) =
            change.new.or(change.old).map(|now| (now, change.new.is_none())).context("no object")?;
        let changes = apply(&mut self.cluster, change, forward, is_gone)?;
        let made = changes.into_iter().find_map(|made| match made {
            Change::Cluster(made) if is_of(made.event.resource, &change.kind) => Some(made),
            _ => None,
        });
        let mut outcome = CaseOutcome::default();
        let world = self.cluster.snapshot(Timestamp::UNIX_EPOCH);
        for (name, plugin) in &self.steps.enqueue_extensions {
            let helps = made.as_ref().is_some_and(|made| {
                let is_registered = plugin.events_to_register().iter().any(|event| event.covers(made.event));
                is_registered && plugin.hint(pod, made, &world) == QueueingHint::Queue
            });
            outcome.hints.insert((*name).to_owned(), helps);
        }
        match change.old.filter(|_| !is_own) {
            Some(old) => apply(&mut self.cluster, change, old, false)?,
            None => apply(&mut self.cluster, change, forward, true)?,
        };
        Ok(outcome)
    }
}

fn is_of(resource: EventResource, kind: &str) -> bool {
    match resource {
        EventResource::Catalog(known) => known.as_str() == kind,
        resource => format!("{resource:?}") == kind,
    }
}

/// Brings the object into this state, or deletes it.
fn apply(
    cluster: &mut Cluster,
    change: &CaseChange<'_>,
    json: &RawValue,
    is_gone: bool,
) -> Result<Vec<Change>> {
    fn seen<T>(object: T, is_gone: bool) -> WatchEvent<T> {
        if is_gone { WatchEvent::Deleted(object) } else { WatchEvent::Applied(object) }
    }
    let event = match change.kind.as_str() {
        "AssignedPod" | "TargetPod" => Event::Pods(seen(api::pod::pod(json.get())?, is_gone)),
        "Node" => Event::Nodes(seen(api::node::node(json.get())?, is_gone)),
        kind => {
            let Some(kind) = CatalogKind::ALL.into_iter().find(|known| known.as_str() == kind) else {
                bail!("a change of kind {kind:?}")
            };
            Event::CatalogObjects(kind, seen(api::catalog_object::catalog_object(kind, json.get())?, is_gone))
        }
    };
    Ok(cluster.apply(event))
}
