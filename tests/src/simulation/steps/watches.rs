//! What daemons hear: lists and watches of each kind, in order within a kind, late, again, or not at all.

use super::api::{Api, STREAMS, Stream};
use super::sim::{Action, Sim};
use common::cluster::{Event, Seen};
use common::model::object::Meta;
use common::model::{Namespace, Other, OtherKind, OwnerKind};
use daemon::state::Input;
use std::time::Duration;

/// A watch.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    /// How much of the log was heard.
    position: usize,
    /// Up to which revision everything is known.
    pub(super) seen: u64,
    /// Nothing is heard before.
    pub(super) frozen: Duration,
    is_listed: bool,
    /// Whether the next delivery is on its way.
    is_due: bool,
}

/// Everything of one kind, as a list gives it.
pub(super) fn listed(api: &Api, stream: Stream) -> Vec<Event> {
    match stream {
        Stream::Nodes => {
            let live = api.picture.nodes.values().map(|node| (**node).clone()).collect();
            vec![Event::Nodes(Seen::Relisted(live)), Event::NodesUpTo(api.revision)]
        }
        Stream::Pods => {
            let live = api.picture.pods.values().map(|pod| (**pod).clone()).collect();
            vec![Event::Pods(Seen::Relisted(live)), Event::PodsUpTo(api.revision)]
        }
        Stream::Workloads => {
            let of = |kind| api.workloads.values().filter(move |one| one.kind == kind).cloned().collect();
            OwnerKind::ALL.map(|kind| Event::Workloads(kind, Seen::Relisted(of(kind)))).into()
        }
        Stream::Replicas => vec![Event::Replicas(Seen::Relisted(api.replicas.values().cloned().collect()))],
    }
}

/// What there is of everything else: two namespaces.
pub(super) fn others() -> Vec<Event> {
    let namespace = |name: &str| {
        let meta = Meta {
            namespace: "".into(),
            name: name.into(),
            uid: name.into(),
            resource_version: 1,
            is_deleting: false,
        };
        Other::from(Namespace { meta, labels: Default::default(), keep: None })
    };
    let live = |kind| match kind {
        OtherKind::Namespace => vec![namespace("shop"), namespace("tenant")],
        _ => vec![],
    };
    OtherKind::ALL.map(|kind| Event::Others(kind, Seen::Relisted(live(kind)))).into()
}

impl Sim {
    /// Makes sure that what there is to hear is on its way.
    pub(super) fn listen(&mut self, index: usize) {
        if !self.daemons[index].is_up {
            return;
        }
        // Nodes and pods are listed when the replica has its Lease, so that whoever writes a reservation waits for it.
        let is_settled = self.daemons[index].good_until.is_some();
        for (stream, kind) in STREAMS.into_iter().enumerate() {
            let watch = &mut self.daemons[index].streams[stream];
            if !is_settled && matches!(kind, Stream::Nodes | Stream::Pods) {
                continue;
            }
            if !watch.is_due && (!watch.is_listed || watch.position < self.api.logs[stream].len()) {
                watch.is_due = true;
                let life = self.daemons[index].life;
                let pause = self.millis(1..self.faults.lag.max(2) + 1);
                self.after(pause, Action::Deliver(index, life, stream));
            }
        }
    }

    /// A watch ends; after a pause everything is listed.
    pub(super) fn break_watch(&mut self, index: usize, stream: usize, pause: Duration) {
        let until = self.api.now + pause;
        self.api.note(format_args!("daemon {index}: {:?} are listed again in {pause:?}", STREAMS[stream]));
        let watch = &mut self.daemons[index].streams[stream];
        watch.is_listed = false;
        watch.frozen = watch.frozen.max(until);
    }

    pub(super) fn deliver(&mut self, index: usize, life: u32, stream: usize) {
        if !self.daemons[index].is_here(life) {
            return;
        }
        let frozen = self.daemons[index].streams[stream].frozen;
        let wait = self.still(index).max(frozen.checked_sub(self.api.now).filter(|left| !left.is_zero()));
        if let Some(wait) = wait {
            let more = self.millis(0..50);
            return self.after(wait + more, Action::Deliver(index, life, stream));
        }
        let repeats = self.api.now < self.faults.end && self.one_in(self.faults.repeat);
        let steps = self.rng.usize(1..4);
        let watch = &mut self.daemons[index].streams[stream];
        watch.is_due = false;
        let events = if watch.is_listed {
            let Some((revision, event)) = self.api.logs[stream].get(watch.position) else { return };
            watch.seen = watch.seen.max(*revision);
            watch.position += 1;
            if repeats {
                watch.position = watch.position.saturating_sub(steps);
            }
            vec![event.clone()]
        } else {
            watch.is_listed = true;
            watch.position = self.api.logs[stream].len();
            watch.seen = self.api.revision;
            listed(&self.api, STREAMS[stream])
        };
        for event in events {
            self.input(index, Input::Cluster(Box::new(event)));
        }
    }
}
