//! The reads of the command: the recheck before an eviction and the observation after it; and the check of its result (I19). Also
//! recreates a bare pod.

use super::api::ErrorCode;
use super::api::Stream;
use super::calls::Reply;
use super::command_requests::keep_requester;
use super::foreign::ForeignOwner;
use super::sim::Sim;
use super::watches::list_events;
use crate::history::{Counts, room};
use common::api::reservation::patch::{keys_of, reservation_of};
use common::cluster::{Cluster, Event, WatchEvent};
use common::model::pod::Phase;
use common::model::{Keep, Node, NodeName, Pod, Reservation, Uid};
use jiff::SignedDuration;
use kubectl_reserve::flow::keep::{KeptRoom, kept_room, lacks};
use kubectl_reserve::flow::recreate::{
    Answer, KeepMethod, Leftover, NodeObservation, Observation, OldPod, Recheck, RecreationOutcome,
    SiblingPod, WaitFor,
};
use std::sync::Arc;

impl Sim {
    /// The pods with the namespace, the label `app` and the owner kind of the target.
    fn siblings(&self, index: usize) -> impl Iterator<Item = &Arc<Pod>> {
        let target = &self.commands[index].target;
        self.api.state.pods.values().filter(move |pod| {
            let kind = |pod: &Pod| pod.controller.as_ref().map(|controller| controller.kind);
            pod.key.namespace == target.key.namespace
                && pod.labels.get("app") == target.labels.get("app")
                && kind(pod) == kind(target)
        })
    }

    /// The observation after an eviction.
    pub(super) fn observation(&self, index: usize) -> Answer {
        let command = &self.commands[index];
        let target = &command.target;
        let is_named = command.terms.same_name.is_some();
        let old = self.api.state.pods.get(&target.uid);
        let old = old.map(|pod| OldPod { is_leaving: pod.deleting, ..OldPod::default() });
        let mut pods: Vec<&Arc<Pod>> = self.siblings(index).filter(|pod| pod.uid != target.uid).collect();
        pods.retain(|pod| !is_named || pod.key == target.key);
        pods.sort_by(|one, other| (one.created, &one.key).cmp(&(other.created, &other.key)));
        let name = NodeName::from(&*command.terms.node);
        let (node, is_reserved) = match self.api.state.nodes.get(&name) {
            None => (NodeObservation { is_gone: true, ..NodeObservation::default() }, false),
            Some(node) => {
                let is_reserved = self.api.annotations.get(&name).is_some_and(|annotations| {
                    reservation_of(&keys_of(annotations, &command.reservation.id)).is_some()
                });
                let observation = NodeObservation {
                    is_gone: false,
                    is_ready: node.is_ready,
                    is_cordoned: node.unschedulable,
                };
                (observation, is_reserved)
            }
        };
        let pods = pods.into_iter().map(|pod| sibling_pod(pod)).collect();
        Answer::Observation(Box::new(Observation {
            old,
            node: Some(node),
            pods,
            is_reserved: Some(is_reserved),
        }))
    }

    /// The recheck before an eviction.
    pub(super) fn recheck(&mut self, index: usize) -> Answer {
        let command = &self.commands[index];
        let target = &command.target;
        let bound = self.siblings(index).filter(|pod| pod.node.is_some());
        let mut seen =
            Recheck { known: bound.map(|pod| pod.uid.to_string()).collect(), ..Recheck::default() };
        match self.api.pod_with_uid(&target.key, &target.uid) {
            Ok(pod) => {
                seen.is_leaving = pod.deleting;
                let is_ours = pod.keep().and_then(Keep::requester) == Some(&keep_requester(index, command));
                seen.is_lost = command.keep_method == KeepMethod::KeepAnnotation && !is_ours;
            }
            Err(_) => seen.is_gone = true,
        }
        if command.keep_method != KeepMethod::Reservation {
            return Answer::Rechecked(seen);
        }
        let name = NodeName::from(&*command.terms.node);
        let Some(node) = self.api.state.nodes.get(&name) else {
            return Answer::Rechecked(Recheck { is_lost: true, ..seen });
        };
        let mut cluster = Cluster::default();
        let foreign = self.scenario.foreign_owner.as_ref().and_then(ForeignOwner::owner_event);
        let owners = list_events(&self.api, Stream::Workloads).into_iter().chain(foreign);
        owners.for_each(|event| drop(cluster.apply(event)));
        let pods = self.api.state.counted(&name).map(|pod| (**pod).clone()).collect();
        cluster.apply(Event::Pods(WatchEvent::Relisted(pods)));
        cluster.apply(Event::Nodes(WatchEvent::Relisted(vec![(**node).clone()])));
        cluster.advance(self.api.wall());
        let kept = kept_room(&cluster, &name, &command.reservation, self.api.wall());
        (seen.is_lost, seen.ends_soon) = (kept == KeptRoom::Lost, kept == KeptRoom::EndsSoon);
        seen.lacks = lacks(&cluster, &name, Some(&command.reservation));
        let wrong = self.wrong_ledger(node, &command.reservation, &seen.lacks);
        let count = if wrong.is_some() { Counts::check } else { Counts::skip };
        count(&mut self.api.rules.counts, "I3");
        if let Some(what) = wrong.flatten() {
            self.api.rules.break_("I3", &what);
        }
        Answer::Rechecked(seen)
    }

