//! A builder of reservations.

use super::{at, uid};
use crate::model::quantity::parse_amount;
use crate::model::reservation::HostPort;
use crate::model::{
    Origin, Owner, Placement, Pod, Record, ReplacedPod, Reservation, ReservationId, ResourceName, Resources,
    Seat, Uid, Workload,
};
use jiff::Timestamp;

#[derive(Clone)]
pub(crate) struct ReservationBuilder(Reservation);

/// A recorded reservation of `owner`: made a minute ago, expires in ten minutes, replaces no pod.
pub(crate) fn reservation(owner: &Workload) -> ReservationBuilder {
    recorded(Owner {
        kind: owner.kind.as_str().into(),
        namespace: owner.namespace.clone(),
        name: owner.name.clone(),
        uid: owner.uid.clone(),
    })
}

/// A recorded reservation of a bare pod, which it replaces.
pub(crate) fn bare_reservation(pod: &Pod) -> ReservationBuilder {
    let owner = Owner {
        kind: "Pod".into(),
        namespace: pod.key.namespace.clone(),
        name: pod.key.name.clone(),
        uid: pod.uid.clone(),
    };
    recorded(owner).replaces(pod)
}

pub(crate) fn plain(owner: &Uid) -> ReservationBuilder {
    let mut amount = Resources::default();
    amount.pods = 1;
    ReservationBuilder(Reservation {
        id: ReservationId { owner: owner.clone(), seat: None },
        amount,
        ports: Box::default(),
        origin: Origin::Manual,
    })
}

fn recorded(owner: Owner) -> ReservationBuilder {
    let ReservationBuilder(mut reservation) = plain(&owner.uid);
    reservation.id.seat = Seat::parse("a");
    reservation.origin = Origin::Recorded(Box::new(Record {
        owner,
        replaces: None,
        priority: 0,
        created: at(-60),
        expires: at(600),
        life: None,
        request: uid("request").to_string().into(),
        by: "a test".into(),
        reason: "pod".into(),
        placement: Placement::Wait,
        unknown: None,
    }));
    ReservationBuilder(reservation)
}

impl ReservationBuilder {
    pub(crate) fn build(&self) -> Reservation {
        self.0.clone()
    }

    pub(crate) fn id(&self) -> ReservationId {
        self.0.id.clone()
    }

    pub(crate) fn seat(mut self, seat: &str) -> Self {
        self.0.id.seat = Seat::parse(seat);
        self
    }

    pub(crate) fn cpu(self, amount: &str) -> Self {
        self.keeps("cpu", amount)
    }

    pub(crate) fn memory(self, amount: &str) -> Self {
        self.keeps("memory", amount)
    }

    pub(crate) fn keeps(mut self, resource: &str, amount: &str) -> Self {
        let resource = ResourceName::from(resource);
        let amount = parse_amount(&resource, amount).unwrap();
        self.0.amount.set(resource, amount);
        self
    }

    pub(crate) fn port(mut self, protocol: &str, ip: &str, port: u16) -> Self {
        let port = HostPort { protocol: protocol.into(), ip: ip.into(), port };
        self.0.ports = self.0.ports.into_iter().chain([port]).collect();
        self
    }

    pub(crate) fn replaces(self, pod: &Pod) -> Self {
        let replaced = ReplacedPod { name: pod.key.name.clone(), uid: pod.uid.clone(), seat: None };
        self.record(|record| record.replaces = Some(replaced))
    }

    pub(crate) fn priority(self, priority: i32) -> Self {
        self.record(|record| record.priority = priority)
    }

    pub(crate) fn created(self, time: Timestamp) -> Self {
        self.record(|record| record.created = time)
    }

    pub(crate) fn expires(self, time: Timestamp) -> Self {
        self.record(|record| record.expires = time)
    }

    pub(crate) fn record(mut self, change: impl FnOnce(&mut Record)) -> Self {
        match &mut self.0.origin {
            Origin::Recorded(record) => change(record),
            _ => panic!("the plain form has no record"),
        }
        self
    }
}

impl From<ReservationBuilder> for Reservation {
    fn from(builder: ReservationBuilder) -> Self {
        builder.0
    }
}
