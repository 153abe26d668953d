//! Runs of the command: the real flow ([`Recreation`]), with simulated requests.

use super::api::Actor;
use super::calls::{Call, Job, Reply};
use super::evictions::LookRevisions;
use super::patch::NodeSnapshot;
use super::sim::{Action, Sim};
use common::api::reservation::patch::ObservedNode;
use common::model::{NodeName, Pod, Reservation};
use jiff::Timestamp;
use kubectl_reserve::flow::keep::{release_patch, reserve_patch};
use kubectl_reserve::flow::recreate::{
    Answer, KeepMethod, NextAction, Recreation, RecreationOutcome, Refusal, Request, SiblingPod, StepOutput,
    StopReason, Terms,
};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// The values of `kubectl_reserve::nodes`.
const TRIES_MAX: u32 = 8;
const PAUSE: Duration = Duration::from_millis(60);

/// One request of a run of the command.
#[derive(Clone, Debug)]
pub(super) struct CommandRequest {
    pub(super) request: Request,
    /// The patch, once it is known.
    pub(super) patch: Option<Value>,
    tries: u32,
}

impl CommandRequest {
    pub(super) fn is_write(&self) -> bool {
        match self.request {
            Request::Reserve | Request::TakeBack | Request::Release => self.patch.is_some(),
            Request::Evict | Request::Create => true,
            _ => false,
        }
    }
}

pub(super) struct Command {
    flow: Recreation,
    pub(super) terms: Terms,
    pub(super) is_alive: bool,
    pub(super) outcome: Option<RecreationOutcome>,
    begun: Duration,
    token: u64,
    /// The revisions of its last reads before the eviction.
    pub(super) looks: LookRevisions,
    /// The request that is not answered yet.
    current_request: Option<Request>,
    is_stopping: bool,
    pub(super) target: Arc<Pod>,
    pub(super) node_uid: String,
    pub(super) reservation: Reservation,
    until: Option<Timestamp>,
    /// How often it removed its `reserve/keep`: each new one has another requester.
    pub(super) keep_removals: u32,
    pub(super) keep_method: KeepMethod,
    /// The pods that could be the replacement, by its last read.
    pub(super) last_pods: Vec<SiblingPod>,
}

impl Sim {
    /// Starts a run of the command.
    pub(super) fn run_command(&mut self, target: &Arc<Pod>, reservation: Reservation, terms: Terms) {
        let Some(node) = self.api.state.nodes.get(&NodeName::from(&*terms.node)) else { return };
        let node_uid = node.uid.to_string();
        let index = self.commands.len();
        let kept = (terms.keep_method, terms.wait_for);
        self.api.note(format_args!("command {index} recreates {} {kept:?}", target.key));
        let (flow, next) = Recreation::begin(terms.clone());
        self.commands.push(Command {
            flow,
            keep_method: terms.keep_method,
            terms,
            is_alive: true,
            outcome: None,
            begun: self.api.now,
            token: 0,
            looks: LookRevisions::default(),
            current_request: None,
            is_stopping: false,
            target: Arc::clone(target),
            node_uid,
            reservation,
            until: None,
            keep_removals: 0,
            last_pods: Vec::new(),
        });
        self.handle_output(index, next);
    }

    /// Kills a run.
    pub(super) fn kill(&mut self, index: usize) {
        if self.commands[index].is_alive {
            self.api.note(format_args!("command {index} is killed"));
            self.commands[index].is_alive = false;
            self.abandon(Actor::Command(index));
        }
    }

    /// A user presses Ctrl-C. The run first waits for the answer to a write.
    pub(super) fn interrupt(&mut self, index: usize) {
        let command = &mut self.commands[index];
        if !command.is_alive {
            return;
        }
        self.api.note(format_args!("command {index}: Ctrl-C"));
        let is_write = |request| matches!(request, Request::Reserve | Request::Evict | Request::Create);
        if command.current_request.is_some_and(is_write) {
            command.is_stopping = true;
            return;
        }
        command.token += 1;
        let next = command.flow.interrupt();
        self.handle_output(index, next);
    }

    /// Does what the flow says: logs its events, and schedules the next request or ends the run.
    fn handle_output(&mut self, index: usize, next: StepOutput) {
        for event in &next.events {
            self.api.note(format_args!("command {index}: {event:?}"));
        }
        let now = self.api.now;
        match next.action {
            NextAction::Do { request, after } => {
                let command = &mut self.commands[index];
                command.current_request = None;
                command.token += 1;
                let token = command.token;
                self.scenario.next_requests.insert((index, token), request);
                self.after(after, Action::Go(index, token));
            }
            NextAction::Stop(outcome) => {
                self.api.note(format_args!("command {index} ends: {outcome:?}"));
                let command = &mut self.commands[index];
                (command.is_alive, command.outcome) = (false, Some(outcome));
                if command.begun + command.terms.timeout + Duration::from_secs(120) < now {
                    self.api.rules.break_("I19", &format!("command {index} took too long"));
                }
                self.judge_end(index);
            }
        }
    }

    /// Sends the next request.
    pub(super) fn send_next_request(&mut self, index: usize, token: u64) {
        let request = self.scenario.next_requests.remove(&(index, token));
        let command = &mut self.commands[index];
        let (Some(request), true) = (request, command.is_alive && command.token == token) else { return };
        command.current_request = Some(request);
        let command_request = CommandRequest { request, patch: None, tries: 1 };
        self.call(Actor::Command(index), Job::CommandRequest(command_request), None);
    }

