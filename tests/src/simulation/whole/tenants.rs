//! Tenants that abuse their few rights (forged Leases), and pods of a custom kind, the CloneSet, which the daemons do not watch.

use super::record::Record;
use super::scenario::{PodScheduler, template};
use super::sim::Sim;
use super::user_api::status;
use crate::control_plane::Write;
use fastrand::Rng;
use http::{Method, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use sandbox::AnswerBody;
use serde_json::{Value, json};

/// The name of the forged replica. Our output must not name it as a replica.
pub(super) const FORGED: &str = "evil";

/// The UID of the CloneSet.
const CLONE_SET_UID: &str = "00c10000-0000-4000-8000-0000000000cc";
/// The number of its pods.
const CLONE_PODS_MAX: usize = 2;

/// What a client gets when it reads the CloneSet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CloneSetAccess {
    /// The API server does not have the kind.
    Unserved,
    Found,
    /// The role of the daemons does not allow the kind.
    Forbidden,
    /// The object does not exist.
    Missing,
}

impl CloneSetAccess {
    /// The case of a seed.
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
            "metadata": { "name": "clones", "namespace": "default", "uid": CLONE_SET_UID, "resourceVersion": "1" } })
}

/// The response to a request for the CloneSet; `None` for other requests. The sandbox itself has only built-in kinds.
pub(super) fn clone_set_response(clone_set: CloneSetAccess, path: &str) -> Option<Response<AnswerBody>> {
    let (list, object) = ("/apis/example.com/v1", "/apis/example.com/v1/namespaces/default/clonesets/clones");
    let answer = |object: Value| {
        let mut response = Response::new(Full::from(object.to_string()).boxed_unsync());
        response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
        Some(response)
    };
    let why = "clonesets.example.com \"clones\"";
    match clone_set {
        CloneSetAccess::Unserved => None,
        _ if path == list => {
            let kind = json!({ "name": "clonesets", "singularName": "cloneset", "namespaced": true, "kind": "CloneSet",
                               "verbs": ["get", "list", "watch"] });
            answer(json!({ "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "example.com/v1",
                           "resources": [kind] }))
        }
        _ if path != object => None,
        CloneSetAccess::Found => answer(owner()),
        CloneSetAccess::Forbidden => {
            Some(status(StatusCode::FORBIDDEN, &format!("{why} is forbidden"), None))
        }
        CloneSetAccess::Missing => Some(status(StatusCode::NOT_FOUND, &format!("{why} not found"), None)),
    }
}

/// Records the creation of the CloneSet: the rules learn about owners from the audit log.
pub(super) fn record_clone_set(record: &Record) {
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
    record.add_write(write, None);
}

/// A tenant writes a Lease like that of a replica of the daemon, in the tenant's own namespace: of a replica that has seen nothing,
/// or everything. Its duration is the longest that counts, a minute.
pub(super) fn forge_lease(sim: &Sim, rng: &mut Rng) {
    let seen = if rng.bool() { "0".to_owned() } else { u64::MAX.to_string() };
    let name = format!("reserve-{FORGED}");
    let renewed = sim.record.now();
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": { "name": name, "namespace": "tenant",
                      "labels": { "app.kubernetes.io/name": "kubectl-reserve" },
                      "annotations": { "reserve/seen-nodes": seen, "reserve/seen-pods": seen,
                                       "reserve/schedulers": "reserve-scheduler,default-scheduler" } },
        "spec": { "holderIdentity": FORGED, "leaseDurationSeconds": 60,
                  "renewTime": renewed.strftime("%Y-%m-%dT%H:%M:%S.000000Z").to_string() } });
    let (api, root) = (sim.api_as("tenant"), "/apis/coordination.k8s.io/v1/namespaces/tenant/leases");
    let (code, _) = api.ask(Method::POST, root, &lease);
    if code == 409 {
        api.ask(Method::PATCH, &format!("{root}/{name}"), &lease);
    }
}

/// The controller of the CloneSet makes a missing pod.
pub(super) fn clone_pods(sim: &Sim, rng: &mut Rng) {
    if sim.pods_of("clone").len() >= CLONE_PODS_MAX {
        return;
    }
    let mut pod = template("clone", 1000, PodScheduler::Us);
    (pod["apiVersion"], pod["kind"]) = ("v1".into(), "Pod".into());
    pod["metadata"]["name"] = format!("clone-{}", rng.u16(..)).into();
    pod["metadata"]["namespace"] = "default".into();
    pod["metadata"]["annotations"] = json!({ "reserve/keep": "true" });
    pod["metadata"]["ownerReferences"] = json!([{ "apiVersion": "example.com/v1", "kind": "CloneSet",
                                                  "controller": true, "name": "clones", "uid": CLONE_SET_UID }]);
    sim.api_as("clone-controller").ask(Method::POST, "/api/v1/namespaces/default/pods", &pod);
}
