//! What is really so in a town of several nodes and several owners, and how it looks on the wire.

use super::kin::{Kin, WORKLOADS, workloads};
use super::wire;
use crate::cluster::{Assumed, Cluster};
use crate::model::owner::Workload;
use crate::model::{Node, Pod};
use crate::testing::{at, node, pod, uid, world};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// So much of each of [`RESOURCES`], in its smallest unit.
pub(super) type Amounts = [i64; 5];
pub(super) const RESOURCES: [&str; 5] = ["cpu", "memory", "ephemeral-storage", "pods", "nvidia.com/gpu"];
pub(super) const PODS: usize = 3;
pub(super) const GPU: usize = 4;

/// Protocol, address, number.
pub(super) type Port = (&'static str, &'static str, u16);

/// A pod as it really is.
#[derive(Clone, Debug)]
pub(super) struct Guest {
    pub(super) kin: Kin,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) asks: Amounts,
    pub(super) ports: Vec<Port>,
    pub(super) priority: i32,
    pub(super) tolerates: bool,
    pub(super) zone: Option<usize>,
    /// The house that a pod of the DaemonSet is tied to, as its controller does it.
    pub(super) tied: Option<usize>,
    pub(super) mind: Mind,
    /// The stamp that it came with.
    pub(super) forged: Option<String>,
    /// The stamp that it was bound with.
    pub(super) seat: Option<String>,
    pub(super) since: Option<i64>,
    pub(super) place: Place,
    pub(super) deleting: bool,
}

/// Where a pod is; on which node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Waiting,
    Assumed(usize),
    Bound(usize),
    Ended(usize),
    Gone,
}

/// How much a pod minds who else is near.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mind {
    Not,
    Softly,
    Strictly,
}

/// A node as it really is.
#[derive(Clone, Debug)]
pub(super) struct House {
    pub(super) name: String,
    pub(super) there: bool,
    pub(super) has: Amounts,
    pub(super) cordoned: bool,
    pub(super) tainted: bool,
    pub(super) zone: usize,
    /// Which of the malformed and foreign annotations it carries.
    pub(super) noise: BTreeSet<usize>,
}

/// Whose a reservation is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Whom {
    Workload(usize),
    /// A guest that nobody controls.
    Pod(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    Recorded,
    Plain,
    Newer,
}

/// A reservation as it really is.
#[derive(Clone, Debug)]
pub(super) struct Promise {
    pub(super) house: usize,
    pub(super) whom: Whom,
    pub(super) form: Form,
    pub(super) id: String,
    /// The guest that it replaces.
    pub(super) replaces: Option<usize>,
    pub(super) amount: Amounts,
    pub(super) ports: Vec<Port>,
    pub(super) priority: i32,
    pub(super) created: i64,
    pub(super) expires: Option<i64>,
    pub(super) removed: bool,
}

pub(super) struct Town {
    pub(super) now: i64,
    pub(super) version: u64,
    pub(super) workloads: [Workload; WORKLOADS],
    /// Which of them were read.
    pub(super) read: [bool; WORKLOADS],
    pub(super) houses: Vec<House>,
    pub(super) guests: Vec<Guest>,
    pub(super) promises: Vec<Promise>,
    pub(super) cluster: Cluster,
    /// What was met on the way, so that a test can say whether everything was.
    pub(super) met: BTreeSet<&'static str>,
}

/// What a town can be rebuilt without.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Without {
    Nothing,
    Noise,
    Reservations,
}

impl Guest {
    /// The stamp that counts.
    pub(super) fn stamp(&self) -> Option<&String> {
        let own = self.seat.as_ref();
        if matches!(self.place, Place::Assumed(_)) { own } else { own.or(self.forged.as_ref()) }
    }

    pub(super) fn is_on(&self, house: usize) -> bool {
        self.place == Place::Assumed(house) || self.place == Place::Bound(house)
    }
}

impl Town {
    pub(super) fn new(houses: Vec<House>, read: [bool; WORKLOADS]) -> Self {
        let mut town = Self {
            now: 0,
            version: 1,
            workloads: workloads(),
            read,
            houses,
            guests: Vec::new(),
            promises: Vec::new(),
            cluster: Cluster::default(),
            met: BTreeSet::new(),
        };
        town.cluster = town.anew(Without::Nothing);
        town
    }

