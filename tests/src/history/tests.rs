//! One history in which all goes well, and for each rule the same with one thing done wrong.

mod ends;

use super::{History, Rules, Version, What, check};
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

/// A history in the making: each step is the next revision, ten seconds after the one before.
struct Story {
    history: History,
    revision: u64,
}

impl Story {
    fn new() -> Self {
        Self { history: History { end: moment(0), ..History::default() }, revision: 0 }
    }

    fn next(&mut self) -> (u64, Timestamp) {
        self.revision += 1;
        self.history.end = moment(self.revision);
        (self.revision, moment(self.revision))
    }

    fn add(&mut self, what: impl FnOnce(u64) -> What) {
        let (revision, at) = self.next();
        self.history.versions.push(Version { revision, at, what: what(revision) });
    }

    /// A pod in a version of its own.
    fn pod(&mut self, pod: Value) {
        self.add(|revision| What::Pod(Arc::new(decode_pod(pod, revision))));
    }

    fn pod_gone(&mut self, pod: Value) {
        self.add(|revision| What::PodGone(Arc::new(decode_pod(pod, revision))));
    }

    /// A node with these annotations, written by `user` with `patch`.
    fn node(&mut self, annotations: &Value, user: &str, patch: Value) {
        let node = json!({"metadata": {"name": "n1", "uid": "u", "resourceVersion": "0", "annotations": annotations},
                          "status": {"allocatable": {"cpu": "4", "pods": "10"}}});
        self.add(|revision| {
            let mut node = node;
            node["metadata"]["resourceVersion"] = json!(revision.to_string());
            What::Node(Arc::new(common::api::node::node(&node.to_string()).unwrap()), Arc::new(node))
        });
        let mut write = write(self.revision, user, "patch", "nodes", "n1");
        (write.request_object, write.resource_version_after) = (Some(patch), Some(self.revision.to_string()));
        self.history.writes.push(write);
    }

    /// A pod is bound by `user`.
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

