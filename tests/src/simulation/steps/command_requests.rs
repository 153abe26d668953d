//! How the API server handles the requests of the command.

use super::api::{Actor, ErrorCode, Stream, WrittenEvent};
use super::calls::Reply;
use super::command::{Command, CommandRequest};
use super::sim::Sim;
use common::cluster::{Acknowledgement, acknowledgement};
use common::model::ids::Text;
use common::model::{Keep, NodeName, Pod};
use kubectl_reserve::flow::budget::BlockedEviction;
use kubectl_reserve::flow::keep::is_needed;
use kubectl_reserve::flow::recreate::{Answer, KeepMethod, Refusal, Request};
use std::sync::Arc;
use std::time::Duration;

impl Sim {
    /// Carries out a request of a run.
    pub(super) fn serve_command(
        &mut self,
        who: Actor,
        command_request: &CommandRequest,
    ) -> Result<Reply, ErrorCode> {
        let Actor::Command(index) = who else { return Err(ErrorCode(400)) };
        let command = &self.commands[index];
        let (target, node) = (Arc::clone(&command.target), NodeName::from(&*command.terms.node));
        let (key, uid) = (&target.key, &target.uid);
        match command_request.request {
            Request::DryRunEvict => {
                let is_leaving = self.api.pod_with_uid(key, uid)?.deleting;
                let answer = self.budget_refusal().filter(|_| !is_leaving);
                Ok(answer.map_or(Reply::Done(0), Reply::Read))
            }
            Request::Evict => self.evict(index, &target),
            // Before it takes back a reservation, the command reads the pod.
            Request::TakeBack
                if command_request.patch.is_none()
                    && is_needed(
                        self.api.pod_with_uid(key, uid).ok().map(|pod| &**pod),
                        command.keep_method,
                    ) =>
            {
                Ok(Reply::Read(Answer::Needed))
            }
            Request::Reserve | Request::TakeBack | Request::Release
                if command.keep_method == KeepMethod::KeepAnnotation =>
            {
                self.set_keep(index, command_request.request == Request::Reserve)
            }
            Request::Reserve | Request::TakeBack | Request::Release => match &command_request.patch {
                None => self.api.read_node(&node).map(Reply::Node),
                Some(patch) => {
                    let version = self.api.patch_node(who, &node, patch)?;
                    self.api.rules.counts.check("I20");
                    if self.api.state.nodes.get(&node).map(|node| node.uid.to_string()).as_ref()
                        != Some(&self.commands[index].node_uid)
                    {
                        self.api.rules.break_("I20", &format!("{node} is another node"));
                    }
                    Ok(Reply::Done(version))
                }
            },
            Request::Acknowledged { version } => {
                let (answer, as_of) = self.acknowledged(index, version);
                let is_event = self.commands[index].keep_method == KeepMethod::KeepAnnotation;
                let looks = &mut self.commands[index].looks;
                (looks.room, looks.is_event) = (as_of, is_event);
                Ok(Reply::Read(answer))
            }
            Request::Recheck => {
                let keeps = command.keep_method == KeepMethod::KeepAnnotation;
                let looks = &mut self.commands[index].looks;
                looks.pod = self.api.revision;
                // A user without write access to nodes may also lack read access: then the command does not look at the node.
                looks.room = if keeps { looks.room } else { looks.pod };
                Ok(Reply::Read(self.recheck(index)))
            }
            Request::Look => Ok(Reply::Read(self.observation(index))),
            Request::Create => self.create_again(&target),
        }
    }

    /// A run sets or removes `reserve/keep` of its pod.
    fn set_keep(&mut self, index: usize, keeps: bool) -> Result<Reply, ErrorCode> {
        let command = &mut self.commands[index];
        let pod = Arc::clone(self.api.pod_with_uid(&command.target.key, &command.target.uid)?);
        let mut rare = pod.rare.as_deref().cloned().unwrap_or_default();
        let ours =
            Keep::For { life: Duration::from_secs(120), requester: Some(keep_requester(index, command)) };
        if !keeps {
            command.keep_removals += 1;
            // The annotation belongs to another requester by now, or is gone.
            if pod.keep() != Some(&ours) {
                return Ok(Reply::Done(0));
            }
        }
        let before = command.target.keep().filter(|keep| keep.requester().is_none());
        rare.keep = if keeps { Some(ours) } else { before.cloned() };
        self.api.note(format_args!("command {index}: {} wishes {:?}", pod.key, rare.keep));
        let is_over = rare.keep.is_none();
        self.api.put_pod(Pod { rare: Some(Box::new(rare)), ..Pod::clone(&pod) });
        if is_over {
            self.api.rules.keep_removals.insert(pod.uid.clone(), self.api.revision);
        }
        Ok(Reply::Done(0))
    }

