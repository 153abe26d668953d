//! What the API server does for the command.

use super::api::{Refused, Stream, Told, Who};
use super::calls::Reply;
use super::command::{Command, Errand};
use super::sim::Sim;
use common::cluster::{Acknowledged, acknowledged};
use common::model::ids::Text;
use common::model::{Keep, NodeName, Pod};
use kubectl_reserve::flow::budget::Blocked;
use kubectl_reserve::flow::keep::is_needed;
use kubectl_reserve::flow::recreate::{Answer, Keeping, Refusal, Request};
use std::sync::Arc;
use std::time::Duration;

impl Sim {
    /// The API server does what is asked.
    pub(super) fn run_errand(&mut self, who: Who, errand: &Errand) -> Result<Reply, Refused> {
        let Who::Command(index) = who else { return Err(Refused(400)) };
        let command = &self.commands[index];
        let (target, node) = (Arc::clone(&command.target), NodeName::from(&*command.terms.node));
        let (key, uid) = (&target.key, &target.uid);
        match errand.request {
            Request::Rehearse => {
                let is_leaving = self.api.that(key, uid)?.deleting;
                let answer = self.blocked().filter(|_| !is_leaving);
                Ok(answer.map_or(Reply::Done(0), Reply::Read))
            }
            Request::Evict => self.evict(index, &target),
            // The command looks at the pod first.
            Request::TakeBack
                if errand.patch.is_none()
                    && is_needed(self.api.that(key, uid).ok().map(|pod| &**pod), command.keeping) =>
            {
                Ok(Reply::Read(Answer::Needed))
            }
            Request::Reserve | Request::TakeBack | Request::Release if command.keeping == Keeping::Wish => {
                self.wish(index, errand.request == Request::Reserve)
            }
            Request::Reserve | Request::TakeBack | Request::Release => match &errand.patch {
                None => self.api.read_node(&node).map(Reply::Node),
                Some(patch) => {
                    let version = self.api.patch_node(who, &node, patch)?;
                    self.api.rules.counts.check("I20");
                    if self.api.picture.nodes.get(&node).map(|node| node.uid.to_string()).as_ref()
                        != Some(&self.commands[index].node_uid)
                    {
                        self.api.rules.break_("I20", &format!("{node} is another node"));
                    }
                    Ok(Reply::Done(version))
                }
            },
            Request::Acknowledged { version } => {
                let (answer, as_of) = self.heard(index, version);
                let is_word = self.commands[index].keeping == Keeping::Wish;
                let looks = &mut self.commands[index].looks;
                (looks.room, looks.is_word) = (as_of, is_word);
                Ok(Reply::Read(answer))
            }
            Request::Recheck => {
                let is_wish = command.keeping == Keeping::Wish;
                let looks = &mut self.commands[index].looks;
                looks.pod = self.api.revision;
                // Whoever may not write to nodes need not be able to read them.
                looks.room = if is_wish { looks.room } else { looks.pod };
                Ok(Reply::Read(self.rechecked(index)))
            }
            Request::Look => Ok(Reply::Read(self.looked(index))),
            Request::Create => self.create_again(&target),
        }
    }

    /// The pod wishes that its room be kept, or no longer does.
    fn wish(&mut self, index: usize, is_wish: bool) -> Result<Reply, Refused> {
        let command = &mut self.commands[index];
        let pod = Arc::clone(self.api.that(&command.target.key, &command.target.uid)?);
        let mut rare = pod.rare.as_deref().cloned().unwrap_or_default();
        let ours = Keep::For { life: Duration::from_secs(120), by: Some(wished_by(index, command)) };
        if !is_wish {
            command.unwished += 1;
            // Somebody else wishes it by now, or nobody.
            if pod.keep() != Some(&ours) {
                return Ok(Reply::Done(0));
            }
        }
        let before = command.target.keep().filter(|keep| keep.by().is_none());
        rare.keep = if is_wish { Some(ours) } else { before.cloned() };
        self.api.note(format_args!("command {index}: {} wishes {:?}", pod.key, rare.keep));
        let is_over = rare.keep.is_none();
        self.api.put_pod(Pod { rare: Some(Box::new(rare)), ..Pod::clone(&pod) });
        if is_over {
            self.api.rules.unwished.insert(pod.uid.clone(), self.api.revision);
        }
        Ok(Reply::Done(0))
    }

