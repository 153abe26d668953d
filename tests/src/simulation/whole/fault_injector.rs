//! Faults between clients and the API server: random ones by rates, and one planned fault. [`FaultInjector`] is shared by all
//! connections.

use super::user_api::Subject;
use fastrand::Rng;
use http::StatusCode;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Stands for all kinds of objects.
pub(super) const EVERYTHING: &str = "";
/// The longest delay of a write and of its answer in seeds where only writes fail: short enough that the rules still excuse a
/// binding that waited for an earlier write about its pod.
const LATE_MAX: Duration = Duration::from_millis(500);

/// The current faults. Clones share them.
#[derive(Clone)]
pub(super) struct FaultInjector(Arc<Mutex<InjectorState>>);

struct InjectorState {
    rng: Rng,
    /// Counts the changes of the fields below that watches must react to.
    changes: u64,
    /// The open watches, each with a channel of its own: the receivers of one channel would be woken in a random order.
    listeners: Vec<watch::Sender<u64>>,
    /// How many of a thousand requests, and of a thousand lines of watches, have a fault.
    rates: (u32, u32),
    /// Whether only writes fail, so that the rules need not excuse what a daemon could not know.
    only_writes_fail: bool,
    /// Until when the server answers every request with 503.
    outage: Option<Instant>,
    /// Until when, and since when, watches of a kind deliver nothing to a user.
    frozen: BTreeMap<(String, &'static str), (Instant, Instant)>,
    /// Until when a user cannot list a kind.
    unlisted: BTreeMap<(String, &'static str), Instant>,
    /// The value of `changes` when a user's watches of a kind were last cut.
    cut: BTreeMap<(String, &'static str), u64>,
    plan: Option<PlannedFault>,
    steps: u64,
}

/// One fault at one step. A step is a write to a node or a pod by our programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlannedFault {
    /// The number of the step, from 1 on.
    pub(super) step: u64,
    pub(super) fault: FaultKind,
}

/// The kind of a planned fault. The names are part of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// The writer dies before the write arrives.
    CrashBefore,
    /// The writer dies after the write was carried out.
    CrashAfter,
    /// The write is carried out, and its answer is lost.
    Unheard,
    /// Watches of nodes deliver nothing to daemons for a while.
    StaleNodes,
    /// Watches of pods deliver nothing to daemons for a while.
    StalePods,
    /// The daemons never see that version of the object: their watches end, and they list later.
    Skipped,
}

/// All kinds of planned faults by name.
pub(super) const FAULT_KINDS: [(&str, FaultKind); 6] = [
    ("crash-before", FaultKind::CrashBefore),
    ("crash-after", FaultKind::CrashAfter),
    ("lost-response", FaultKind::Unheard),
    ("stale-nodes", FaultKind::StaleNodes),
    ("stale-pods", FaultKind::StalePods),
    ("skipped-event", FaultKind::Skipped),
];

/// The delays and the outcome of one request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transit {
    /// The delay of the request.
    pub(super) before: Duration,
    pub(super) outcome: RequestOutcome,
    /// The delay of the answer.
    pub(super) after: Duration,
    /// Whether the request arrives all the same if the caller goes away meanwhile.
    pub(super) lands: bool,
}

/// The outcome of one request. The names are part of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestOutcome {
    Through,
    /// The request never arrives.
    Lost,
    /// The request is carried out, and its answer is lost.
    Unheard,
    /// The request is not carried out, and is answered with this code.
    Refused(StatusCode),
    /// The request is carried out, and is answered with this code.
    Denied(StatusCode),
    /// The request is carried out, and half of the answer arrives.
    Half,
}

/// The outcome of one line of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineOutcome {
    Through,
    Late(Duration),
    Twice,
    /// Half of the line arrives, and then the watch ends.
    Half,
}

impl FaultInjector {
    /// No random faults, and the planned one if there is one.
    pub(super) fn new(rng: Rng, plan: Option<PlannedFault>) -> Self {
        let inner = InjectorState {
            rng,
            changes: 0,
            listeners: Vec::new(),
            rates: (0, 0),
            only_writes_fail: false,
            outage: None,
            frozen: BTreeMap::new(),
            unlisted: BTreeMap::new(),
            cut: BTreeMap::new(),
            plan,
            steps: 0,
        };
        Self(Arc::new(Mutex::new(inner)))
    }