    /// The answer of a disruption budget that blocks the eviction now; `None` if none does.
    fn budget_refusal(&mut self) -> Option<Answer> {
        if self.api.now >= self.scenario.activity_end || !self.one_in(self.scenario.budget_blocks) {
            return None;
        }
        let blocked = BlockedEviction {
            budgets: vec![],
            message: "not now".into(),
            unhealthy: vec![],
            is_ready: true,
            permanent: None,
        };
        Some(Answer::Refused(Refusal::Budget(Box::new(blocked))))
    }

    fn evict(&mut self, index: usize, target: &Pod) -> Result<Reply, ErrorCode> {
        let is_leaving = self.api.pod_with_uid(&target.key, &target.uid)?.deleting;
        if is_leaving {
            return Ok(Reply::Done(0));
        }
        if let Some(answer) = self.budget_refusal() {
            return Ok(Reply::Read(answer));
        }
        self.api.note(format_args!("command {index} evicts {}", target.key));
        let wall = self.api.wall();
        let live = self.daemons.iter().enumerate().filter(|(_, daemon)| {
            let lease = self.api.replicas.get(daemon.name);
            // A replica that no longer relies on its own Lease does nothing more, though its Lease may still count.
            let relies = daemon.good_until.is_some_and(|until| self.api.now < until);
            let is_ready = daemon.is_up && daemon.state.is_complete() && relies;
            is_ready && lease.is_some_and(|lease| lease.is_live(wall))
        });
        let replicas: Vec<(String, u64)> = live
            .map(|(at, daemon)| (daemon.name.to_owned(), self.seen_revision(at, Stream::Nodes)))
            .collect();
        let command = &self.commands[index];
        let is_kept = command.keep_method != KeepMethod::Nothing && command.terms.is_enforced;
        let who = Actor::Command(index);
        self.record_pods(index);
        let looks = self.commands[index].looks;
        self.api.rules.check_eviction(&self.api.state, who, target, (is_kept, looks), &replicas);
        self.api.delete_pod(&target.key, &target.uid, self.grace_of(target))?;
        Ok(Reply::Done(0))
    }

    /// Where only the command acts, records how many pods with a place the owner has: at the end it must have as many.
    fn record_pods(&mut self, index: usize) {
        let owner = &self.commands[index].reservation.id.owner;
        if self.scenario.activities != 0
            || self.scenario.has_short_reservations
            || !self.scenario.is_elected
            || !self.api.workloads.contains_key(owner)
        {
            return;
        }
        let of = |pod: &&Arc<Pod>| {
            pod.is_counted() && !pod.deleting && self.api.state.owners.owns(owner, pod, None)
        };
        let had = self.api.state.pods.values().filter(of).count();
        let known = self.scenario.pods_before_eviction.entry(owner.clone()).or_default();
        *known = had.max(*known);
    }

    /// Whether all replicas have seen the reservation, and the revision of this information.
    fn acknowledged(&self, index: usize, version: u64) -> (Answer, u64) {
        let command = &self.commands[index];
        if command.keep_method == KeepMethod::KeepAnnotation {
            let by = Some(keep_requester(index, command));
            let about = |event: &&WrittenEvent| event.uid == command.target.uid && event.answers == by;
            let said =
                |reason: &str| self.api.events.iter().filter(about).rfind(|event| event.reason == reason);
            return match (said("Reserved"), said("NotReserved")) {
                (Some(event), _) => (Answer::Seen { replicas: 0 }, event.at),
                (None, Some(event)) => (Answer::Denied("not reserved".into()), event.at),
                (None, None) => (Answer::NotSeen(vec!["the daemon".into()]), self.api.revision),
            };
        }
        let answer = match acknowledgement(self.api.replicas.values(), version, self.api.wall()) {
            Acknowledgement::ByAll => Answer::Seen { replicas: 1 },
            Acknowledgement::NotBy(late) => Answer::NotSeen(late.iter().map(ToString::to_string).collect()),
            Acknowledgement::NoReplica => Answer::Nobody,
        };
        (answer, self.api.revision)
    }
}

/// The requester in the `reserve/keep` of a run.
pub(super) fn keep_requester(index: usize, command: &Command) -> Text {
    format!("{index}x{}", command.keep_removals).into()
}
