//! A history without violations, and for each rule the same history with one thing wrong.

mod ends;
mod passed_on;

use super::{CheckSettings, History, SendInfo, Version, VersionedObject, check};
use crate::control_plane::Write;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::sync::Arc;

const WEB: &str = "00000000-0000-4000-8000-000000000001";
const SET: &str = "00000000-0000-4000-8000-000000000002";
const OLD: &str = "00000000-0000-4000-8000-00000000000a";
const NEW: &str = "00000000-0000-4000-8000-00000000000b";
const STRANGER: &str = "00000000-0000-4000-8000-00000000000c";
const SEAT: &str = "00000000-0000-4000-8000-000000000001.s1";
const DAEMON: &str = "reserve-daemon";

/// Builds a history: each step is the next revision, ten seconds after the one before.
struct HistoryBuilder {
    history: History,
    revision: u64,
}

impl HistoryBuilder {
    fn new() -> Self {
        Self { history: History { end: moment(0), ..History::default() }, revision: 0 }
    }

    fn next(&mut self) -> (u64, Timestamp) {
        self.revision += 1;
        self.history.end = moment(self.revision);
        (self.revision, moment(self.revision))
    }

    fn add(&mut self, object: impl FnOnce(u64) -> VersionedObject) {
        let (revision, at) = self.next();
        self.history.versions.push(Version { revision, at, object: object(revision) });
    }

    /// Adds a version of a pod.
    fn pod(&mut self, pod: Value) {
        self.add(|revision| VersionedObject::Pod(Arc::new(decode_pod(pod, revision))));
    }

    fn pod_gone(&mut self, pod: Value) {
        self.add(|revision| VersionedObject::PodGone(Arc::new(decode_pod(pod, revision))));
    }

    /// Adds a version of the node with these annotations, written by `user` with `patch`.
    fn node(&mut self, annotations: &Value, user: &str, patch: Value) {
        let node = json!({"metadata": {"name": "n1", "uid": "u", "resourceVersion": "0", "annotations": annotations},
                          "status": {"allocatable": {"cpu": "4", "pods": "10"}}});
        self.add(|revision| {
            let mut node = node;
            node["metadata"]["resourceVersion"] = json!(revision.to_string());
            VersionedObject::Node(
                Arc::new(common::api::node::node(&node.to_string()).unwrap()),
                Arc::new(node),
            )
        });
        let mut write = write(self.revision, user, "patch", "nodes", "n1");
        (write.request_object, write.resource_version_after) = (Some(patch), Some(self.revision.to_string()));
        self.history.writes.push(write);
    }

    /// Adds the bind of a pod by `user`.
    fn bind(&mut self, pod: &Value, stamp: Option<&str>, user: &str) {
        let mut bound = pod.clone();
        bound["spec"]["nodeName"] = json!("n1");
        if let Some(stamp) = stamp {
            bound["metadata"]["annotations"]["reserve/seat"] = json!(stamp);
        }
        self.pod(bound);
        let mut write = write(self.revision, user, "create", "pods/binding", "p");
        write.request_object =
            Some(json!({"metadata": {"uid": pod["metadata"]["uid"], "annotations": {"reserve/seat": stamp}},
                        "target": {"name": "n1"}}));
        self.history.writes.push(write);
    }

    fn owner(&mut self, plural: &str, object: Value, verb: &str) {
        let (revision, _) = self.next();
        let mut write = write(revision, "admin", verb, plural, "web");
        (write.response_object, write.resource_version_after) = (Some(object), Some(revision.to_string()));
        self.history.writes.push(write);
    }

    fn broken(&self) -> Vec<&'static str> {
        self.broken_at(false)
    }

    /// The broken rules. `is_calm`: everything had the time to settle.
    fn broken_at(&self, is_calm: bool) -> Vec<&'static str> {
        let settings = CheckSettings {
            daemons: [DAEMON.to_owned()].into(),
            schedulers: ["s".to_owned()].into(),
            is_calm,
            ..CheckSettings::default()
        };
        check(&self.history, &settings).into_iter().map(|violation| violation.rule).collect()
    }
}

fn moment(revision: u64) -> Timestamp {
    let start: Timestamp = "2026-11-16T08:00:00Z".parse().unwrap();
    start + SignedDuration::from_secs(10 * i64::try_from(revision).unwrap())
}

