//! Generates storage: the claims and volumes of a cluster ([`storage`]), and the volumes of a pod ([`Storage::mounted`]).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::claims;
use super::csi::{self, FAST};
use super::disks;
use super::labels::NAMESPACES;
use super::nodes::{GeneratedNode, IMAGES};
use super::rng::Rng;

/// The state of a claim.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimKind {
    /// Waits for the first consumer.
    Waits,
    /// Bound to a volume.
    Bound,
    /// Cannot be used, or only on some nodes.
    Wrong,
    /// The claim of an ephemeral volume, which belongs to one pod.
    Owned,
}

/// The claims and volumes of a cluster.
#[derive(Default)]
pub(super) struct Storage {
    claims: Vec<(ClaimKind, Value)>,
    volumes: Vec<Value>,
    /// The number of volumes made, including removed ones.
    made: usize,
}

/// The pod that mounts volumes.
#[derive(Clone, Copy)]
pub(super) struct Mounter<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) uid: &'a str,
    /// Whether the pod is on a node, so that its claims are bound.
    pub(super) runs: bool,
}

/// Makes claims in every namespace, and some unbound volumes.
pub(super) fn storage(rng: &mut Rng, nodes: &[GeneratedNode]) -> Storage {
    let mut storage = Storage::default();
    for _ in 0..rng.between(4, 8 + nodes.len() as u64) {
        let spare = disks::spare(rng, storage.next(), nodes);
        storage.put(spare);
    }
    for namespace in NAMESPACES {
        claims::fill(rng, &mut storage, namespace, nodes);
    }
    storage
}

impl Storage {
    pub(super) fn add(&mut self, kind: ClaimKind, claim: Value) {
        self.claims.push((kind, claim));
    }

    pub(super) fn put(&mut self, volume: Value) {
        self.volumes.push(volume);
    }

    /// The number of the next volume.
    pub(super) fn next(&mut self) -> usize {
        self.made += 1;
        self.made - 1
    }

    pub(super) fn bind(&mut self, rng: &mut Rng, claim: &mut Value, nodes: &[GeneratedNode]) {
        let number = self.next();
        let volume = disks::bound(rng, number, claim, nodes);
        self.put(volume);
    }

    pub(super) fn drop_last(&mut self) {
        self.volumes.pop();
    }

    /// All objects of storage, by kind; empty if the cluster has no claims.
    pub(super) fn objects(&self, rng: &mut Rng, nodes: &[GeneratedNode]) -> Vec<(&'static str, Vec<Value>)> {
        if self.claims.is_empty() {
            return Vec::new();
        }
        let mut objects = csi::objects(rng, nodes, &self.volumes);
        objects
            .push(("persistentVolumeClaims", self.claims.iter().map(|(_, claim)| claim.clone()).collect()));
        objects.push(("persistentVolumes", self.volumes.clone()));
        objects
    }

    /// The volumes of a pod: claims of its namespace, ephemeral volumes, disks, images.
    pub(super) fn mounted(&mut self, rng: &mut Rng, nodes: &[GeneratedNode], who: Mounter<'_>) -> Vec<Value> {
        let count = *rng.pick(&[1, 1, 1, 1, 2, 3]);
        let mut mounted: Vec<Value> = (0..count)
            .map(|number| {
                let name = format!("v{number}");
                match rng.below(20) {
                    0..=3 => disk(rng, &name),
                    8..=16 if who.runs => disk(rng, &name),
                    4 => image(rng, &name),
                    5..=7 => self.ephemeral(rng, &name, nodes, who),
                    _ => self.claimed(rng, &name, who),
                }
            })
            .collect();
        // Each claim only once: for a claim that a pod mounts twice upstream chooses two volumes, and which one counts is random.
        let mut claims = BTreeSet::new();
        mounted.retain(|volume| match volume.pointer("/persistentVolumeClaim/claimName") {
            Some(claim) => claims.insert(claim.to_string()),
            None => true,
        });
        mounted
    }

    /// A volume with a claim that other pods may use too.
    fn claimed(&self, rng: &mut Rng, name: &str, who: Mounter<'_>) -> Value {
        let kind = match rng.below(100) {
            _ if who.runs => ClaimKind::Bound,
            0..=69 => ClaimKind::Waits,
            70..=96 => ClaimKind::Bound,
            97 | 98 => ClaimKind::Wrong,
            _ => return json!({ "name": name, "persistentVolumeClaim": { "claimName": "no-such-claim" } }),
        };
        let ours = |(of, claim): &&(ClaimKind, Value)| {
            *of == kind && claim["metadata"]["namespace"] == who.namespace
        };
        let claims: Vec<&(ClaimKind, Value)> = self.claims.iter().filter(ours).collect();
        match claims.get(rng.index(claims.len().max(1))) {
            Some((_, claim)) => {
                json!({ "name": name, "persistentVolumeClaim": { "claimName": claim["metadata"]["name"] } })
            }
            None => json!({ "name": name, "configMap": { "name": "settings" } }),
        }
    }

    /// A generic ephemeral volume. A controller makes its claim, which may be missing yet.
    fn ephemeral(&mut self, rng: &mut Rng, name: &str, nodes: &[GeneratedNode], who: Mounter<'_>) -> Value {
        let mut claim = claims::claim(rng, who.namespace, &format!("{}-{name}", who.name), FAST);
        claim["spec"]["accessModes"] = json!(["ReadWriteOnce"]);
        let template = json!({ "spec": claim["spec"] });
        let owner = |uid: &str| json!([{ "apiVersion": "v1", "kind": "Pod", "name": who.name, "uid": uid, "controller": true }]);
        claim["metadata"]["ownerReferences"] = owner(who.uid);
        if who.runs || rng.chance(30) {
            self.bind(rng, &mut claim, nodes);
        }
        match rng.below(20) {
            0 | 1 if !who.runs => {}
            // The claim belongs to an earlier pod of the same name.
            2 if !who.runs => {
                claim["metadata"]["ownerReferences"] = owner(&rng.uid());
                self.add(ClaimKind::Owned, claim);
            }
            _ => self.add(ClaimKind::Owned, claim),
        }
        json!({ "name": name, "ephemeral": { "volumeClaimTemplate": template } })
    }
}

/// An in-line disk of a pod; few different ones, so that pods conflict.
fn disk(rng: &mut Rng, name: &str) -> Value {
    let disk = format!("disk-{}", rng.below(2));
    let read_only = rng.chance(40);
    match rng.below(9) {
        0 | 1 => json!({ "name": name, "gcePersistentDisk": { "pdName": disk, "readOnly": read_only } }),
        2 | 3 => json!({ "name": name, "awsElasticBlockStore": { "volumeID": disk } }),
        4 | 5 => json!({ "name": name, "iscsi": {
            "targetPortal": "10.0.0.9:3260", "iqn": format!("iqn.2026-01.example:{disk}"), "lun": 0, "readOnly": read_only,
        } }),
        6 | 7 => {
            let monitors =
                rng.pick(&[["10.0.0.7", "10.0.0.8"], ["10.0.0.8", "10.0.0.9"], ["10.0.1.1", "10.0.1.2"]]);
            json!({ "name": name, "rbd": {
                "monitors": monitors, "image": disk, "pool": rng.pick(&["rbd", "rbd", "cold"]), "readOnly": read_only,
            } })
        }
        _ => json!({ "name": name, "emptyDir": {} }),
    }
}

fn image(rng: &mut Rng, name: &str) -> Value {
    json!({ "name": name, "image": { "reference": rng.pick(&IMAGES).0, "pullPolicy": "IfNotPresent" } })
}