    /// An answer reaches a run.
    pub(super) fn answer_command(&mut self, index: usize, id: u64) {
        let Some(Call { job: Job::CommandRequest(command_request), reply, .. }) = self.calls.get(&id) else {
            return;
        };
        // The command retries after every 422, also after one of a policy.
        let (mut command_request, reply) = (command_request.clone(), reply.clone().map(Reply::by_code));
        if self.commands[index].current_request != Some(command_request.request) {
            // The run was interrupted meanwhile.
            self.calls.remove(&id);
            return;
        }
        let is_patch =
            matches!(command_request.request, Request::Reserve | Request::TakeBack | Request::Release)
                && self.commands[index].keep_method == KeepMethod::Reservation;
        let answer = match (is_patch, reply) {
            (true, Some(Reply::Node(snapshot))) => {
                match self.node_patch(index, &command_request, &snapshot) {
                    Ok(Some(patch)) => {
                        command_request.patch = Some(patch);
                        return self.repeat(id, command_request, Duration::ZERO);
                    }
                    Ok(None) => {
                        self.write_answer(index, &command_request, snapshot.version.parse().unwrap_or(0))
                    }
                    Err(why) => Answer::Failed(why),
                }
            }
            (true, Some(Reply::Read(answer))) => answer,
            (true, Some(Reply::Done(version))) => self.write_answer(index, &command_request, version),
            (true, None | Some(Reply::Refused(409 | 422)))
                if command_request.patch.is_some() && command_request.tries < TRIES_MAX =>
            {
                let pause = PAUSE * command_request.tries;
                command_request =
                    CommandRequest { patch: None, tries: command_request.tries + 1, ..command_request };
                return self.repeat(id, command_request, pause);
            }
            (true, _) => Answer::Failed(StopReason::Failed("the node could not be written".into())),
            (false, reply) => plain_answer(command_request.request, reply),
        };
        self.calls.remove(&id);
        self.step(index, answer);
    }

    fn repeat(&mut self, id: u64, command_request: CommandRequest, pause: Duration) {
        if let Some(call) = self.calls.get_mut(&id) {
            call.job = Job::CommandRequest(command_request);
        }
        self.after(pause, Action::Retry(id));
    }

    /// The patch for a node, made by the command's own functions; `None` if there is nothing to write.
    fn node_patch(
        &mut self,
        index: usize,
        command_request: &CommandRequest,
        snapshot: &NodeSnapshot,
    ) -> Result<Option<Value>, StopReason> {
        let seen = ObservedNode {
            uid: &snapshot.uid,
            version: &snapshot.version,
            annotations: &snapshot.annotations,
        };
        let command = &mut self.commands[index];
        let (wanted, record) = (&command.reservation, command.reservation.record());
        if command_request.request != Request::Reserve {
            let request = record.map_or("", |record| &*record.request);
            return Ok(release_patch(&seen, &wanted.id, request));
        }
        let (patch, until) = reserve_patch(&seen, &command.node_uid, wanted, self.api.wall())?;
        command.until = Some(until);
        Ok(patch)
    }

    fn write_answer(&self, index: usize, command_request: &CommandRequest, version: u64) -> Answer {
        match command_request.request {
            Request::Reserve => Answer::Reserved { version, until: self.commands[index].until },
            _ => Answer::Released,
        }
    }

    fn step(&mut self, index: usize, answer: Answer) {
        let now = self.api.now;
        let command = &mut self.commands[index];
        let at = now.saturating_sub(command.begun);
        if let Answer::Observation(observation) = &answer {
            command.last_pods.clone_from(&observation.pods);
        }
        command.current_request = None;
        let mut next = command.flow.step(answer, at);
        if std::mem::take(&mut command.is_stopping) && !matches!(next.action, NextAction::Stop(_)) {
            let heard = next.events;
            next = command.flow.interrupt();
            next.events.splice(0..0, heard);
        }
        self.handle_output(index, next);
    }
}

/// The answer for the flow, for requests without a patch.
fn plain_answer(request: Request, reply: Option<Reply>) -> Answer {
    match (request, reply) {
        (_, None) => Answer::Lost("no answer".into()),
        (_, Some(Reply::Read(answer))) => answer,
        (Request::DryRunEvict | Request::Evict, Some(Reply::Done(_))) => Answer::Allowed,
        (Request::DryRunEvict | Request::Evict, Some(Reply::Refused(404 | 409))) => {
            Answer::Refused(Refusal::Gone)
        }
        (Request::DryRunEvict | Request::Evict, Some(Reply::Refused(429))) => {
            Answer::Refused(Refusal::Soon(Duration::from_secs(1)))
        }
        (Request::Reserve, Some(Reply::Done(_))) => Answer::Reserved { version: 0, until: None },
        (Request::TakeBack | Request::Release, Some(Reply::Done(_) | Reply::Refused(404 | 409))) => {
            Answer::Released
        }
        (Request::Create, Some(Reply::Done(_) | Reply::Refused(409))) => Answer::Created,
        (_, Some(Reply::Refused(code))) if code == 429 || code >= 500 => Answer::Lost("busy".into()),
        (_, reply) => Answer::Failed(StopReason::Failed(format!("{reply:?}"))),
    }
}
