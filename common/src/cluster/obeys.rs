//! Which schedulers obey reservations, by what the live replicas say in their Leases.

use crate::model::Replica;
use jiff::Timestamp;

/// How a scheduler comes to obey reservations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    /// It does not.
    Nobody,
    /// It asks the daemon as its extender.
    Extender,
    /// The daemon is that scheduler.
    Scheduler,
}

/// How the scheduler called `name` obeys reservations as of `now`.
pub fn rung<'r>(replicas: impl Iterator<Item = &'r Replica>, name: &str, now: Timestamp) -> Rung {
    let of = |replica: &Replica| {
        if replica.schedulers.iter().any(|served| &**served == name) {
            Rung::Scheduler
        } else if replica.extends.iter().any(|asking| &**asking == name) {
            Rung::Extender
        } else {
            Rung::Nobody
        }
    };
    replicas.filter(|replica| replica.is_live(now)).map(of).max().unwrap_or(Rung::Nobody)
}

#[cfg(test)]
mod tests {
    use super::{Rung, rung};
    use crate::model::Replica;
    use crate::model::object::Meta;
    use crate::testing::{at, uid};
    use std::time::Duration;

    #[test]
    fn only_live_replicas_make_anybody_obey() {
        let meta = Meta {
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
            renewed: Some(at(0)),
            duration: Duration::from_secs(15),
            version: "1".into(),
            is_restricted: false,
        };
        let ask = |name: &str, now| rung([&replica].into_iter(), name, at(now));
        assert_eq!(ask("ours", 0), Rung::Scheduler);
        assert_eq!(ask("default-scheduler", 0), Rung::Extender);
        assert_eq!(ask("volcano", 0), Rung::Nobody);
        assert_eq!(ask("ours", 15), Rung::Nobody);
    }
}
