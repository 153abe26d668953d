//! The replicas of the daemon by their Leases: which of them live, which have seen a write, and which schedulers enforce
//! reservations. Entry points: `read`, `wait`, `leader`.

use crate::api::{self, ApiError, JSON};
use crate::clock::local_time;
use crate::connect::Session;
use crate::objects::get;
use crate::reader::existing;
use common::api::names;
use common::api::replica::{DaemonNamespaces, trusted_replica};
use common::cluster::{Acknowledgement, Enforcement, acknowledgement, enforcement};
use common::model::Replica;
use futures::future::join_all;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub(crate) const LEASES: &str = "/apis/coordination.k8s.io/v1";

/// The pause between two reads.
const PAUSE: Duration = Duration::from_millis(100);

/// How long replicas have to acknowledge a write.
pub(crate) const SEEN_MAX: Duration = Duration::from_secs(10);

/// The replicas that have a Lease, and the API server's time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replicas {
    /// Sorted by name.
    pub(crate) all: Vec<Replica>,
    /// Their Leases, as the server sent them.
    pub(crate) leases: Vec<String>,
    pub(crate) now: Timestamp,
    /// Whether the replicas are unknown because the caller may not read the Leases.
    pub(crate) is_hidden: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct WaitResult {
    pub(crate) by: Acknowledgement,
    pub(crate) replicas: Replicas,
}

/// The right that reading the Leases needs.
pub(crate) fn right(daemon: &DaemonNamespaces) -> String {
    let namespace = daemon.iter().next().unwrap_or(names::NAMESPACE);
    format!("list leases.coordination.k8s.io (namespace {namespace})")
}

/// The query for the Leases of replicas, by their label.
pub(crate) fn selector() -> String {
    format!("labelSelector={}%3D{}", names::APP_LABEL.replace('/', "%2F"), names::APP)
}

fn path_in(namespace: &str) -> String {
    format!("{LEASES}/namespaces/{namespace}/leases")
}

/// Reads the Leases of the replicas in the daemon's namespaces only: tenants can write Leases in other namespaces.
pub(crate) async fn read(session: &Session) -> Result<Replicas, ApiError> {
    read_namespaces(session, &session.daemon).await
}

/// The same for a daemon in these namespaces.
pub(crate) async fn read_namespaces(
    session: &Session,
    daemon: &DaemonNamespaces,
) -> Result<Replicas, ApiError> {
    let lists = daemon.iter().map(|namespace| read_namespace(session, namespace));
    merge(join_all(lists).await)
}

async fn read_namespace(session: &Session, namespace: &str) -> Result<Replicas, ApiError> {
    let (mut found, own) = (Replicas::default(), DaemonNamespaces::only(namespace));
    let each = |json: &str| {
        // Malformed Leases do not count, and the Lease of the leader election is not that of a replica.
        if let Some(replica) = trusted_replica(json, &own).ok().filter(|one| one.renew_time.is_some()) {
            found.all.push(replica);
            found.leases.push(json.to_owned());
        }
        Ok(())
    };
    let now = api::list(session, &path_in(namespace), &selector(), JSON, each).await?.at;
    found.now = now.unwrap_or_else(local_time);
    Ok(found)
}

/// Merges the lists of all namespaces. `install` puts the daemon into the first one and lets everybody read its Leases: a caller
/// who may not read them, and finds no replica in another namespace, does not know whether there are any. A 403 in another
/// namespace counts as an empty list.
fn merge(lists: Vec<Result<Replicas, ApiError>>) -> Result<Replicas, ApiError> {
    let mut replicas = Replicas::default();
    let mut times = Vec::new();
    for (index, list) in lists.into_iter().enumerate() {
        match list {
            Ok(found) => {
                replicas.all.extend(found.all);
                replicas.leases.extend(found.leases);
                times.push(found.now);
            }
            Err(error) if error.code() == Some(403) => replicas.is_hidden |= index == 0,
            Err(error) => return Err(error),
        }
    }
    // One answer may come seconds after the other. By the time of the later one, the Leases of the earlier one would look expired,
    // and nobody would wait for these replicas.
    replicas.now = times.into_iter().min().unwrap_or_default();
    replicas.is_hidden &= replicas.all.is_empty();
    replicas.all.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(replicas)
}

/// Waits until all live replicas have seen version `written` of a node, at most for `SEEN_MAX`.
pub(crate) async fn wait(session: &Session, written: u64) -> Result<WaitResult, ApiError> {
    let looks = SEEN_MAX.as_millis() / PAUSE.as_millis();
    for _ in 0..looks {
        let replicas = read(session).await?;
        let by = acknowledgement(replicas.all.iter(), written, replicas.now);
        if !matches!(by, Acknowledgement::NotBy(_)) {
            return Ok(WaitResult { by, replicas });
        }
        tokio::time::sleep(PAUSE).await;
    }
    let replicas = read(session).await?;
    let by = acknowledgement(replicas.all.iter(), written, replicas.now);
    Ok(WaitResult { by, replicas })
}

