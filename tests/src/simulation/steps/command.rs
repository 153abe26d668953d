//! Runs of the command: the real flow, with hands that are played.

use super::api::Who;
use super::calls::{Call, Job, Reply};
use super::evicted::Looks;
use super::patch::Sent;
use super::sim::{Action, Sim};
use common::api::reservation::patch::Seen;
use common::model::{NodeName, Pod, Reservation};
use jiff::Timestamp;
use kubectl_reserve::flow::keep::{reserved, taken_back};
use kubectl_reserve::flow::recreate::{
    Answer, Keeping, Newcomer, Next, Outcome, Recreation, Refusal, Request, Terms, Then, Why,
};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// As in `kubectl_reserve::nodes`.
const TRIES_MAX: u32 = 8;
const PAUSE: Duration = Duration::from_millis(60);

/// One request of a run.
#[derive(Clone, Debug)]
pub(super) struct Errand {
    pub(super) request: Request,
    /// The patch, once it is known.
    pub(super) patch: Option<Value>,
    tries: u32,
}

impl Errand {
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
    pub(super) outcome: Option<Outcome>,
    begun: Duration,
    token: u64,
    /// Up to which revision it knows what it has to know before it evicts.
    pub(super) looks: Looks,
    /// A request that is under way.
    under_way: Option<Request>,
    is_stopping: bool,
    pub(super) target: Arc<Pod>,
    pub(super) node_uid: String,
    pub(super) reservation: Reservation,
    until: Option<Timestamp>,
    /// How often it took a wish back: under another name each time it wishes.
    pub(super) unwished: u32,
    pub(super) keeping: Keeping,
    /// The pods that could be the replacement, as it saw them last.
    pub(super) looked: Vec<Newcomer>,
}

impl Sim {
    /// Somebody runs the command.
    pub(super) fn run_command(&mut self, target: &Arc<Pod>, reservation: Reservation, terms: Terms) {
        let Some(node) = self.api.picture.nodes.get(&NodeName::from(&*terms.node)) else { return };
        let node_uid = node.uid.to_string();
        let index = self.commands.len();
        let kept = (terms.keeping, terms.until);
        self.api.note(format_args!("command {index} recreates {} {kept:?}", target.key));
        let (flow, next) = Recreation::begin(terms.clone());
        self.commands.push(Command {
            flow,
            keeping: terms.keeping,
            terms,
            is_alive: true,
            outcome: None,
            begun: self.api.now,
            token: 0,
            looks: Looks::default(),
            under_way: None,
            is_stopping: false,
            target: Arc::clone(target),
            node_uid,
            reservation,
            until: None,
            unwished: 0,
            looked: Vec::new(),
        });
        self.take(index, next);
    }

    /// The run is killed.
    pub(super) fn kill(&mut self, index: usize) {
        if self.commands[index].is_alive {
            self.api.note(format_args!("command {index} is killed"));
            self.commands[index].is_alive = false;
            self.abandon(Who::Command(index));
        }
    }

    /// Somebody presses Ctrl-C: what is being written is heard out first.
    pub(super) fn interrupt(&mut self, index: usize) {
        let command = &mut self.commands[index];
        if !command.is_alive {
            return;
        }
        self.api.note(format_args!("command {index}: Ctrl-C"));
        let is_write = |request| matches!(request, Request::Reserve | Request::Evict | Request::Create);
        if command.under_way.is_some_and(is_write) {
            command.is_stopping = true;
            return;
        }
        command.token += 1;
        let next = command.flow.interrupt();
        self.take(index, next);
    }

