//! Those who have few rights and use them badly, and workloads that are unlike the others: forged Leases, owners of a kind that
//! nobody reads.

use super::town::{By, template};
use super::world::World;
use fastrand::Rng;
use http::Method;
use serde_json::json;

/// What the forged replica is called. No output of ours may take it for one.
pub(super) const FORGED: &str = "evil";

/// The UID of an owner of a kind that nobody reads.
const CLONES: &str = "00c10000-0000-4000-8000-0000000000cc";
/// How many pods it has.
const CLONES_MAX: usize = 2;

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
