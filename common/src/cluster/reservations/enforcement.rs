//! Which schedulers enforce reservations, by what the live replicas say in their Leases. Entry point: [`enforcement`].

use crate::model::Replica;
use jiff::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Enforcement {
    Nobody,
    /// The scheduler calls the daemon as its extender.
    Extender,
    /// The daemon is the scheduler.
    Scheduler,
}

/// How the scheduler called `name` enforces reservations as of `now`.
pub fn enforcement<'r>(
    replicas: impl Iterator<Item = &'r Replica>,
    name: &str,
    now: Timestamp,
) -> Enforcement {
    let of = |replica: &Replica| {
        if replica.schedulers.iter().any(|served| &**served == name) {
            Enforcement::Scheduler
        } else if replica.extends.iter().any(|asking| &**asking == name) {
            Enforcement::Extender
        } else {
            Enforcement::Nobody
        }
    };
    replicas.filter(|replica| replica.is_live(now)).map(of).max().unwrap_or(Enforcement::Nobody)
}

#[cfg(test)]
mod tests {
    use super::{Enforcement, enforcement};
    use crate::model::Replica;
    use crate::model::object::ObjectMeta;
    use crate::testing::{at, uid};
    use std::time::Duration;

    #[test]
    fn only_live_replicas_make_anybody_enforce() {
        let meta = ObjectMeta {
            namespace: "kube-reserve".into(),
            name: "reserve-a".into(),
            uid: uid("a"),
            resource_version: 1,
            is_deleting: false,
        };
        let replica = Replica {
            meta,
            name: "a".into(),
            seen_nodes: 1,
            seen_pods: 1,
            schedulers: ["ours".into()].into(),
            extends: ["default-scheduler".into()].into(),
            renew_time: Some(at(0)),
            duration: Duration::from_secs(15),
            version: "1".into(),
            is_restricted: false,
        };
        let ask = |name: &str, now| enforcement([&replica].into_iter(), name, at(now));
        assert_eq!(ask("ours", 0), Enforcement::Scheduler);
        assert_eq!(ask("default-scheduler", 0), Enforcement::Extender);
        assert_eq!(ask("volcano", 0), Enforcement::Nobody);
        assert_eq!(ask("ours", 15), Enforcement::Nobody);
    }
}