    /// I3: the command finds a lack of resources exactly if the checker's ledger has one. Returns `Some(None)` if both agree.
    /// `None`: not comparable, because a reservation is about to end and clocks differ, or because the owner of a reservation is
    /// gone and only the checker still knows which pods were its own.
    fn wrong_ledger(&self, node: &Node, ours: &Reservation, told: &[String]) -> Option<Option<String>> {
        let (now, margin) = (self.api.wall(), SignedDuration::from_secs(3));
        let mut ends = node.reservations.iter().filter_map(|one| one.valid()?.expires());
        if ends.any(|end| now.duration_since(end).abs() < margin) {
            return None;
        }
        let mut owners = node.reservations.iter().filter_map(|one| Some(&one.valid()?.id.owner));
        if owners.any(|uid| self.api.state.owners.get(uid).is_some_and(|owner| owner.gone.is_some())) {
            return None;
        }
        let committed = room::committed(&self.api.state, node, now);
        let lacks = ours
            .amount
            .iter()
            .any(|(resource, _)| committed.get(&resource) > node.allocatable.get(&resource));
        let what = || format!("the command finds that {} lacks {told:?}, which is not so", node.name);
        Some((lacks == told.is_empty()).then(what))
    }

    /// Recreates a bare pod.
    pub(super) fn create_again(&mut self, target: &Pod) -> Result<Reply, ErrorCode> {
        if self.api.pod(&target.key).is_some() {
            return Err(ErrorCode(409));
        }
        let uid = self.api.uid();
        self.api.note(format_args!("made again: {}", target.key));
        let created = Some(self.api.wall().into());
        self.api.put_pod(Pod {
            uid,
            created,
            node: None,
            stamp: None,
            scheduled: None,
            started: None,
            nominated_node: None,
            deleting: false,
            rare: None,
            phase: Phase::Pending,
            ..target.clone()
        });
        Ok(Reply::Done(0))
    }

    /// Whether the `reserve/keep` of this run is still on the pod. A terminating pod does not count: the annotation goes with it.
    fn is_keep_left(&self, index: usize) -> bool {
        let pod = self.api.state.pods.get(&self.commands[index].target.uid).filter(|pod| !pod.deleting);
        let by = pod.and_then(|pod| pod.keep()?.requester());
        by.is_some_and(|by| by.starts_with(&format!("{index}x")))
    }

    /// I19: what a run says at its end is true.
    pub(super) fn judge_end(&mut self, index: usize) {
        let command = &self.commands[index];
        let (is_done, leftover) = match &command.outcome {
            Some(RecreationOutcome::Done(done)) => (Some(done), &done.leftover),
            Some(RecreationOutcome::Stopped { leftover, .. }) => (None, leftover),
            None => return,
        };
        self.api.rules.counts.check("I19");
        let node = NodeName::from(&*command.terms.node);
        let ours = &command.reservation;
        let request = |of: &Reservation| of.record().map(|record| record.request.clone());
        let valid = self.api.state.nodes.get(&node);
        let mut valid = valid.iter().flat_map(|node| node.reservations.iter().filter_map(|one| one.valid()));
        // An expired reservation counts as gone.
        let now = self.api.wall();
        let is_there =
            valid.any(|one| one.id == ours.id && request(one) == request(ours) && one.is_live(now));
        let is_taken = self.api.rules.is_taken_seat(&ours.id.to_string());
        let is_clean = matches!(leftover, Leftover::Nothing | Leftover::TakenBack);
        let is_left = match command.keep_method {
            KeepMethod::Reservation => is_there && !is_taken,
            KeepMethod::KeepAnnotation => self.is_keep_left(index),
            KeepMethod::Nothing => false,
        };
        if is_clean && is_left {
            let what = format!("command {index} says that nothing stays, and what it made does");
            return self.api.rules.break_("I19", &what);
        }
        let Some(done) = is_done.filter(|_| command.terms.wait_for == WaitFor::Ready) else { return };
        // The pod may have gone since the last read, but that read must show the pod with this UID on this node.
        let Some(uid) = &done.uid else { return };
        let seen = command.last_pods.iter().find(|pod| pod.uid == *uid);
        let is_there = seen.is_some_and(|pod| pod.node == done.node && (!pod.is_over || pod.is_complete));
        let on = self.api.state.pods.get(&Uid::from(&**uid));
        let on = on.map(|pod| pod.node.as_ref().map(ToString::to_string));
        if !is_there || on.as_ref().is_some_and(|on| *on != done.node) {
            let (pod, node) = (&done.pod, &done.node);
            let what =
                format!("command {index} says that {pod:?} is on {node:?}; it last saw {seen:?}, now {on:?}");
            self.api.rules.break_("I19", &what);
        }
    }
}

fn sibling_pod(pod: &Pod) -> SiblingPod {
    SiblingPod {
        name: pod.key.name.to_string(),
        uid: pod.uid.to_string(),
        node: pod.node.as_ref().map(ToString::to_string),
        is_ready: pod.phase == Phase::Running && !pod.deleting,
        is_over: pod.deleting || pod.is_ended(),
        is_complete: pod.phase == Phase::Succeeded,
        seat: pod.stamp.as_ref().map(ToString::to_string),
        waits: pod.unscheduled().map(|waits| waits.message.to_string()),
    }
}