    /// What a budget says about evictions now.
    fn blocked(&mut self) -> Option<Answer> {
        if self.api.now >= self.scenario.quiet || !self.one_in(self.scenario.blocks) {
            return None;
        }
        let blocked = Blocked { budgets: vec![], message: "not now".into(), unhealthy: vec![], never: None };
        Some(Answer::Refused(Refusal::Budget(Box::new(blocked))))
    }

    fn evict(&mut self, index: usize, target: &Pod) -> Result<Reply, Refused> {
        let is_leaving = self.api.that(&target.key, &target.uid)?.deleting;
        if is_leaving {
            return Ok(Reply::Done(0));
        }
        if let Some(answer) = self.blocked() {
            return Ok(Reply::Read(answer));
        }
        self.api.note(format_args!("command {index} evicts {}", target.key));
        let wall = self.api.wall();
        let live = self.daemons.iter().enumerate().filter(|(_, daemon)| {
            let lease = self.api.replicas.get(daemon.name);
            // One that no longer relies on its own Lease does nothing more, though what it published late may still count.
            let relies = daemon.good_until.is_some_and(|until| self.api.now < until);
            let is_ready = daemon.is_up && daemon.state.is_complete() && relies;
            is_ready && lease.is_some_and(|lease| lease.is_live(wall))
        });
        let replicas: Vec<(String, u64)> =
            live.map(|(at, daemon)| (daemon.name.to_owned(), self.seen(at, Stream::Nodes))).collect();
        let command = &self.commands[index];
        let is_kept = command.keeping != Keeping::Nothing && command.terms.is_enforced;
        let who = Who::Command(index);
        self.promise(index);
        let looks = self.commands[index].looks;
        self.api.rules.evicted(&self.api.picture, who, target, (is_kept, looks), &replicas);
        self.api.delete_pod(&target.key, &target.uid, self.grace_of(target))?;
        Ok(Reply::Done(0))
    }

    /// Where nobody but the command does anything, its owner is to have as many pods with a place as before.
    fn promise(&mut self, index: usize) {
        let owner = &self.commands[index].reservation.id.owner;
        if self.scenario.deeds != 0
            || self.scenario.is_hasty
            || !self.scenario.is_elected
            || !self.api.workloads.contains_key(owner)
        {
            return;
        }
        let of = |pod: &&Arc<Pod>| {
            pod.is_counted() && !pod.deleting && self.api.picture.owners.owns(owner, pod, None)
        };
        let had = self.api.picture.pods.values().filter(of).count();
        let known = self.scenario.promised.entry(owner.clone()).or_default();
        *known = had.max(*known);
    }

    /// Whether everybody has seen the reservation, and as of which revision that is so.
    fn heard(&self, index: usize, version: u64) -> (Answer, u64) {
        let command = &self.commands[index];
        if command.keeping == Keeping::Wish {
            let by = Some(wished_by(index, command));
            let about = |told: &&Told| told.uid == command.target.uid && told.answers == by;
            let said = |reason: &str| self.api.told.iter().filter(about).rfind(|told| told.reason == reason);
            return match (said("Reserved"), said("NotReserved")) {
                (Some(told), _) => (Answer::Seen { replicas: 0 }, told.at),
                (None, Some(told)) => (Answer::Denied("not reserved".into()), told.at),
                (None, None) => (Answer::NotSeen(vec!["the daemon".into()]), self.api.revision),
            };
        }
        let answer = match acknowledged(self.api.replicas.values(), version, self.api.wall()) {
            Acknowledged::ByAll => Answer::Seen { replicas: 1 },
            Acknowledged::NotBy(late) => Answer::NotSeen(late.iter().map(ToString::to_string).collect()),
            Acknowledged::Nobody => Answer::Nobody,
        };
        (answer, self.api.revision)
    }
}

/// The name under which a run wishes what it wishes now.
pub(super) fn wished_by(index: usize, command: &Command) -> Text {
    format!("{index}x{}", command.unwished).into()
}