    /// A cluster that learns all at once what is so now.
    pub(super) fn anew(&self, without: Without) -> Cluster {
        let read = self.workloads.iter().zip(self.read).filter(|(_, read)| *read);
        let mut start = read.fold(world(), |world, (workload, _)| world.workload(workload));
        for house in (0..self.houses.len()).filter(|house| self.houses[*house].there) {
            start = start.node(self.node(house, without));
        }
        for guest in (0..self.guests.len()).filter(|guest| self.guests[*guest].place != Place::Gone) {
            start = start.pod(self.pod(guest));
        }
        let mut cluster = start.cluster();
        for (index, guest) in self.guests.iter().enumerate() {
            if let Place::Assumed(house) = guest.place {
                let pod = self.pod(index);
                let promise = self.promises.iter().find(|promise| Some(&promise.id) == guest.seat.as_ref());
                let seat = promise.map(|promise| self.reservation_id(promise));
                let (node, since) = (self.houses[house].name.as_str().into(), at(guest.since.unwrap()));
                cluster.assume(&pod.key, Assumed { uid: pod.uid, node, seat, since });
            }
        }
        cluster
    }

    pub(super) fn node(&self, house: usize, without: Without) -> Node {
        let it = &self.houses[house];
        let mut node = node(&it.name).version(self.version).label("zone", &format!("z{}", it.zone));
        for (resource, amount) in RESOURCES.iter().zip(it.has) {
            node = node.has(resource, &wire::quantity(resource, amount));
        }
        node = if it.cordoned { node.cordoned() } else { node };
        node = if it.tainted { node.taint("dirty:NoSchedule") } else { node };
        let kept = self.promises.iter().filter(|promise| promise.house == house && !promise.removed);
        let kept = kept.filter(|_| without != Without::Reservations);
        let noise = it.noise.iter().filter(|_| without == Without::Nothing);
        let noise = noise.flat_map(|kind| wire::noise(*kind, &self.workloads));
        let written = kept.flat_map(|promise| wire::annotations(self, promise)).chain(noise);
        written.fold(node, |node, (key, value)| node.annotation(&key, &value)).build()
    }

    pub(super) fn pod(&self, index: usize) -> Pod {
        let guest = &self.guests[index];
        let mut pod = guest.kin.dress(pod(&guest.name), &self.workloads).namespace(guest.kin.namespace());
        pod = pod.with("/metadata/uid", json!(guest.uid)).version(self.version).priority(guest.priority);
        pod = pod.labels([("app", "town")]);
        for (resource, amount) in
            RESOURCES.iter().zip(guest.asks).filter(|(resource, _)| **resource != "pods")
        {
            pod = if amount > 0 { pod.asks(resource, &wire::quantity(resource, amount)) } else { pod };
        }
        let port =
            |(protocol, ip, port): &Port| json!({ "protocol": protocol, "hostIP": ip, "hostPort": port });
        pod = pod.with("/spec/containers/0/ports", guest.ports.iter().map(port).collect::<Value>());
        pod = if guest.tolerates { pod.tolerates("dirty") } else { pod };
        if let Some(zone) = guest.zone {
            pod = pod.with("/spec/nodeSelector", json!({ "zone": format!("z{zone}") }));
        }
        pod = wire::minding(pod, guest.mind);
        if let Some(house) = guest.tied.filter(|_| guest.kin == Kin::Agent) {
            pod = pod.tied_to(&self.houses[house].name);
        }
        if let Place::Bound(house) | Place::Ended(house) = guest.place {
            pod = pod.on(&self.houses[house].name);
            pod = guest.since.iter().fold(pod, |pod, since| pod.scheduled_at(at(*since)));
        }
        let stamp =
            if matches!(guest.place, Place::Assumed(_)) { guest.forged.as_ref() } else { guest.stamp() };
        pod = stamp.iter().fold(pod, |pod, stamp| pod.stamp(stamp));
        pod = if guest.deleting { pod.terminating() } else { pod };
        if matches!(guest.place, Place::Ended(_)) { pod.phase("Failed").build() } else { pod.build() }
    }

    pub(super) fn uid_of(&self, whom: Whom) -> String {
        match whom {
            Whom::Workload(place) => self.workloads[place].uid.to_string(),
            Whom::Pod(guest) => self.guests[guest].uid.clone(),
        }
    }

    pub(super) fn fresh_uid(&self) -> String {
        uid(&format!("guest {}", self.guests.len())).to_string()
    }
}
