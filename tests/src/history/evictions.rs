//! I2 and I4: our command evicts a pod only if its room is reserved and every live replica has seen the reservation.

use super::cluster_state::ClusterState;
use super::patches::is_of_command;
use super::replay::Replay;
use super::{Counts, Version, Violation, requested_uid};
use crate::control_plane::Write;
use common::model::{Node, Pod, Reservation};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The annotation of a replica's Lease with the newest version of nodes that the replica has seen.
const SEEN_NODES: &str = concat!("reserve", "/seen-nodes");

/// The namespaces of replicas' Leases. Leases elsewhere may be forged by tenants, and do not count.
const DAEMON_NAMESPACES: [&str; 2] = ["kube-reserve", "kube-system"];

/// Checks a pod whose deletion has just begun.
pub(super) fn check(replay: &mut Replay<'_>, version: &Version, pod: &Pod) {
    let mut evictions = replay.history.writes.iter().filter(|write| write.resource == "pods/eviction");
    let eviction = evictions.find(|write| {
        let same_name = *write.name == *pod.key.name && *write.namespace == *pod.key.namespace;
        let same = requested_uid(write).map_or(same_name, |uid| uid == pod.uid);
        // An eviction that came later than the deletion did not cause it.
        same && write.is_stored() && is_of_command(write) && write.at <= version.at
    });
    let Some(eviction) = eviction else { return };
    let key = &pod.key;
    let is_asked = !replay.settings.unreserved.contains(&key.to_string());
    let ask = if is_asked { Counts::check } else { Counts::skip };
    ["I2", "I4"].into_iter().for_each(|rule| ask(&mut replay.counts, rule));
    let Some((node, found)) = reserved_for(&replay.state, pod) else {
        if !is_asked {
            return;
        }
        let unseen = eviction.at - replay.settings.unseen();
        if replay.removed_by_others.get(&pod.uid).is_some_and(|at| *at > unseen) {
            return replay.counts.excuse("I2");
        }
        let what = format!("{key} was evicted, and its room is not reserved");
        replay.violations.push(Violation::new("I2", version.revision, what));
        return;
    };
    let kept = replay.reservations.get(&(node.name.clone(), found.id.to_string()));
    let written = kept.map_or(version.revision, |kept| kept.revision);
    // Writes are in the order of their answers, and several may have the same time.
    let before = replay.history.writes.iter().take_while(|write| !std::ptr::eq(*write, eviction));
    let behind = behind(before.filter(|write| write.answered <= eviction.at), written, eviction.at);
    let found = behind.into_iter().map(|replica| {
        Violation::new(
            "I4",
            version.revision,
            format!("{key} was evicted before {replica} had seen its reservation"),
        )
    });
    let found: Vec<Violation> = found.collect();
    replay.violations.extend(found);
}

/// The reservation that keeps enough room for the replacement of `pod`, on its own node or on another one.
pub fn reserved_for<'p>(state: &'p ClusterState, pod: &Pod) -> Option<(&'p Arc<Node>, &'p Arc<Reservation>)> {
    let all = state.nodes.values().flat_map(|node| node.reservations.iter().map(move |one| (node, one)));
    let mut reservations = all.filter_map(|(node, one)| Some((node, one.valid()?)));
    reservations.find(|(_, one)| {
        let asks = pod.spec.requests.counted();
        one.replaces().is_some_and(|replaced| replaced.uid == pod.uid)
            && asks.iter().all(|(resource, amount)| one.amount.get(&resource) >= amount)
    })
}

/// The live replicas that had not seen revision `written` of the nodes by `now`.
fn behind<'w>(writes: impl Iterator<Item = &'w Write>, written: u64, now: Timestamp) -> Vec<String> {
    let mut leases: BTreeMap<&str, &Value> = BTreeMap::new();
    // The revision of the first Lease of each replica that has not listed anything yet.
    let mut new: BTreeMap<&str, u64> = BTreeMap::new();
    let is_own = |write: &&Write| {
        write.resource == "leases" && write.is_stored() && DAEMON_NAMESPACES.contains(&&*write.namespace)
    };
    for write in writes.filter(is_own) {
        match write.response_object.as_ref() {
            Some(lease)
                if write.verb != "delete" && lease["metadata"]["annotations"][SEEN_NODES].is_string() =>
            {
                leases.insert(&write.name, lease);
                if seen(lease) == 0 {
                    new.entry(&write.name).or_insert_with(|| number(&lease["metadata"]["resourceVersion"]));
                } else {
                    new.remove(&*write.name);
                }
            }
            _ => drop(leases.remove(&*write.name)),
        }
    }
    // As the command judges: a time too far in the future does not count either.
    let is_live = |lease: &Value| {
        let renewed = lease["spec"]["renewTime"].as_str().and_then(|text| text.parse::<Timestamp>().ok());
        let seconds = lease["spec"]["leaseDurationSeconds"].as_i64().unwrap_or(0);
        renewed.is_some_and(|at| now.duration_since(at).abs() < SignedDuration::from_secs(seconds))
    };
    // A new replica lists everything after it has its Lease, so it will see what was written before.
    let will_list = |name: &str| new.get(name).is_some_and(|since| *since > written);
    let behind = leases
        .into_iter()
        .filter(|(name, lease)| is_live(lease) && seen(lease) < written && !will_list(name));
    behind.map(|(name, _)| name.to_owned()).collect()
}

fn seen(lease: &Value) -> u64 {
    number(&lease["metadata"]["annotations"][SEEN_NODES])
}

fn number(text: &Value) -> u64 {
    text.as_str().and_then(|text| text.parse().ok()).unwrap_or(0)
}
