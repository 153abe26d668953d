//! What the command reads, and what it makes: how things are after an eviction, the second look before it, and a bare pod made
//! again.

use super::api::Refused;
use super::api::Stream;
use super::calls::Reply;
use super::errands::wished_by;
use super::foreign::Unread;
use super::sim::Sim;
use super::watches::listed;
use crate::history::{Counts, room};
use common::api::reservation::patch::{keys_of, reservation_of};
use common::cluster::{Cluster, Event, Seen};
use common::model::pod::Phase;
use common::model::{Keep, Node, NodeName, Pod, Reservation, Uid};
use jiff::SignedDuration;
use kubectl_reserve::flow::keep::{is_kept, lacks};
use kubectl_reserve::flow::recreate::{
    Answer, Keeping, Newcomer, NodeSight, OldPod, Outcome, Recheck, Sight, Stays, Until,
};
use std::sync::Arc;

impl Sim {
    /// The pods that look like those of the target's owner.
    fn companions(&self, index: usize) -> impl Iterator<Item = &Arc<Pod>> {
        let target = &self.commands[index].target;
        self.api.picture.pods.values().filter(move |pod| {
            let kind = |pod: &Pod| pod.controller.as_ref().map(|controller| controller.kind);
            pod.key.namespace == target.key.namespace
                && pod.labels.get("app") == target.labels.get("app")
                && kind(pod) == kind(target)
        })
    }

    /// How things are.
    pub(super) fn looked(&self, index: usize) -> Answer {
        let command = &self.commands[index];
        let target = &command.target;
        let is_named = command.terms.same_name.is_some();
        let old = self.api.picture.pods.get(&target.uid);
        let old = old.map(|pod| OldPod { is_leaving: pod.deleting, ..OldPod::default() });
        let mut pods: Vec<&Arc<Pod>> = self.companions(index).filter(|pod| pod.uid != target.uid).collect();
        pods.retain(|pod| !is_named || pod.key == target.key);
        pods.sort_by(|one, other| (one.created, &one.key).cmp(&(other.created, &other.key)));
        let name = NodeName::from(&*command.terms.node);
        let (node, is_reserved) = match self.api.picture.nodes.get(&name) {
            None => (NodeSight { is_gone: true, ..NodeSight::default() }, false),
            Some(node) => {
                let is_reserved = self.api.annotations.get(&name).is_some_and(|annotations| {
                    reservation_of(&keys_of(annotations, &command.reservation.id)).is_some()
                });
                let sight =
                    NodeSight { is_gone: false, is_ready: node.is_ready, is_cordoned: node.unschedulable };
                (sight, is_reserved)
            }
        };
        let pods = pods.into_iter().map(|pod| newcomer(pod)).collect();
        Answer::Sight(Box::new(Sight { old, node: Some(node), pods, is_reserved: Some(is_reserved) }))
    }

    /// The second look.
    pub(super) fn rechecked(&mut self, index: usize) -> Answer {
        let command = &self.commands[index];
        let target = &command.target;
        let bound = self.companions(index).filter(|pod| pod.node.is_some());
        let mut seen =
            Recheck { known: bound.map(|pod| pod.uid.to_string()).collect(), ..Recheck::default() };
        match self.api.that(&target.key, &target.uid) {
            Ok(pod) => {
                seen.is_leaving = pod.deleting;
                let is_ours = pod.keep().and_then(Keep::by) == Some(&wished_by(index, command));
                seen.is_lost = command.keeping == Keeping::Wish && !is_ours;
            }
            Err(_) => seen.is_gone = true,
        }
        if command.keeping != Keeping::Reservation {
            return Answer::Rechecked(seen);
        }
        let name = NodeName::from(&*command.terms.node);
        let Some(node) = self.api.picture.nodes.get(&name) else {
            return Answer::Rechecked(Recheck { is_lost: true, ..seen });
        };
        let mut cluster = Cluster::default();
        let foreign = self.scenario.unread.as_ref().and_then(Unread::learnt);
        let owners = listed(&self.api, Stream::Workloads).into_iter().chain(foreign);
        owners.for_each(|event| drop(cluster.apply(event)));
        let pods = self.api.picture.counted(&name).map(|pod| (**pod).clone()).collect();
        cluster.apply(Event::Pods(Seen::Relisted(pods)));
        cluster.apply(Event::Nodes(Seen::Relisted(vec![(**node).clone()])));
        cluster.advance(self.api.wall());
        seen.is_lost = !is_kept(&cluster, &name, &command.reservation);
        seen.lacks = lacks(&cluster, &name, Some(&command.reservation));
        let wrong = self.wrong_books(node, &command.reservation, &seen.lacks);
        let count = if wrong.is_some() { Counts::check } else { Counts::skip };
        count(&mut self.api.rules.counts, "I3");
        if let Some(what) = wrong.flatten() {
            self.api.rules.break_("I3", &what);
        }
        Answer::Rechecked(seen)
    }