fn write(revision: u64, user: &str, verb: &str, resource: &str, name: &str) -> Write {
    let at = moment(revision);
    Write {
        at,
        answered: at,
        user: user.to_owned(),
        user_agent: user.to_owned(),
        verb: verb.to_owned(),
        resource: resource.to_owned(),
        namespace: "default".to_owned(),
        name: name.to_owned(),
        code: 200,
        dry_run: false,
        request_object: None,
        response_object: None,
        resource_version_after: None,
        audit_id: revision.to_string(),
    }
}

fn decode_pod(mut pod: Value, revision: u64) -> common::model::Pod {
    pod["metadata"]["resourceVersion"] = json!(revision.to_string());
    common::api::pod::pod(&pod.to_string()).unwrap()
}

/// A pod of the Deployment `web`, or a pod without an owner.
fn pod(name: &str, uid: &str, cpu: &str, is_of_web: bool) -> Value {
    let owner = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "set", "uid": SET, "controller": true}]);
    json!({"metadata": {"name": name, "namespace": "default", "uid": uid,
                        "ownerReferences": if is_of_web { owner } else { json!([]) }},
           "spec": {"schedulerName": "s", "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
           "status": {"phase": "Pending"}})
}

fn going(mut pod: Value) -> Value {
    pod["spec"]["nodeName"] = json!("n1");
    pod["metadata"]["deletionTimestamp"] = json!("2026-11-16T09:00:00Z");
    pod
}

/// The annotations of the one reservation: 3 CPUs for web, in place of the old pod.
fn reserved() -> Value {
    let info = json!({"v": 1, "owner": {"kind": "Deployment", "namespace": "default", "name": "web", "uid": WEB},
        "replaces": {"name": "old", "uid": OLD}, "priority": 0, "created": moment(4), "expires": moment(40),
        "request": "r1", "placement": "wait"});
    let keys = ["reserve.cpu", "reserve.info"].map(|key| format!("{key}/{SEAT}"));
    let [cpu, record] = keys;
    json!({cpu: "3", record: info.to_string()})
}

fn reserve_patch() -> Value {
    let path = format!("/metadata/annotations/reserve.cpu~1{SEAT}");
    json!([{"op": "test", "path": "/metadata/uid", "value": "u"}, {"op": "add", "path": path, "value": "3"}])
}

fn release_patch() -> Value {
    let path = format!("/metadata/annotations/reserve.cpu~1{SEAT}");
    json!([{"op": "test", "path": path, "value": "3"}, {"op": "remove", "path": path}])
}

fn web() -> Value {
    json!({"metadata": {"name": "web", "namespace": "default", "uid": WEB}, "spec": {"replicas": 1}})
}

/// The old pod is bound, its room is reserved, and its deletion has begun.
fn until_the_old_one_goes() -> HistoryBuilder {
    let mut builder = HistoryBuilder::new();
    let controller = json!([{"kind": "Deployment", "name": "web", "uid": WEB, "controller": true}]);
    let set = json!({"metadata": {"name": "set", "namespace": "default", "uid": SET, "ownerReferences": controller},
                     "spec": {"replicas": 1}});
    builder.node(&json!({}), "admin", json!({}));
    builder.owner("deployments", web(), "create");
    builder.owner("replicasets", set, "create");
    let old = pod("old", OLD, "3", true);
    builder.pod(old.clone());
    builder.bind(&old, None, DAEMON);
    builder.node(&reserved(), DAEMON, reserve_patch());
    builder.pod(going(old));
    builder
}

/// The old pod is gone, and the new one waits.
fn until_the_new_one_waits() -> HistoryBuilder {
    let mut builder = until_the_old_one_goes();
    builder.pod_gone(going(pod("old", OLD, "3", true)));
    builder.pod(pod("new", NEW, "3", true));
    builder
}

#[test]
fn when_all_goes_well_nothing_is_broken() {
    let mut builder = until_the_new_one_waits();
    builder.bind(&pod("new", NEW, "3", true), Some(SEAT), DAEMON);
    builder.node(&json!({}), DAEMON, release_patch());
    assert_eq!(builder.broken(), Vec::<&str>::new());
}

