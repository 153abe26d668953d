//! An owner of a kind that nobody watches: its pods, and what the API server answers to a daemon that reads it.

use super::api::Refused;
use super::calls::Reply;
use super::scenario::template;
use super::sim::Sim;
use common::cluster::{Event, OwnerAnswer};
use common::model::owner::{ForeignClaim, ForeignKind};
use common::model::pod::Rare;
use common::model::{ControllerRef, Keep, OwnerKind, Pod, PodKey, Uid, Workload};
use std::sync::Arc;

/// What it is called.
const NAME: &str = "clones";

/// What comes of reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readable {
    Found,
    /// The role of the daemons does not have that kind.
    Forbidden,
    /// There is no such object: whoever makes its pods made the claim up.
    Missing,
}

/// Such an owner.
#[derive(Clone, Debug)]
pub(super) struct Unread {
    pub(super) uid: Uid,
    wanted: usize,
    pub(super) readable: Readable,
}

fn kind() -> Arc<ForeignKind> {
    Arc::new(ForeignKind { api_version: "example.com/v1".into(), kind: "CloneSet".into() })
}

impl Unread {
    /// What a daemon learns of it once it has read it; none if it cannot.
    pub(super) fn learnt(&self) -> Option<Event> {
        let claim = ForeignClaim {
            uid: self.uid.clone(),
            namespace: "shop".into(),
            kind: (*kind()).clone(),
            name: NAME.into(),
        };
        let found = (self.readable == Readable::Found).then(|| Box::new(self.workload()))?;
        Some(Event::OwnerRead(Box::new(claim), OwnerAnswer::Found(found)))
    }

    fn workload(&self) -> Workload {
        Workload {
            kind: OwnerKind::Foreign,
            foreign: Some(kind()),
            namespace: "shop".into(),
            name: NAME.into(),
            uid: self.uid.clone(),
            resource_version: 1,
            controller: None,
            selector: None,
            wanted: None,
            is_deleting: false,
            keep: None,
            daemon: None,
        }
    }
}

impl Sim {
    /// Somebody has such an owner.
    pub(super) fn add_unread(&mut self) {
        let (uid, wanted) = (self.api.uid(), self.rng.usize(1..3));
        // Every second one can be read. What decides that is a number that was drawn anyhow.
        let readable = match self.scenario.quiet.as_secs() % 4 {
            0 | 1 => Readable::Found,
            2 => Readable::Forbidden,
            _ => Readable::Missing,
        };
        self.api.note(format_args!("the owner {NAME} is {readable:?}"));
        let unread = Unread { uid, wanted, readable };
        if readable == Readable::Found {
            self.api.picture.owners.put(&unread.workload(), None);
            self.api.rules.foreign = Some(unread.workload());
        }
        self.scenario.unread = Some(unread);
    }

    /// Its pods: each has a name of its own, and wishes that its place be kept.
    pub(super) fn reconcile_unread(&mut self) {
        let Some(Unread { uid, wanted, .. }) = self.scenario.unread.clone() else { return };
        let is_its = |pod: &&Arc<Pod>| {
            let controller = pod.controller.as_ref();
            controller.is_some_and(|controller| controller.uid == uid) && !pod.deleting && !pod.is_ended()
        };
        let there = self.api.picture.pods.values().filter(is_its).count();
        for _ in there..wanted {
            let rare = Rare { keep: Keep::read("true"), ..Rare::default() };
            let controller =
                ControllerRef { kind: None, foreign: Some(kind()), name: NAME.into(), uid: uid.clone() };
            let key = PodKey::new("shop", format!("clone-{:x}", self.api.number()).as_str());
            self.api.note(format_args!("made: {key}"));
            let (pod, created) = (self.api.uid(), Some(self.api.wall().into()));
            self.api.put_pod(Pod {
                key,
                uid: pod,
                controller: Some(Arc::new(controller)),
                rare: Some(Box::new(rare)),
                created,
                ..template(1, "clone", 0, true)
            });
        }
    }

    /// A daemon reads it.
    pub(super) fn read_owner(&self, claim: &ForeignClaim) -> Result<Reply, Refused> {
        let unread =
            self.scenario.unread.as_ref().filter(|one| one.uid == claim.uid && claim.name == NAME.into());
        match unread.map(|one| (one, one.readable)) {
            Some((one, Readable::Found)) => Ok(Reply::Owner(Box::new(one.workload()))),
            Some((_, Readable::Forbidden)) => Err(Refused(403)),
            Some((_, Readable::Missing)) | None => Err(Refused(404)),
        }
    }
}

/// What a daemon makes of the answer, as `daemon::effects::owner` does.
pub(super) fn answered(reply: Option<Reply>) -> OwnerAnswer {
    match reply {
        Some(Reply::Owner(found)) => OwnerAnswer::Found(found),
        Some(Reply::Refused(404)) => OwnerAnswer::Gone,
        Some(Reply::Refused(403)) => OwnerAnswer::Refused("the daemon may not get it".into()),
        _ => OwnerAnswer::Unknown,
    }
}
