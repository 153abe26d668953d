//! Those who have few rights and use them badly, and workloads that are unlike the others: forged Leases, owners of a kind that
//! nobody reads.

use super::door::status;
use super::record::Record;
use super::scenario::{By, template};
use super::world::World;
use crate::control_plane::Write;
use fastrand::Rng;
use http::{Method, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use sandbox::AnswerBody;
use serde_json::{Value, json};

/// What the forged replica is called. No output of ours may take it for one.
pub(super) const FORGED: &str = "evil";

/// The UID of an owner of a kind that nobody reads.
const CLONES: &str = "00c10000-0000-4000-8000-0000000000cc";
/// How many pods it has.
const CLONES_MAX: usize = 2;

/// Whether the API server has the owner whose pods these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clones {
    /// It does not even know the kind.
    Unserved,
    Found,
    /// The role of the daemons does not have that kind.
    Forbidden,
    /// There is no such object.
    Missing,
}

impl Clones {
    /// What it is in a seed.
    pub(super) fn of(seed: u64) -> Self {
        match seed % 5 {
            0 | 1 => Self::Found,
            2 => Self::Forbidden,
            3 => Self::Missing,
            _ => Self::Unserved,
        }
    }
}

fn owner() -> Value {
    json!({ "apiVersion": "example.com/v1", "kind": "CloneSet",
            "metadata": { "name": "clones", "namespace": "default", "uid": CLONES, "resourceVersion": "1" } })
}

/// What a server answers that has such a kind; none if the question is not about it. The sandbox has only built-in kinds.
pub(super) fn clones(clones: Clones, path: &str) -> Option<Response<AnswerBody>> {
    let (list, object) = ("/apis/example.com/v1", "/apis/example.com/v1/namespaces/default/clonesets/clones");
    let answer = |object: Value| {
        let mut response = Response::new(Full::from(object.to_string()).boxed_unsync());
        response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
        Some(response)
    };
    let why = "clonesets.example.com \"clones\"";
    match clones {
        Clones::Unserved => None,
        _ if path == list => {
            let kind = json!({ "name": "clonesets", "singularName": "cloneset", "namespaced": true, "kind": "CloneSet",
                               "verbs": ["get", "list", "watch"] });
            answer(json!({ "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "example.com/v1",
                           "resources": [kind] }))
        }
        _ if path != object => None,
        Clones::Found => answer(owner()),
        Clones::Forbidden => Some(status(StatusCode::FORBIDDEN, &format!("{why} is forbidden"), None)),
        Clones::Missing => Some(status(StatusCode::NOT_FOUND, &format!("{why} not found"), None)),
    }
}

/// The rules learn that the owner is there, from the audit log as of any other.
pub(super) fn found_clones(record: &Record) {
    let at = record.now();
    let write = Write {
        at,
        answered: at,
        user: "clone-controller".to_owned(),
        user_agent: "other".to_owned(),
        verb: "create".to_owned(),
        resource: "clonesets".to_owned(),
        namespace: "default".to_owned(),
        name: "clones".to_owned(),
        code: 201,
        dry_run: false,
        request_object: None,
        response_object: Some(owner()),
        resource_version_after: Some("1".to_owned()),
        audit_id: String::new(),
    };
    record.wrote(write, None);
}

/// A tenant writes a Lease as a replica of the daemon would, in the tenant's own namespace: one that has seen nothing, or
/// everything. Leases are believed for a minute at most.
pub(super) fn forge_lease(world: &World, rng: &mut Rng) {
    let seen = if rng.bool() { "0".to_owned() } else { u64::MAX.to_string() };
    let name = format!("reserve-{FORGED}");
    let renewed = world.record.now();
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": { "name": name, "namespace": "tenant",
                      "labels": { "app.kubernetes.io/name": "kubectl-reserve" },
                      "annotations": { "reserve/seen-nodes": seen, "reserve/seen-pods": seen,
                                       "reserve/schedulers": "reserve-scheduler,default-scheduler" } },
        "spec": { "holderIdentity": FORGED, "leaseDurationSeconds": 60,
                  "renewTime": renewed.strftime("%Y-%m-%dT%H:%M:%S.000000Z").to_string() } });
    let (door, root) = (world.door("tenant"), "/apis/coordination.k8s.io/v1/namespaces/tenant/leases");
    let (code, _) = door.ask(Method::POST, root, &lease);
    if code == 409 {
        door.ask(Method::PATCH, &format!("{root}/{name}"), &lease);
    }
}

/// The controller of a kind that nobody reads makes a pod again that is gone.
pub(super) fn clone_pods(world: &World, rng: &mut Rng) {
    if world.pods_of("clone").len() >= CLONES_MAX {
        return;
    }
    let mut pod = template("clone", 1000, By::Us);
    (pod["apiVersion"], pod["kind"]) = ("v1".into(), "Pod".into());
    pod["metadata"]["name"] = format!("clone-{}", rng.u16(..)).into();
    pod["metadata"]["namespace"] = "default".into();
    pod["metadata"]["annotations"] = json!({ "reserve/keep": "true" });
    pod["metadata"]["ownerReferences"] = json!([{ "apiVersion": "example.com/v1", "kind": "CloneSet",
                                                  "controller": true, "name": "clones", "uid": CLONES }]);
    world.door("clone-controller").ask(Method::POST, "/api/v1/namespaces/default/pods", &pod);
}
