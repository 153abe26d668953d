//! What goes wrong between clients and the cluster, and when: drawn from a seed, or written in a plan.

use super::door::Subject;
use fastrand::Rng;
use http::StatusCode;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// All kinds of objects, where one is asked for.
pub(super) const EVERYTHING: &str = "";
/// How long a write and its answer are on their way at most where daemons hear of everything at once: a binding that waits
/// for what was to be written about its pod before is still one that the rules excuse.
const LATE_MAX: Duration = Duration::from_millis(500);

/// The weather. Clones are the same.
#[derive(Clone)]
pub(super) struct Weather(Arc<Mutex<Inner>>);

struct Inner {
    rng: Rng,
    /// Counts everything that whoever waits must look at again.
    turn: u64,
    /// Who waits, each with a channel of its own: those of one channel would be woken in an order that is chance.
    listeners: Vec<watch::Sender<u64>>,
    /// Of a thousand requests, and of a thousand lines of watches, so many meet with something.
    rates: (u32, u32),
    /// Whether daemons hear of everything at once, so that the rules need not excuse what they could not know.
    is_sharp: bool,
    /// Until when the server answers everybody with 503.
    outage: Option<Instant>,
    /// Until when, and since when, nothing of a kind reaches a user by its watches.
    frozen: BTreeMap<(String, &'static str), (Instant, Instant)>,
    /// Until when a user cannot list a kind.
    unlisted: BTreeMap<(String, &'static str), Instant>,
    /// When a user's watches of a kind were last cut.
    cut: BTreeMap<(String, &'static str), u64>,
    plan: Option<Plan>,
    steps: u64,
}

/// One fault, at one step: a write to a node or a pod by our programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// At which step, from 1 on.
    pub(super) step: u64,
    pub(super) fault: Fault,
}

/// What happens at that step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Whoever writes dies, before anything arrived.
    CrashBefore,
    /// Whoever writes dies, when all is done.
    CrashAfter,
    /// It is done, and nobody is told.
    Unheard,
    /// What happens to nodes from then on reaches no daemon for a while.
    StaleNodes,
    /// The same with pods.
    StalePods,
    /// The daemons never see that version of the object: their watches end, and they list when more has happened.
    Skipped,
}

/// All of them.
pub(super) const FAULTS: [(&str, Fault); 6] = [
    ("crash-before", Fault::CrashBefore),
    ("crash-after", Fault::CrashAfter),
    ("lost-response", Fault::Unheard),
    ("stale-nodes", Fault::StaleNodes),
    ("stale-pods", Fault::StalePods),
    ("skipped-event", Fault::Skipped),
];

/// What becomes of one request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fate {
    /// How long it is on its way.
    pub(super) before: Duration,
    pub(super) way: Way,
    /// How long the answer is on its way.
    pub(super) after: Duration,
    /// Whether it arrives all the same if the caller goes away meanwhile.
    pub(super) lands: bool,
}

/// How it gets on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Through,
    /// It never arrives.
    Lost,
    /// It arrives, and the answer does not.
    Unheard,
    /// Nothing is done, and this is the answer.
    Refused(StatusCode),
    /// It is done, and this is the answer.
    Denied(StatusCode),
    /// Half of the answer.
    Half,
}

/// What becomes of one line of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineFate {
    Through,
    Late(Duration),
    Twice,
    /// Half of it, and no more after that.
    Half,
}

impl Weather {
    /// Fine weather, unless there is a plan.
    pub(super) fn new(rng: Rng, plan: Option<Plan>) -> Self {
        let inner = Inner {
            rng,
            turn: 0,
            listeners: Vec::new(),
            rates: (0, 0),
            is_sharp: false,
            outage: None,
            frozen: BTreeMap::new(),
            unlisted: BTreeMap::new(),
            cut: BTreeMap::new(),
            plan,
            steps: 0,
        };
        Self(Arc::new(Mutex::new(inner)))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) -> u64 {
        let mut inner = self.inner();
        let turn = inner.turn + 1;
        inner.turn = turn;
        inner.listeners.retain(|listener| listener.send(turn).is_ok());
        turn
    }

    /// Hears when something changes.
    pub(super) fn listen(&self) -> watch::Receiver<u64> {
        let (listener, turns) = watch::channel(self.inner().turn);
        self.inner().listeners.push(listener);
        turns
    }

    /// From now on so many of a thousand requests and lines meet with something.
    pub(super) fn set_rates(&self, requests: u32, lines: u32) {
        self.inner().rates = (requests, lines);
    }

    /// Daemons hear of everything at once: only writes meet with something.
    pub(super) fn sharpen(&self) {
        self.inner().is_sharp = true;
    }

    /// Nothing goes wrong any more.
    pub(super) fn clear_up(&self) {
        let mut inner = self.inner();
        (inner.rates, inner.outage) = ((0, 0), None);
        inner.frozen.clear();
        inner.unlisted.clear();
        drop(inner);
        self.turn();
    }

    /// The server is out of order for everybody.
    pub(super) fn outage(&self, length: Duration) {
        self.inner().outage = Some(Instant::now() + length);
    }

    /// Nothing of a kind reaches a user by its watches.
    pub(super) fn freeze(&self, user: &str, plural: &'static str, length: Duration) {
        self.fall_behind(Instant::now(), user, plural, length);
    }