/// The name of the leader, by the Lease of the election in the replicas' namespaces: its holder is `<replica>_<something>`. `None`
/// if there is no election.
pub(crate) async fn leader(session: &Session, all: &[&Replica]) -> Option<String> {
    let namespaces: BTreeSet<&str> = all.iter().map(|replica| &*replica.meta.namespace).collect();
    for namespace in namespaces {
        let path = format!("{}/{}", path_in(namespace), names::LEADER_LEASE);
        let lease = existing(get(session, &path).await).ok().flatten();
        let holder =
            lease.as_ref().and_then(|lease| lease.pointer("/spec/holderIdentity")).and_then(Value::as_str);
        let name = holder.and_then(|holder| holder.split('_').next()).filter(|name| !name.is_empty());
        if let Some(name) = name {
            return Some(name.to_owned());
        }
    }
    None
}

impl Replicas {
    /// The replicas whose Lease has not expired.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Replica> {
        self.all.iter().filter(|one| one.is_live(self.now))
    }

    /// How the scheduler called `name` enforces reservations.
    pub(crate) fn enforcement(&self, name: &str) -> Enforcement {
        enforcement(self.all.iter(), name, self.now)
    }

    /// The schedulers that enforce reservations, and how.
    pub(crate) fn enforcing(&self) -> BTreeMap<String, Enforcement> {
        let names = self.live().flat_map(|one| one.schedulers.iter().chain(one.extends.iter()));
        names.map(|name| (name.to_string(), self.enforcement(name))).collect()
    }

    /// The schedulers that enforce, in words: `reserve-scheduler (the daemon), default-scheduler (through its extender)`.
    pub(crate) fn words(&self) -> String {
        let word = |(name, enforcement): (String, Enforcement)| match enforcement {
            Enforcement::Scheduler => format!("{name} (the daemon)"),
            Enforcement::Extender => format!("{name} (through its extender)"),
            Enforcement::Nobody => name,
        };
        self.enforcing().into_iter().map(word).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::{Replicas, merge};
    use crate::api::{ApiError, ErrorStatus};
    use common::api::replica::replica;
    use jiff::Timestamp;
    use std::time::Duration;

    fn list(names: &[&str]) -> Result<Replicas, ApiError> {
        let one = |name: &&str| {
            let json = serde_json::json!({ "metadata": { "name": format!("reserve-{name}") } });
            replica(&json.to_string()).unwrap()
        };
        Ok(Replicas { all: names.iter().map(one).collect(), ..Replicas::default() })
    }

    fn refused(code: u16) -> Result<Replicas, ApiError> {
        Err(ApiError::Refused(Box::new(ErrorStatus { code, ..ErrorStatus::default() })))
    }

    #[test]
    fn what_may_not_be_read_is_unknown_and_not_empty() {
        let names = |lists: Vec<Result<Replicas, ApiError>>| {
            let found = merge(lists).unwrap();
            let names: Vec<String> = found.all.iter().map(|one| one.name.to_string()).collect();
            (names.join(" "), found.is_hidden)
        };
        assert_eq!(names(vec![list(&["b"]), list(&["a"])]), ("a b".into(), false));
        assert_eq!(names(vec![list(&["b"]), refused(403)]), ("b".into(), false));
        assert_eq!(names(vec![list(&[]), refused(403)]), (String::new(), false), "there is nobody");
        assert_eq!(names(vec![refused(403), list(&["a"])]), ("a".into(), false));
        assert_eq!(names(vec![refused(403), list(&[])]), (String::new(), true), "nobody knows");
        assert_eq!(names(vec![refused(403), refused(403)]), (String::new(), true));
        assert_eq!(names(vec![refused(403)]), (String::new(), true));
        assert!(merge(vec![list(&["a"]), refused(500)]).is_err(), "half an answer is none");
    }

    #[test]
    fn a_slow_answer_makes_no_lease_of_another_namespace_expire() {
        let at = |seconds: i64| Timestamp::from_second(1_790_000_000 + seconds).unwrap();
        let answered =
            |names: &[&str], seconds: i64| Ok(Replicas { now: at(seconds), ..list(names).unwrap() });
        let mut early = answered(&["a"], 0).unwrap();
        (early.all[0].renew_time, early.all[0].duration) = (Some(at(-5)), Duration::from_secs(15));
        let found = merge(vec![Ok(early), answered(&[], 12)]).unwrap();
        assert_eq!(found.live().count(), 1);
        assert_eq!(merge(vec![answered(&[], 3), refused(403)]).unwrap().now, at(3));
    }
}