#[test]
fn i1_a_stranger_in_the_room_that_is_held() {
    let mut builder = until_the_new_one_waits();
    let stranger = pod("stranger", STRANGER, "2", false);
    builder.bind(&stranger, None, DAEMON);
    assert_eq!(builder.broken(), ["I1"]);
    // A bind by another scheduler is not checked.
    let mut builder = until_the_new_one_waits();
    builder.bind(&stranger, None, "kube-scheduler");
    assert_eq!(builder.broken(), Vec::<&str>::new());
    // A smaller pod fits beside the held room.
    let mut builder = until_the_new_one_waits();
    builder.bind(&pod("stranger", STRANGER, "1", false), None, DAEMON);
    assert_eq!(builder.broken(), Vec::<&str>::new());
}

#[test]
fn i1_a_pod_where_there_is_no_room_at_all() {
    let mut builder = until_the_old_one_goes();
    builder.bind(&pod("stranger", STRANGER, "2", false), None, DAEMON);
    assert_eq!(builder.broken(), ["I1"]);
}

#[test]
fn i1_another_wrote_in_the_last_moment_and_is_to_blame() {
    let mut builder = until_the_new_one_waits();
    let other = pod("other", "00000000-0000-4000-8000-00000000000d", "1", false);
    builder.bind(&other, None, "kube-scheduler");
    let late = builder.history.versions.len() - 1;
    builder.bind(&pod("new", NEW, "4", true), Some(SEAT), DAEMON);
    assert_eq!(builder.broken(), ["I1"], "ten seconds are enough to see it");
    builder.history.versions[late].at = moment(builder.revision);
    assert_eq!(builder.broken(), Vec::<&str>::new());
}

#[test]
fn i1_a_binding_that_was_sent_earlier_is_stored_later() {
    // The pod that takes the seat needs one CPU of three, so that two are free from its decision on.
    let mut builder = until_the_new_one_waits();
    builder.bind(&pod("stranger", STRANGER, "2", false), None, DAEMON);
    builder.bind(&pod("new", NEW, "1", true), Some(SEAT), DAEMON);
    assert_eq!(builder.broken(), ["I1"], "it is not known which of the two was decided first");
    let last = builder.history.writes.len() - 1;
    for (of_stranger, of_new, broken) in [(1, 2, vec!["I1"]), (2, 1, vec![])] {
        for (index, number) in [(last - 1, of_stranger), (last, of_new)] {
            let sent = SendInfo { at: builder.history.writes[index].at, deliveries: 0, number };
            builder.history.sends.insert(index, sent);
        }
        assert_eq!(builder.broken(), broken, "the stranger was sent as number {of_stranger}");
    }
}

fn evict(builder: &mut HistoryBuilder, revision: u64) {
    let mut write = write(revision, "admin", "create", "pods/eviction", "old");
    write.user_agent = "kubectl-reserve/0.1.0".to_owned();
    write.request_object = Some(json!({"deleteOptions": {"preconditions": {"uid": OLD}}}));
    builder.history.writes.push(write);
}

#[test]
fn i2_an_eviction_of_a_pod_whose_room_is_not_reserved() {
    let mut builder = until_the_old_one_goes();
    let going = builder.revision;
    evict(&mut builder, going);
    assert_eq!(builder.broken(), Vec::<&str>::new());
    builder.history.versions.remove(3);
    assert_eq!(builder.broken(), ["I2"]);
}

#[test]
fn i4_an_eviction_before_a_replica_has_seen_the_reservation() {
    for (seen, namespace, broken) in
        [("6", "kube-system", vec![]), ("5", "kube-system", vec!["I4"]), ("5", "shop", vec![])]
    {
        let mut builder = until_the_old_one_goes();
        let going = builder.revision;
        let mut lease = write(going - 1, DAEMON, "update", "leases", "reserve-a");
        lease.namespace = namespace.into();
        let spec = json!({"renewTime": moment(going - 1), "leaseDurationSeconds": 15});
        lease.response_object =
            Some(json!({"metadata": {"annotations": {"reserve/seen-nodes": seen}}, "spec": spec}));
        builder.history.writes.push(lease);
        evict(&mut builder, going);
        assert_eq!(builder.broken(), broken, "{seen} {namespace}");
    }
}

#[test]
fn i3_a_seat_taken_while_the_replaced_pod_still_sits_there() {
    let mut builder = until_the_old_one_goes();
    builder.bind(&pod("new", NEW, "1", true), Some(SEAT), DAEMON);
    assert_eq!(builder.broken(), ["I3"]);
}

