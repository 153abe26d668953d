//! Whether a write is known to everybody who decides: what each live replica says in its Lease.
//!
//! The daemon and the command ask the same function. A replica whose Lease has run out is not waited for: it answers
//! nobody, and lists everything anew before it decides again.

use crate::model::Replica;
use crate::model::ids::Text;
use jiff::Timestamp;

/// What the replicas say about a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acknowledged {
    /// All live ones have seen it.
    ByAll,
    /// These have not seen it yet.
    NotBy(Vec<Text>),
    /// There is no live one, and so nobody who would heed it.
    Nobody,
}

/// Whether all live replicas have seen version `written` of a node, as of `now`.
pub fn acknowledged<'r>(
    replicas: impl Iterator<Item = &'r Replica>,
    written: u64,
    now: Timestamp,
) -> Acknowledged {
    let live: Vec<&Replica> = replicas.filter(|replica| replica.is_live(now)).collect();
    if live.is_empty() {
        return Acknowledged::Nobody;
    }
    let late: Vec<Text> =
        live.iter().filter(|one| one.seen_nodes < written).map(|one| one.name.clone()).collect();
    if late.is_empty() { Acknowledged::ByAll } else { Acknowledged::NotBy(late) }
}

/// Whether no live replica has yet to see version `seen` of a pod. With none there is nobody to wait for.
pub fn acknowledged_pod<'r>(
    mut replicas: impl Iterator<Item = &'r Replica>,
    seen: u64,
    now: Timestamp,
) -> bool {
    replicas.all(|replica| !replica.is_live(now) || replica.seen_pods >= seen)
}

#[cfg(test)]
mod tests {
    use super::{Acknowledged, acknowledged, acknowledged_pod};
    use crate::model::Replica;
    use crate::model::object::Meta;
    use crate::testing::{at, uid};
    use std::time::Duration;

    fn replica(name: &str, seen: u64, renewed: i64) -> Replica {
        let meta = Meta {
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
            renewed: Some(at(renewed)),
            duration: Duration::from_secs(15),
            version: "1".into(),
            is_restricted: false,
        }
    }

    #[test]
    fn every_live_replica_must_have_seen_it_and_there_must_be_one() {
        let ask = |replicas: &[Replica], written| acknowledged(replicas.iter(), written, at(0));
        let (a, b, dead) = (replica("a", 5, 0), replica("b", 7, -10), replica("dead", 1, -15));
        assert_eq!(ask(&[], 1), Acknowledged::Nobody);
        assert_eq!(ask(std::slice::from_ref(&dead), 1), Acknowledged::Nobody);
        assert_eq!(ask(&[a.clone(), b.clone(), dead.clone()], 5), Acknowledged::ByAll);
        assert_eq!(ask(&[a.clone(), b.clone(), dead], 6), Acknowledged::NotBy(vec!["a".into()]));
        assert_eq!(ask(&[a, b], 8), Acknowledged::NotBy(vec!["a".into(), "b".into()]));
    }

    #[test]
    fn a_pod_is_waited_for_by_those_who_are_there() {
        let (a, dead) = (replica("a", 5, 0), replica("dead", 1, -15));
        assert!(acknowledged_pod([&a, &dead].into_iter(), 50, at(0)));
        assert!(!acknowledged_pod([&a, &dead].into_iter(), 51, at(0)));
        assert!(acknowledged_pod([&dead].into_iter(), 51, at(0)));
    }
}
