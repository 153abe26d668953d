//! An owner of a kind that the daemons do not watch: its pods, and the API server's answer to a daemon that reads it.

use super::api::ErrorCode;
use super::calls::Reply;
use super::scenario::template;
use super::sim::Sim;
use common::cluster::{Event, OwnerAnswer};
use common::model::owner::{ForeignClaim, ForeignKind};
use common::model::pod::RareFields;
use common::model::{ControllerRef, Keep, OwnerKind, Pod, PodKey, Uid, Workload};
use std::sync::Arc;

const NAME: &str = "clones";

/// What a daemon gets when it reads the owner. The names are part of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readable {
    Found,
    /// The role of the daemons does not allow the kind.
    Forbidden,
    /// The owner does not exist: its pods have a forged owner reference.
    Missing,
}

/// An owner of a kind that the daemons do not watch.
#[derive(Clone, Debug)]
pub(super) struct ForeignOwner {
    pub(super) uid: Uid,
    desired_pods: usize,
    pub(super) readable: Readable,
}

fn kind() -> Arc<ForeignKind> {
    Arc::new(ForeignKind { api_version: "example.com/v1".into(), kind: "CloneSet".into() })
}

impl ForeignOwner {
    /// The event of a daemon that has read the owner; `None` if it cannot be read.
    pub(super) fn owner_event(&self) -> Option<Event> {
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
            desired_pods: None,
            is_deleting: false,
            keep: None,
            daemon: None,
        }
    }
}

impl Sim {
    /// Makes such an owner.
    pub(super) fn add_foreign_owner(&mut self) {
        let (uid, desired_pods) = (self.api.uid(), self.rng.usize(1..3));
        // Every second one can be read. A number that is random anyway decides, so that the random choices stay the same.
        let readable = match self.scenario.activity_end.as_secs() % 4 {
            0 | 1 => Readable::Found,
            2 => Readable::Forbidden,
            _ => Readable::Missing,
        };
        self.api.note(format_args!("the owner {NAME} is {readable:?}"));
        let owner = ForeignOwner { uid, desired_pods, readable };
        if readable == Readable::Found {
            self.api.state.owners.put(&owner.workload(), None);
            self.api.rules.foreign_owner = Some(owner.workload());
        }
        self.scenario.foreign_owner = Some(owner);
    }

    /// Makes its missing pods, each with a new name and with `reserve/keep`.
    pub(super) fn reconcile_foreign_owner(&mut self) {
        let Some(ForeignOwner { uid, desired_pods, .. }) = self.scenario.foreign_owner.clone() else {
            return;
        };
        let is_its = |pod: &&Arc<Pod>| {
            let controller = pod.controller.as_ref();
            controller.is_some_and(|controller| controller.uid == uid) && !pod.deleting && !pod.is_ended()
        };
        let there = self.api.state.pods.values().filter(is_its).count();
        for _ in there..desired_pods {
            let rare = RareFields { keep: Keep::read("true"), ..RareFields::default() };
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

    /// A daemon reads the owner.
    pub(super) fn read_owner(&self, claim: &ForeignClaim) -> Result<Reply, ErrorCode> {
        let owner = self
            .scenario
            .foreign_owner
            .as_ref()
            .filter(|one| one.uid == claim.uid && claim.name == NAME.into());
        match owner.map(|one| (one, one.readable)) {
            Some((one, Readable::Found)) => Ok(Reply::Owner(Box::new(one.workload()))),
            Some((_, Readable::Forbidden)) => Err(ErrorCode(403)),
            Some((_, Readable::Missing)) | None => Err(ErrorCode(404)),
        }
    }
}

/// The daemon's interpretation of the answer, as in `daemon::effects::owner`.
pub(super) fn owner_answer(reply: Option<Reply>) -> OwnerAnswer {
    match reply {
        Some(Reply::Owner(found)) => OwnerAnswer::Found(found),
        Some(Reply::Refused(404)) => OwnerAnswer::Gone,
        Some(Reply::Refused(403)) => OwnerAnswer::Refused("the daemon may not get it".into()),
        _ => OwnerAnswer::Unknown,
    }
}