#[test]
fn i3_a_reservation_released_while_its_owner_is_short() {
    let mut builder = until_the_new_one_waits();
    builder.node(&json!({}), DAEMON, release_patch());
    assert_eq!(builder.broken(), ["I3"]);
    let mut builder = until_the_new_one_waits();
    builder.node(&json!({}), "admin", json!({}));
    assert_eq!(builder.broken(), Vec::<&str>::new(), "whoever releases by hand knows why");
    let mut builder = until_the_old_one_goes();
    builder.node(&json!({}), DAEMON, release_patch());
    assert_eq!(builder.broken(), ["I3"], "it is judged once the old one is gone");
}

#[test]
fn i5_one_seat_for_two() {
    let mut builder = until_the_new_one_waits();
    builder.bind(&pod("new", NEW, "1", true), Some(SEAT), DAEMON);
    builder.bind(&pod("newer", STRANGER, "1", true), Some(SEAT), DAEMON);
    assert_eq!(builder.broken(), ["I5"]);
    let mut builder = until_the_new_one_waits();
    builder.bind(&pod("stranger", STRANGER, "1", false), Some(SEAT), DAEMON);
    assert_eq!(builder.broken(), ["I5"], "a seat of another owner");
    let mut builder = until_the_new_one_waits();
    let mut forged = pod("stranger", STRANGER, "1", false);
    forged["metadata"]["annotations"]["reserve/seat"] = json!(SEAT);
    builder.bind(&forged, None, DAEMON);
    assert_eq!(builder.broken(), Vec::<&str>::new(), "it says so itself, and we did not");
}

#[test]
fn i6_a_write_that_is_not_guarded_or_not_ours() {
    let bad = [
        json!({"metadata": {"annotations": {}}}),
        json!([{"op": "remove", "path": format!("/metadata/annotations/reserve.cpu~1{SEAT}")}]),
        json!([{"op": "test", "path": "/metadata/uid", "value": "u"}, {"op": "add", "path": "/spec/unschedulable"}]),
        json!([{"op": "add", "path": format!("/metadata/annotations/reserve.cpu~1{SEAT}"), "value": "3"}]),
    ];
    for patch in bad {
        let mut builder = until_the_old_one_goes();
        builder.node(&reserved(), DAEMON, patch.clone());
        assert_eq!(builder.broken(), ["I6"], "{patch}");
    }
    let mut builder = until_the_old_one_goes();
    let mut more = reserved();
    more["foreign"] = json!("key");
    builder.node(&more, DAEMON, reserve_patch());
    assert_eq!(builder.broken(), ["I6"]);
}

#[test]
fn i7_a_reservation_that_outlives_its_end_or_its_owner() {
    let mut builder = until_the_new_one_waits();
    builder.history.end = moment(48);
    assert_eq!(builder.broken(), Vec::<&str>::new());
    builder.history.end = moment(50);
    assert_eq!(builder.broken(), ["I7"]);
    let mut builder = until_the_new_one_waits();
    builder.owner("deployments", web(), "delete");
    assert_eq!(builder.broken(), Vec::<&str>::new());
    builder.history.end = moment(builder.revision + 7);
    assert_eq!(builder.broken(), ["I7"]);
}

/// Makes a pod invalid for a bind.
type PodEdit = fn(&mut Value);

#[test]
fn i8_a_bind_that_should_not_have_been() {
    let cases: [(&str, PodEdit); 3] = [
        ("another scheduler's", |pod| pod["spec"]["schedulerName"] = json!("other")),
        ("gated", |pod| pod["spec"]["schedulingGates"] = json!([{"name": "g"}])),
        ("deleted", |pod| pod["metadata"]["deletionTimestamp"] = json!("2026-11-16T09:00:00Z")),
    ];
    for (what, spoil) in cases {
        let mut builder = until_the_new_one_waits();
        let mut stranger = pod("stranger", STRANGER, "1", false);
        spoil(&mut stranger);
        builder.pod(stranger.clone());
        builder.bind(&stranger, None, DAEMON);
        assert_eq!(builder.broken(), ["I8"], "{what}");
    }
    let mut builder = until_the_new_one_waits();
    builder.bind(&pod("new", NEW, "3", true), Some(SEAT), DAEMON);
    let twice = builder.history.writes.last().unwrap().clone();
    builder.history.writes.push(Write { request_object: Some(json!({})), ..twice.clone() });
    builder.history.writes.push(twice);
    assert_eq!(builder.broken(), ["I8", "I8"], "without a UID, and twice");
}
