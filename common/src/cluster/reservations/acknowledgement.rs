//! Whether all live replicas of the daemon have seen a write, by what they say in their Leases. Entry point: [`acknowledgement`],
//! which the daemon and the command both use.
//!
//! A replica whose Lease has expired is not waited for: it answers no scheduler, and lists everything again before it decides.

use crate::model::{Replica, Text};
use jiff::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acknowledgement {
    /// All live replicas have seen the write.
    ByAll,
    /// These live replicas have not seen the write yet.
    NotBy(Vec<Text>),
    /// There is no live replica, so no scheduler enforces the write.
    NoReplica,
}

/// Whether all live replicas have seen version `written` of a node, as of `now`.
pub fn acknowledgement<'r>(
    replicas: impl Iterator<Item = &'r Replica>,
    written: u64,
    now: Timestamp,
) -> Acknowledgement {
    let live: Vec<&Replica> = replicas.filter(|replica| replica.is_live(now)).collect();
    if live.is_empty() {
        return Acknowledgement::NoReplica;
    }
    let late: Vec<Text> =
        live.iter().filter(|one| one.seen_nodes < written).map(|one| one.name.clone()).collect();
    if late.is_empty() { Acknowledgement::ByAll } else { Acknowledgement::NotBy(late) }
}

/// Whether all live replicas have seen version `seen` of a pod. True without live replicas.
pub fn is_pod_acknowledged<'r>(
    mut replicas: impl Iterator<Item = &'r Replica>,
    seen: u64,
    now: Timestamp,
) -> bool {
    replicas.all(|replica| !replica.is_live(now) || replica.seen_pods >= seen)
}

#[cfg(test)]
mod tests {
    use super::{Acknowledgement, acknowledgement, is_pod_acknowledged};
    use crate::model::Replica;
    use crate::model::object::ObjectMeta;
    use crate::testing::{at, uid};
    use std::time::Duration;

    fn replica(name: &str, seen: u64, renewed: i64) -> Replica {
        let meta = ObjectMeta {
            namespace: "kube-reserve".into(),
            name: format!("reserve-{name}").into(),
            uid: uid(name),
            resource_version: 1,
            is_deleting: false,
        };
        Replica {
            meta,
            name: name.into(),
            seen_nodes: seen,
            seen_pods: seen * 10,
            schedulers: Box::default(),
            extends: Box::default(),
            renew_time: Some(at(renewed)),
            duration: Duration::from_secs(15),
            version: "1".into(),
            is_restricted: false,
        }
    }

    #[test]
    fn every_live_replica_must_have_seen_it_and_there_must_be_one() {
        let ask = |replicas: &[Replica], written| acknowledgement(replicas.iter(), written, at(0));
        let (a, b, dead) = (replica("a", 5, 0), replica("b", 7, -10), replica("dead", 1, -15));
        assert_eq!(ask(&[], 1), Acknowledgement::NoReplica);
        assert_eq!(ask(std::slice::from_ref(&dead), 1), Acknowledgement::NoReplica);
        assert_eq!(ask(&[a.clone(), b.clone(), dead.clone()], 5), Acknowledgement::ByAll);
        assert_eq!(ask(&[a.clone(), b.clone(), dead], 6), Acknowledgement::NotBy(vec!["a".into()]));
        assert_eq!(ask(&[a, b], 8), Acknowledgement::NotBy(vec!["a".into(), "b".into()]));
    }

    #[test]
    fn a_pod_is_waited_for_by_those_who_are_there() {
        let (a, dead) = (replica("a", 5, 0), replica("dead", 1, -15));
        assert!(is_pod_acknowledged([&a, &dead].into_iter(), 50, at(0)));
        assert!(!is_pod_acknowledged([&a, &dead].into_iter(), 51, at(0)));
        assert!(is_pod_acknowledged([&dead].into_iter(), 51, at(0)));
    }
}