    /// The same where everything had the time to come right, or not.
    fn broken_at(&self, is_calm: bool) -> Vec<&'static str> {
        let rules = Rules {
            daemons: [DAEMON.to_owned()].into(),
            schedulers: ["s".to_owned()].into(),
            is_calm,
            ..Rules::default()
        };
        check(&self.history, &rules).into_iter().map(|violation| violation.rule).collect()
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

/// A pod of web, or of nobody.
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

/// The old pod is bound, its room is reserved, and it is told to go.
fn until_the_old_one_goes() -> Story {
    let mut story = Story::new();
    let controller = json!([{"kind": "Deployment", "name": "web", "uid": WEB, "controller": true}]);
    let set = json!({"metadata": {"name": "set", "namespace": "default", "uid": SET, "ownerReferences": controller},
                     "spec": {"replicas": 1}});
    story.node(&json!({}), "admin", json!({}));
    story.owner("deployments", web(), "create");
    story.owner("replicasets", set, "create");
    let old = pod("old", OLD, "3", true);
    story.pod(old.clone());
    story.bind(&old, None, DAEMON);
    story.node(&reserved(), DAEMON, reserve_patch());
    story.pod(going(old));
    story
}

/// It is gone, and the new one waits.
fn until_the_new_one_waits() -> Story {
    let mut story = until_the_old_one_goes();
    story.pod_gone(going(pod("old", OLD, "3", true)));
    story.pod(pod("new", NEW, "3", true));
    story
}

#[test]
fn when_all_goes_well_nothing_is_broken() {
    let mut story = until_the_new_one_waits();
    story.bind(&pod("new", NEW, "3", true), Some(SEAT), DAEMON);
    story.node(&json!({}), DAEMON, release_patch());
    assert_eq!(story.broken(), Vec::<&str>::new());
}

#[test]
fn i1_a_stranger_in_the_room_that_is_held() {
    let mut story = until_the_new_one_waits();
    let stranger = pod("stranger", STRANGER, "2", false);
    story.bind(&stranger, None, DAEMON);
    assert_eq!(story.broken(), ["I1"]);
    // By another scheduler it is not ours to answer for.
    let mut story = until_the_new_one_waits();
    story.bind(&stranger, None, "kube-scheduler");
    assert_eq!(story.broken(), Vec::<&str>::new());
    // Beside what is held there is room.
    let mut story = until_the_new_one_waits();
    story.bind(&pod("stranger", STRANGER, "1", false), None, DAEMON);
    assert_eq!(story.broken(), Vec::<&str>::new());
}

#[test]
fn i1_a_pod_where_there_is_no_room_at_all() {
    let mut story = until_the_old_one_goes();
    story.bind(&pod("stranger", STRANGER, "2", false), None, DAEMON);
    assert_eq!(story.broken(), ["I1"]);
}

#[test]
fn i1_another_wrote_in_the_last_moment_and_is_to_blame() {
    let mut story = until_the_new_one_waits();
    let other = pod("other", "00000000-0000-4000-8000-00000000000d", "1", false);
    story.bind(&other, None, "kube-scheduler");
    let late = story.history.versions.len() - 1;
    story.bind(&pod("new", NEW, "4", true), Some(SEAT), DAEMON);
    assert_eq!(story.broken(), ["I1"], "ten seconds are enough to see it");
    story.history.versions[late].at = moment(story.revision);
    assert_eq!(story.broken(), Vec::<&str>::new());
}

fn evict(story: &mut Story, revision: u64) {
    let mut write = write(revision, "admin", "create", "pods/eviction", "old");
    write.user_agent = "kubectl-reserve/0.1.0".to_owned();
    write.request_object = Some(json!({"deleteOptions": {"preconditions": {"uid": OLD}}}));
    story.history.writes.push(write);
}

#[test]
fn i2_an_eviction_of_a_pod_whose_room_is_not_reserved() {
    let mut story = until_the_old_one_goes();
    let going = story.revision;
    evict(&mut story, going);
    assert_eq!(story.broken(), Vec::<&str>::new());
    story.history.versions.remove(3);
    assert_eq!(story.broken(), ["I2"]);
}

#[test]
fn i4_an_eviction_before_a_replica_has_seen_the_reservation() {
    for (seen, namespace, broken) in
        [("6", "kube-system", vec![]), ("5", "kube-system", vec!["I4"]), ("5", "shop", vec![])]
    {
        let mut story = until_the_old_one_goes();
        let going = story.revision;
        let mut lease = write(going - 1, DAEMON, "update", "leases", "reserve-a");
        lease.namespace = namespace.into();
        let spec = json!({"renewTime": moment(going - 1), "leaseDurationSeconds": 15});
        lease.response_object =
            Some(json!({"metadata": {"annotations": {"reserve/seen-nodes": seen}}, "spec": spec}));
        story.history.writes.push(lease);
        evict(&mut story, going);
        assert_eq!(story.broken(), broken, "{seen} {namespace}");
    }
}

#[test]
fn i3_a_seat_taken_while_the_replaced_pod_still_sits_there() {
    let mut story = until_the_old_one_goes();
    story.bind(&pod("new", NEW, "1", true), Some(SEAT), DAEMON);
    assert_eq!(story.broken(), ["I3"]);
}

#[test]
fn i3_a_reservation_released_while_its_owner_is_short() {
    let mut story = until_the_new_one_waits();
    story.node(&json!({}), DAEMON, release_patch());
    assert_eq!(story.broken(), ["I3"]);
    let mut story = until_the_new_one_waits();
    story.node(&json!({}), "admin", json!({}));
    assert_eq!(story.broken(), Vec::<&str>::new(), "whoever releases by hand knows why");
    let mut story = until_the_old_one_goes();
    story.node(&json!({}), DAEMON, release_patch());
    assert_eq!(story.broken(), ["I3"], "it is judged once the old one is gone");
}

#[test]
fn i5_one_seat_for_two() {
    let mut story = until_the_new_one_waits();
    story.bind(&pod("new", NEW, "1", true), Some(SEAT), DAEMON);
    story.bind(&pod("newer", STRANGER, "1", true), Some(SEAT), DAEMON);
    assert_eq!(story.broken(), ["I5"]);
    let mut story = until_the_new_one_waits();
    story.bind(&pod("stranger", STRANGER, "1", false), Some(SEAT), DAEMON);
    assert_eq!(story.broken(), ["I5"], "a seat of another owner");
    let mut story = until_the_new_one_waits();
    let mut forged = pod("stranger", STRANGER, "1", false);
    forged["metadata"]["annotations"]["reserve/seat"] = json!(SEAT);
    story.bind(&forged, None, DAEMON);
    assert_eq!(story.broken(), Vec::<&str>::new(), "it says so itself, and we did not");
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
        let mut story = until_the_old_one_goes();
        story.node(&reserved(), DAEMON, patch.clone());
        assert_eq!(story.broken(), ["I6"], "{patch}");
    }
    let mut story = until_the_old_one_goes();
    let mut more = reserved();
    more["foreign"] = json!("key");
    story.node(&more, DAEMON, reserve_patch());
    assert_eq!(story.broken(), ["I6"]);
}

#[test]
fn i7_a_reservation_that_outlives_its_end_or_its_owner() {
    let mut story = until_the_new_one_waits();
    story.history.end = moment(48);
    assert_eq!(story.broken(), Vec::<&str>::new());
    story.history.end = moment(50);
    assert_eq!(story.broken(), ["I7"]);
    let mut story = until_the_new_one_waits();
    story.owner("deployments", web(), "delete");
    assert_eq!(story.broken(), Vec::<&str>::new());
    story.history.end = moment(story.revision + 7);
    assert_eq!(story.broken(), ["I7"]);
}

/// Spoils something.
type Change = fn(&mut Value);

#[test]
fn i8_a_bind_that_should_not_have_been() {
    let cases: [(&str, Change); 3] = [
        ("another scheduler's", |pod| pod["spec"]["schedulerName"] = json!("other")),
        ("gated", |pod| pod["spec"]["schedulingGates"] = json!([{"name": "g"}])),
        ("deleted", |pod| pod["metadata"]["deletionTimestamp"] = json!("2026-11-16T09:00:00Z")),
    ];
    for (what, spoil) in cases {
        let mut story = until_the_new_one_waits();
        let mut stranger = pod("stranger", STRANGER, "1", false);
        spoil(&mut stranger);
        story.pod(stranger.clone());
        story.bind(&stranger, None, DAEMON);
        assert_eq!(story.broken(), ["I8"], "{what}");
    }
    let mut story = until_the_new_one_waits();
    story.bind(&pod("new", NEW, "3", true), Some(SEAT), DAEMON);
    let twice = story.history.writes.last().unwrap().clone();
    story.history.writes.push(Write { request_object: Some(json!({})), ..twice.clone() });
    story.history.writes.push(twice);
    assert_eq!(story.broken(), ["I8", "I8"], "without a UID, and twice");
}