    /// Goes on as the flow says.
    fn take(&mut self, index: usize, next: Next) {
        for news in &next.news {
            self.api.note(format_args!("command {index}: {news:?}"));
        }
        let now = self.api.now;
        match next.then {
            Then::Do { request, after } => {
                let command = &mut self.commands[index];
                command.under_way = None;
                command.token += 1;
                let token = command.token;
                self.scenario.asked.insert((index, token), request);
                self.after(after, Action::Go(index, token));
            }
            Then::Stop(outcome) => {
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

    /// Makes the next request.
    pub(super) fn go(&mut self, index: usize, token: u64) {
        let request = self.scenario.asked.remove(&(index, token));
        let command = &mut self.commands[index];
        let (Some(request), true) = (request, command.is_alive && command.token == token) else { return };
        command.under_way = Some(request);
        let errand = Errand { request, patch: None, tries: 1 };
        self.call(Who::Command(index), Job::Errand(errand), None);
    }

    /// An answer reaches the run.
    pub(super) fn answer_command(&mut self, index: usize, id: u64) {
        let Some(Call { job: Job::Errand(errand), reply, .. }) = self.calls.get(&id) else { return };
        // The command tries again whoever answers with 422.
        let (mut errand, reply) = (errand.clone(), reply.clone().map(Reply::by_code));
        if self.commands[index].under_way != Some(errand.request) {
            // It was interrupted meanwhile.
            self.calls.remove(&id);
            return;
        }
        let is_patch = matches!(errand.request, Request::Reserve | Request::TakeBack | Request::Release)
            && self.commands[index].keeping == Keeping::Reservation;
        let answer = match (is_patch, reply) {
            (true, Some(Reply::Node(sent))) => match self.planned(index, &errand, &sent) {
                Ok(Some(patch)) => {
                    errand.patch = Some(patch);
                    return self.repeat(id, errand, Duration::ZERO);
                }
                Ok(None) => self.written(index, &errand, sent.version.parse().unwrap_or(0)),
                Err(why) => Answer::Failed(why),
            },
            (true, Some(Reply::Read(answer))) => answer,
            (true, Some(Reply::Done(version))) => self.written(index, &errand, version),
            (true, None | Some(Reply::Refused(409 | 422)))
                if errand.patch.is_some() && errand.tries < TRIES_MAX =>
            {
                let pause = PAUSE * errand.tries;
                errand = Errand { patch: None, tries: errand.tries + 1, ..errand };
                return self.repeat(id, errand, pause);
            }
            (true, _) => Answer::Failed(Why::Failed("the node could not be written".into())),
            (false, reply) => plain(errand.request, reply),
        };
        self.calls.remove(&id);
        self.step(index, answer);
    }

    fn repeat(&mut self, id: u64, errand: Errand, pause: Duration) {
        if let Some(call) = self.calls.get_mut(&id) {
            call.job = Job::Errand(errand);
        }
        self.after(pause, Action::Retry(id));
    }

    /// What is to be written, by the command's own plan.
    fn planned(&mut self, index: usize, errand: &Errand, sent: &Sent) -> Result<Option<Value>, Why> {
        let seen = Seen { uid: &sent.uid, version: &sent.version, annotations: &sent.annotations };
        let command = &mut self.commands[index];
        let (wanted, record) = (&command.reservation, command.reservation.record());
        if errand.request != Request::Reserve {
            let request = record.map_or("", |record| &*record.request);
            return Ok(taken_back(&seen, &wanted.id, request));
        }
        let (patch, until) = reserved(&seen, &command.node_uid, wanted)?;
        command.until = Some(until);
        Ok(patch)
    }

    fn written(&self, index: usize, errand: &Errand, version: u64) -> Answer {
        match errand.request {
            Request::Reserve => Answer::Reserved { version, until: self.commands[index].until },
            _ => Answer::Released,
        }
    }

    fn step(&mut self, index: usize, answer: Answer) {
        let now = self.api.now;
        let command = &mut self.commands[index];
        let at = now.saturating_sub(command.begun);
        if let Answer::Sight(sight) = &answer {
            command.looked.clone_from(&sight.pods);
        }
        command.under_way = None;
        let mut next = command.flow.step(answer, at);
        if std::mem::take(&mut command.is_stopping) && !matches!(next.then, Then::Stop(_)) {
            let heard = next.news;
            next = command.flow.interrupt();
            next.news.splice(0..0, heard);
        }
        self.take(index, next);
    }
}

/// What an answer means where there is nothing to it.
fn plain(request: Request, reply: Option<Reply>) -> Answer {
    match (request, reply) {
        (_, None) => Answer::Lost("no answer".into()),
        (_, Some(Reply::Read(answer))) => answer,
        (Request::Rehearse | Request::Evict, Some(Reply::Done(_))) => Answer::Allowed,
        (Request::Rehearse | Request::Evict, Some(Reply::Refused(404 | 409))) => {
            Answer::Refused(Refusal::Gone)
        }
        (Request::Rehearse | Request::Evict, Some(Reply::Refused(429))) => {
            Answer::Refused(Refusal::Soon(Duration::from_secs(1)))
        }
        (Request::Reserve, Some(Reply::Done(_))) => Answer::Reserved { version: 0, until: None },
        (Request::TakeBack | Request::Release, Some(Reply::Done(_) | Reply::Refused(404 | 409))) => {
            Answer::Released
        }
        (Request::Create, Some(Reply::Done(_) | Reply::Refused(409))) => Answer::Created,
        (_, Some(Reply::Refused(code))) if code == 429 || code >= 500 => Answer::Lost("busy".into()),
        (_, reply) => Answer::Failed(Why::Failed(format!("{reply:?}"))),
    }
}
