//! Lists and watches of the daemons: the events of a kind arrive in order, but late, repeated, or not at all.

use super::api::{Api, STREAMS, Stream};
use super::sim::{Action, Sim};
use common::cluster::{Event, WatchEvent};
use common::model::object::ObjectMeta;
use common::model::{CatalogKind, CatalogObject, Namespace, OwnerKind};
use daemon::state::Input;
use std::time::Duration;

/// The watch of a daemon for one kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    /// The number of delivered events of the log.
    position: usize,
    /// The revision up to which everything was delivered.
    pub(super) seen: u64,
    /// Nothing is delivered before this time.
    pub(super) frozen: Duration,
    is_listed: bool,
    /// Whether the next delivery is in the queue.
    is_due: bool,
}

/// The events of a list of one kind.
pub(super) fn list_events(api: &Api, stream: Stream) -> Vec<Event> {
    match stream {
        Stream::Nodes => {
            let live = api.state.nodes.values().map(|node| (**node).clone()).collect();
            vec![Event::Nodes(WatchEvent::Relisted(live)), Event::NodesUpTo(api.revision)]
        }
        Stream::Pods => {
            let live = api.state.pods.values().map(|pod| (**pod).clone()).collect();
            vec![Event::Pods(WatchEvent::Relisted(live)), Event::PodsUpTo(api.revision)]
        }
        Stream::Workloads => {
            let of = |kind| api.workloads.values().filter(move |one| one.kind == kind).cloned().collect();
            OwnerKind::ALL.map(|kind| Event::Workloads(kind, WatchEvent::Relisted(of(kind)))).into()
        }
        Stream::Replicas => {
            vec![Event::Replicas(WatchEvent::Relisted(api.replicas.values().cloned().collect()))]
        }
    }
}

/// The lists of all other kinds, which have only two namespaces.
pub(super) fn other_lists() -> Vec<Event> {
    let namespace = |name: &str| {
        let meta = ObjectMeta {
            namespace: "".into(),
            name: name.into(),
            uid: name.into(),
            resource_version: 1,
            is_deleting: false,
        };
        CatalogObject::from(Namespace { meta, labels: Default::default(), keep: None })
    };
    let live = |kind| match kind {
        CatalogKind::Namespace => vec![namespace("shop"), namespace("tenant")],
        _ => vec![],
    };
    CatalogKind::ALL.map(|kind| Event::CatalogObjects(kind, WatchEvent::Relisted(live(kind)))).into()
}

impl Sim {
    /// Schedules the next delivery of each watch of a daemon.
    pub(super) fn schedule_deliveries(&mut self, index: usize) {
        if !self.daemons[index].is_up {
            return;
        }
        // Nodes and pods are listed only when the replica has its Lease, so that the writers of later reservations wait for it.
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

    /// Ends a watch; after a pause everything is listed again.
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
        let wait =
            self.paused_for(index).max(frozen.checked_sub(self.api.now).filter(|left| !left.is_zero()));
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
            list_events(&self.api, STREAMS[stream])
        };
        for event in events {
            self.input(index, Input::Cluster(Box::new(event)));
        }
    }
}