    /// The same, and what answers a user now has not heard of anything since `then`.
    pub(super) fn fall_behind(&self, then: Instant, user: &str, plural: &'static str, length: Duration) {
        let (now, mut inner) = (Instant::now(), self.inner());
        let frozen = inner.frozen.entry((user.to_owned(), plural)).or_insert((now, then));
        *frozen = (now + length, if frozen.0 > now { frozen.1 } else { then });
        drop(inner);
        self.turn();
    }

    /// A user's watches of a kind end as if its position were forgotten, and it cannot list for a while.
    pub(super) fn cut(&self, user: &str, plural: &'static str, length: Duration) {
        let turn = self.turn();
        let mut inner = self.inner();
        inner.cut.insert((user.to_owned(), plural), turn);
        inner.unlisted.insert((user.to_owned(), plural), Instant::now() + length);
        drop(inner);
        self.turn();
    }

    /// Until when nothing of a kind reaches a user, and since when, if that is so.
    pub(super) fn frozen(&self, user: &str, plural: &str) -> Option<(Instant, Instant)> {
        find(&self.inner().frozen, user, plural).filter(|(until, _)| *until > Instant::now())
    }

    /// Until when a user cannot list a kind, if that is so.
    pub(super) fn unlisted(&self, user: &str, plural: &str) -> Option<Instant> {
        find(&self.inner().unlisted, user, plural).filter(|until| *until > Instant::now())
    }

    /// Whether a watch that began at a turn was cut since.
    pub(super) fn is_cut(&self, user: &str, plural: &str, begun: u64) -> bool {
        find(&self.inner().cut, user, plural).is_some_and(|at| at > begun)
    }

    /// Counts a step, and says what the plan has for it.
    pub(super) fn step(&self) -> Option<Fault> {
        let mut inner = self.inner();
        inner.steps += 1;
        inner.plan.filter(|plan| plan.step == inner.steps).map(|plan| plan.fault)
    }

    /// How many steps there were.
    pub(super) fn steps(&self) -> u64 {
        self.inner().steps
    }

    /// What becomes of a request.
    pub(super) fn fate(&self, subject: &Subject) -> Fate {
        let mut inner = self.inner();
        let is_out = inner.outage.is_some_and(|until| until > Instant::now());
        let is_sharp = inner.is_sharp;
        let unlucky = if is_sharp && !subject.is_write { 0 } else { inner.rates.0 };
        let rng = &mut inner.rng;
        let millis = |rng: &mut Rng, most: u64| Duration::from_millis(rng.u64(0..most));
        let mut fate =
            Fate { before: Duration::ZERO, way: Way::Through, after: Duration::ZERO, lands: false };
        if unlucky == 0 && !is_out {
            return fate;
        }
        if subject.is_write {
            (fate.before, fate.after, fate.lands) = (millis(rng, 30), millis(rng, 30), rng.bool());
        }
        if is_out {
            fate.way = Way::Refused(StatusCode::SERVICE_UNAVAILABLE);
        } else if rng.u32(0..1000) < unlucky {
            let longest = if rng.u8(0..4) == 0 { 12_000 } else { 1500 };
            (fate.before, fate.after) = (millis(rng, longest), millis(rng, longest));
            if is_sharp {
                (fate.before, fate.after) = (fate.before.min(LATE_MAX), fate.after.min(LATE_MAX));
            }
            fate.way = way(rng, subject);
        }
        fate
    }

    /// What becomes of a line of a watch.
    pub(super) fn line(&self) -> LineFate {
        let mut inner = self.inner();
        let unlucky = if inner.is_sharp { 0 } else { inner.rates.1 };
        if unlucky == 0 || inner.rng.u32(0..1000) >= unlucky {
            return LineFate::Through;
        }
        match inner.rng.u8(0..4) {
            0 => LineFate::Twice,
            1 => LineFate::Half,
            _ => LineFate::Late(Duration::from_millis(inner.rng.u64(50..4000))),
        }
    }
}

fn way(rng: &mut Rng, subject: &Subject) -> Way {
    let refused = [
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::INTERNAL_SERVER_ERROR,
        StatusCode::SERVICE_UNAVAILABLE,
        StatusCode::GATEWAY_TIMEOUT,
    ];
    let code = refused[rng.usize(..refused.len())];
    match rng.u8(0..10) {
        0 | 1 => Way::Through,
        2 => Way::Lost,
        3 | 4 if subject.is_write => Way::Unheard,
        5 if subject.is_write => Way::Denied(code),
        6 if subject.is_write => Way::Refused(StatusCode::CONFLICT),
        7 => Way::Half,
        // A policy of others has something against it.
        9 if subject.is_step() => {
            let codes = [StatusCode::FORBIDDEN, StatusCode::UNPROCESSABLE_ENTITY];
            Way::Refused(codes[rng.usize(..2)])
        }
        8 if subject.is_watch => Way::Refused(StatusCode::GONE),
        _ => Way::Refused(code),
    }
}

fn find<T: Copy + Ord>(of: &BTreeMap<(String, &'static str), T>, user: &str, plural: &str) -> Option<T> {
    let is_it =
        |(who, what): &&(String, &'static str)| who == user && (*what == plural || *what == EVERYTHING);
    of.keys().filter(is_it).filter_map(|key| of.get(key)).max().copied()
}