    /// I3: what the command finds lacking is what lacks by books that are done anew. Clocks differ, so not while
    /// anything is about to end; and whose pods those of an owner were that is gone, only the books anew know. None if
    /// there is nothing to compare.
    fn wrong_books(&self, node: &Node, ours: &Reservation, told: &[String]) -> Option<Option<String>> {
        let (now, margin) = (self.api.wall(), SignedDuration::from_secs(3));
        let mut ends = node.reservations.iter().filter_map(|one| one.valid()?.expires());
        if ends.any(|end| now.duration_since(end).abs() < margin) {
            return None;
        }
        let mut owners = node.reservations.iter().filter_map(|one| Some(&one.valid()?.id.owner));
        if owners.any(|uid| self.api.picture.owners.get(uid).is_some_and(|owner| owner.gone.is_some())) {
            return None;
        }
        let promised = room::promised(&self.api.picture, node, now);
        let lacks =
            ours.amount.iter().any(|(resource, _)| promised.get(&resource) > node.allocatable.get(&resource));
        let what = || format!("the command finds that {} lacks {told:?}, which is not so", node.name);
        Some((lacks == told.is_empty()).then(what))
    }

    /// A bare pod is made again.
    pub(super) fn create_again(&mut self, target: &Pod) -> Result<Reply, Refused> {
        if self.api.pod(&target.key).is_some() {
            return Err(Refused(409));
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
            nominated: None,
            deleting: false,
            rare: None,
            phase: Phase::Pending,
            ..target.clone()
        });
        Ok(Reply::Done(0))
    }

    /// Whether the pod wishes what this run let it wish. With one that is leaving its wish goes, too.
    fn is_wish_left(&self, index: usize) -> bool {
        let pod = self.api.picture.pods.get(&self.commands[index].target.uid).filter(|pod| !pod.deleting);
        let by = pod.and_then(|pod| pod.keep()?.by());
        by.is_some_and(|by| by.starts_with(&format!("{index}x")))
    }

    /// I19: what the run says at its end is so.
    pub(super) fn judge_end(&mut self, index: usize) {
        let command = &self.commands[index];
        let (is_done, stays) = match &command.outcome {
            Some(Outcome::Done(done)) => (Some(done), &done.stays),
            Some(Outcome::Stopped { stays, .. }) => (None, stays),
            None => return,
        };
        self.api.rules.counts.check("I19");
        let node = NodeName::from(&*command.terms.node);
        let ours = &command.reservation;
        let request = |of: &Reservation| of.record().map(|record| record.request.clone());
        let valid = self.api.picture.nodes.get(&node);
        let mut valid = valid.iter().flat_map(|node| node.reservations.iter().filter_map(|one| one.valid()));
        // One whose time is over is as good as gone.
        let now = self.api.wall();
        let is_there =
            valid.any(|one| one.id == ours.id && request(one) == request(ours) && one.is_live(now));
        let is_taken = self.api.rules.is_seated(&ours.id.to_string());
        let is_clean = matches!(stays, Stays::Nothing | Stays::TakenBack);
        let is_left = match command.keeping {
            Keeping::Reservation => is_there && !is_taken,
            Keeping::Wish => self.is_wish_left(index),
            Keeping::Nothing => false,
        };
        if is_clean && is_left {
            let what = format!("command {index} says that nothing stays, and what it made does");
            return self.api.rules.break_("I19", &what);
        }
        let Some(done) = is_done.filter(|_| command.terms.until == Until::Ready) else { return };
        // It may have gone since the last look, but that look has to show this very pod there: another one of its name is another.
        let Some(uid) = &done.uid else { return };
        let seen = command.looked.iter().find(|pod| pod.uid == *uid);
        let is_there = seen.is_some_and(|pod| pod.node == done.node && (!pod.is_over || pod.is_complete));
        let on = self.api.picture.pods.get(&Uid::from(&**uid));
        let on = on.map(|pod| pod.node.as_ref().map(ToString::to_string));
        if !is_there || on.as_ref().is_some_and(|on| *on != done.node) {
            let (pod, node) = (&done.pod, &done.node);
            let what =
                format!("command {index} says that {pod:?} is on {node:?}; it last saw {seen:?}, now {on:?}");
            self.api.rules.break_("I19", &what);
        }
    }
}

fn newcomer(pod: &Pod) -> Newcomer {
    Newcomer {
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