    fn inner(&self) -> MutexGuard<'_, InjectorState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify_change(&self) -> u64 {
        let mut inner = self.inner();
        let changes = inner.changes + 1;
        inner.changes = changes;
        inner.listeners.retain(|listener| listener.send(changes).is_ok());
        changes
    }

    /// A receiver that is notified of each change.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        let (listener, changes) = watch::channel(self.inner().changes);
        self.inner().listeners.push(listener);
        changes
    }

    /// Sets how many of a thousand requests and lines have a fault.
    pub(super) fn set_rates(&self, requests: u32, lines: u32) {
        self.inner().rates = (requests, lines);
    }

    /// From now on only writes fail.
    pub(super) fn fail_writes_only(&self) {
        self.inner().only_writes_fail = true;
    }

    /// Ends all faults.
    pub(super) fn end_faults(&self) {
        let mut inner = self.inner();
        (inner.rates, inner.outage) = ((0, 0), None);
        inner.frozen.clear();
        inner.unlisted.clear();
        drop(inner);
        self.notify_change();
    }

    /// The server answers every request with 503 for a while.
    pub(super) fn outage(&self, length: Duration) {
        self.inner().outage = Some(Instant::now() + length);
    }

    /// Watches of a kind deliver nothing to a user for a while.
    pub(super) fn freeze(&self, user: &str, plural: &'static str, length: Duration) {
        self.freeze_since(Instant::now(), user, plural, length);
    }

    /// The same, and lists from the cache are as old as `then`.
    pub(super) fn freeze_since(&self, then: Instant, user: &str, plural: &'static str, length: Duration) {
        let (now, mut inner) = (Instant::now(), self.inner());
        let frozen = inner.frozen.entry((user.to_owned(), plural)).or_insert((now, then));
        *frozen = (now + length, if frozen.0 > now { frozen.1 } else { then });
        drop(inner);
        self.notify_change();
    }

    /// A user's watches of a kind end with 410, and the user cannot list the kind for a while.
    pub(super) fn cut(&self, user: &str, plural: &'static str, length: Duration) {
        let changes = self.notify_change();
        let mut inner = self.inner();
        inner.cut.insert((user.to_owned(), plural), changes);
        inner.unlisted.insert((user.to_owned(), plural), Instant::now() + length);
        drop(inner);
        self.notify_change();
    }

    /// Until when and since when watches of a kind deliver nothing to a user; `None` if they deliver.
    pub(super) fn frozen(&self, user: &str, plural: &str) -> Option<(Instant, Instant)> {
        find(&self.inner().frozen, user, plural).filter(|(until, _)| *until > Instant::now())
    }

    /// Until when a user cannot list a kind; `None` if it can.
    pub(super) fn unlisted(&self, user: &str, plural: &str) -> Option<Instant> {
        find(&self.inner().unlisted, user, plural).filter(|until| *until > Instant::now())
    }

    /// Whether a watch that began at change number `begun` was cut since.
    pub(super) fn is_cut(&self, user: &str, plural: &str, begun: u64) -> bool {
        find(&self.inner().cut, user, plural).is_some_and(|at| at > begun)
    }

    /// Counts a step, and returns the planned fault for it.
    pub(super) fn step(&self) -> Option<FaultKind> {
        let mut inner = self.inner();
        inner.steps += 1;
        inner.plan.filter(|plan| plan.step == inner.steps).map(|plan| plan.fault)
    }

    /// The number of steps so far.
    pub(super) fn steps(&self) -> u64 {
        self.inner().steps
    }

    /// Draws the delays and the outcome of a request.
    pub(super) fn transit(&self, subject: &Subject) -> Transit {
        let mut inner = self.inner();
        let is_out = inner.outage.is_some_and(|until| until > Instant::now());
        let only_writes_fail = inner.only_writes_fail;
        let rate = if only_writes_fail && !subject.is_write { 0 } else { inner.rates.0 };
        let rng = &mut inner.rng;
        let millis = |rng: &mut Rng, most: u64| Duration::from_millis(rng.u64(0..most));
        let mut transit = Transit {
            before: Duration::ZERO,
            outcome: RequestOutcome::Through,
            after: Duration::ZERO,
            lands: false,
        };
        if rate == 0 && !is_out {
            return transit;
        }
        if subject.is_write {
            (transit.before, transit.after, transit.lands) = (millis(rng, 30), millis(rng, 30), rng.bool());
        }
        if is_out {
            transit.outcome = RequestOutcome::Refused(StatusCode::SERVICE_UNAVAILABLE);
        } else if rng.u32(0..1000) < rate {
            let longest = if rng.u8(0..4) == 0 { 12_000 } else { 1500 };
            (transit.before, transit.after) = (millis(rng, longest), millis(rng, longest));
            if only_writes_fail {
                (transit.before, transit.after) = (transit.before.min(LATE_MAX), transit.after.min(LATE_MAX));
            }
            transit.outcome = request_outcome(rng, subject);
        }
        transit
    }

    /// Draws the outcome of a line of a watch.
    pub(super) fn line_outcome(&self) -> LineOutcome {
        let mut inner = self.inner();
        let rate = if inner.only_writes_fail { 0 } else { inner.rates.1 };
        if rate == 0 || inner.rng.u32(0..1000) >= rate {
            return LineOutcome::Through;
        }
        match inner.rng.u8(0..4) {
            0 => LineOutcome::Twice,
            1 => LineOutcome::Half,
            _ => LineOutcome::Late(Duration::from_millis(inner.rng.u64(50..4000))),
        }
    }
}

fn request_outcome(rng: &mut Rng, subject: &Subject) -> RequestOutcome {
    let refused = [
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::INTERNAL_SERVER_ERROR,
        StatusCode::SERVICE_UNAVAILABLE,
        StatusCode::GATEWAY_TIMEOUT,
    ];
    let code = refused[rng.usize(..refused.len())];
    match rng.u8(0..10) {
        0 | 1 => RequestOutcome::Through,
        2 => RequestOutcome::Lost,
        3 | 4 if subject.is_write => RequestOutcome::Unheard,
        5 if subject.is_write => RequestOutcome::Denied(code),
        6 if subject.is_write => RequestOutcome::Refused(StatusCode::CONFLICT),
        7 => RequestOutcome::Half,
        // An admission policy refuses the request.
        9 if subject.is_step() => {
            let codes = [StatusCode::FORBIDDEN, StatusCode::UNPROCESSABLE_ENTITY];
            RequestOutcome::Refused(codes[rng.usize(..2)])
        }
        8 if subject.is_watch => RequestOutcome::Refused(StatusCode::GONE),
        _ => RequestOutcome::Refused(code),
    }
}

fn find<T: Copy + Ord>(of: &BTreeMap<(String, &'static str), T>, user: &str, plural: &str) -> Option<T> {
    let is_it =
        |(who, what): &&(String, &'static str)| who == user && (*what == plural || *what == EVERYTHING);
    of.keys().filter(is_it).filter_map(|key| of.get(key)).max().copied()
}
