//! Keeping the room of a pod: the patches for the annotations of its node, given what was read there, and whether the node has
//! enough room. Plain functions; `commands/recreate` sends the patches.

use super::recreate::{KeepMethod, StopReason};
use common::api::reservation::patch::{ObservedNode, keys_of, patch, reservation_of};
use common::api::reservation::{bounds, encode};
use common::cluster::{Cluster, ReservationState};
use common::model::reservation::{Origin, Reservation, ReservationId};
use common::model::{Keep, NodeName, Pod};
use jiff::Timestamp;
use serde_json::Value;

/// The patch that writes `wanted` to the node with this UID, if anything must be written, and when the reservation ends.
///
/// # Errors
/// The reason why the reservation cannot be written.
pub fn reserve_patch(
    seen: &ObservedNode<'_>,
    node_uid: &str,
    wanted: &Reservation,
) -> Result<(Option<Value>, Timestamp), StopReason> {
    let no = |text: String| StopReason::Failed(text);
    if seen.uid != node_uid {
        return Err(no("the node was replaced by another one of the same name".into()));
    }
    let keys = keys_of(seen.annotations, &wanted.id);
    let found = reservation_of(&keys);
    if let Some(Reservation { origin: Origin::Newer { .. }, .. }) = found {
        return Err(no("what is reserved there was written by a newer version of this command".into()));
    }
    let wanted = take_over(wanted, found.as_ref());
    let end = wanted.expires().unwrap_or(Timestamp::MAX);
    if found.as_ref() == Some(&wanted) {
        return Ok((None, end));
    }
    let new = encode(&wanted).map_err(|error| no(format!("the reservation cannot be written: {error}")))?;
    bounds::check(seen.annotations, &new).map_err(|full| StopReason::NoRoom(vec![full.to_string()]))?;
    Ok((Some(patch(seen, &keys, &new, true)), end))
}

/// The patch that replaces the reservation `left`, which its pod does not need any more, by `wanted`; none if `left` is gone or
/// was made anew. It is one patch, so that no other pod can take the room in between.
///
/// # Errors
/// The reason why the reservation cannot be written.
pub fn exchange_patch(
    seen: &ObservedNode<'_>,
    node_uid: &str,
    left: &Reservation,
    wanted: &Reservation,
) -> Result<Option<Value>, StopReason> {
    let keys = keys_of(seen.annotations, &left.id);
    let request = |one: &Reservation| one.record().map(|record| record.request.clone());
    if seen.uid != node_uid || reservation_of(&keys).and_then(|found| request(&found)) != request(left) {
        return Ok(None);
    }
    let new = encode(wanted).map_err(|error| StopReason::Failed(format!("cannot be written: {error}")))?;
    let mut rest = seen.annotations.clone();
    keys.iter().for_each(|(key, _)| drop(rest.remove(*key)));
    bounds::check(&rest, &new).map_err(|full| StopReason::NoRoom(vec![full.to_string()]))?;
    Ok(Some(patch(seen, &keys, &new, true)))
}

/// `wanted` with what must survive of the reservation that was found for the same pod: its creation time, its expiry if that is
/// later, and the record fields of a newer version. The run that made it notices this when it rechecks.
fn take_over(wanted: &Reservation, found: Option<&Reservation>) -> Reservation {
    let mut wanted = wanted.clone();
    if let (Origin::Recorded(ours), Some(theirs)) = (&mut wanted.origin, found.and_then(Reservation::record))
    {
        let is_past = theirs.expires < ours.created;
        ours.created = if is_past { ours.created } else { theirs.created };
        ours.expires = ours.expires.max(theirs.expires);
        ours.unknown = theirs.unknown.clone();
    }
    wanted
}

/// Whether the node has the reservation, and it still has our request id: if another run of the command has taken it over, that run
/// may take it back at any moment.
pub fn is_reserved(cluster: &Cluster, node: &NodeName, ours: &Reservation) -> bool {
    let request = |one: &Reservation| one.record().map(|record| record.request.clone());
    let entries = cluster.ledger_of(node).into_iter().flat_map(|ledger| &ledger.entries);
    let mut live =
        entries.filter(|entry| entry.state != ReservationState::Expired).map(|entry| &entry.reservation);
    live.any(|found| found.id == ours.id && request(found) == request(ours))
}

/// Whether the reservation of `pod` must stay although the run that made it stops: the pod is being deleted or gone, so that
/// whoever deleted it may rely on the reservation; or the pod has `reserve/keep` itself.
pub fn is_needed(pod: Option<&Pod>, keep_method: KeepMethod) -> bool {
    pod.is_none_or(|pod| pod.deleting || keep_method == KeepMethod::Reservation && has_keep_annotation(pod))
}

/// Whether the pod has a valid `reserve/keep`: another run of the command may have removed it.
pub fn has_keep_annotation(pod: &Pod) -> bool {
    pod.keep().and_then(Keep::life).is_some()
}

/// The patch that removes the reservation; none if it is gone, or has another request id by now.
pub fn release_patch(seen: &ObservedNode<'_>, id: &ReservationId, request: &str) -> Option<Value> {
    let keys = keys_of(seen.annotations, id);
    let found = reservation_of(&keys);
    let is_ours = found.and_then(|found| found.record().map(|record| &*record.request == request));
    is_ours.unwrap_or(false).then(|| patch(seen, &keys, &[], false))
}

/// The resources of the reservation of which the node has promised more than it has, in words.
pub fn lacks(cluster: &Cluster, node: &NodeName, reservation: Option<&Reservation>) -> Vec<String> {
    let Some(ledger) = cluster.ledger_of(node) else { return Vec::new() };
    let mut promised = ledger.used.clone();
    ledger.entries.iter().for_each(|entry| promised.add_assign(&entry.held));
    let kept = reservation.into_iter().flat_map(|reservation| reservation.amount.iter());
    let over = kept.filter(|(resource, _)| promised.get(resource) > ledger.node.allocatable.get(resource));
    let words = over.map(|(resource, _)| {
        let (promised, has) = (promised.get(&resource), ledger.node.allocatable.get(&resource));
        format!("{resource}: promised {}, allocatable {}", resource.format(promised), resource.format(has))
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::{exchange_patch, has_keep_annotation, is_needed, is_reserved, reserve_patch};
    use crate::flow::recreate::{KeepMethod, StopReason};
    use common::api::reservation::encode;
    use common::api::reservation::patch::ObservedNode;
    use common::cluster::{self, Cluster, Event};
    use common::model::owner::Owner;
    use common::model::reservation::{
        Origin, Placement, Record, ReplacedPod, Reservation, ReservationId, Seat,
    };
    use common::model::{NodeName, Resources, Uid};
    use std::collections::BTreeMap;

    const LATE: &str = "2026-11-16T08:20:00Z";
    const OWNER: &str = "11111111-0000-4000-8000-000000000001";

    fn reservation(request: &str, expires: &str) -> Reservation {
        let mut amount = Resources::default();
        amount.cpu = 1000;
        amount.pods = 1;
        let uid = Uid::from(OWNER);
        let owner = Owner {
            kind: "Deployment".into(),
            namespace: "default".into(),
            name: "web".into(),
            uid: uid.clone(),
        };
        let record = Record {
            owner,
            replaces: Some(ReplacedPod { name: "web-1".into(), uid: "old".into(), seat: None }),
            priority: 0,
            created: "2026-11-16T08:00:00Z".parse().unwrap(),
            expires: expires.parse().unwrap(),
            life: None,
            request: request.into(),
            by: "admin".into(),
            reason: "kubectl reserve pod".into(),
            placement: Placement::Wait,
            unknown: None,
        };
        let id = ReservationId { owner: uid, seat: Seat::parse("7f3a0c") };
        Reservation { id, amount, ports: Box::default(), origin: Origin::Recorded(Box::new(record)) }
    }

    fn planned(there: &[(String, String)], wanted: &Reservation) -> Result<(bool, String), StopReason> {
        let annotations: BTreeMap<String, String> = there.iter().cloned().collect();
        let seen = ObservedNode { uid: "n", version: "1", annotations: &annotations };
        reserve_patch(&seen, "n", wanted).map(|(patch, end)| (patch.is_some(), end.to_string()))
    }

    #[test]
    fn what_is_there_for_the_same_pod_is_taken_over_and_never_shortened() {
        let (late, soon) = ("2026-11-16T08:20:00Z", "2026-11-16T08:10:00Z");
        let ours = reservation("ours", soon);
        assert_eq!(planned(&[], &ours), Ok((true, soon.into())));
        let theirs = encode(&reservation("theirs", late)).unwrap();
        assert_eq!(planned(&theirs, &ours), Ok((true, late.into())), "with our request");
        let same = encode(&ours).unwrap();
        assert_eq!(planned(&same, &ours), Ok((false, soon.into())), "a write whose answer was lost");
    }

    #[test]
    fn what_a_newer_version_says_about_it_stays() {
        let ours = reservation("ours", LATE);
        for request in ["theirs", "ours"] {
            let mut theirs = encode(&reservation(request, "2026-11-16T08:10:00Z")).unwrap();
            for (key, value) in &mut theirs {
                if key.starts_with(common::api::names::INFO) {
                    *value = value.replacen('{', r#"{"later":"field","#, 1);
                }
            }
            let annotations: BTreeMap<String, String> = theirs.into_iter().collect();
            let seen = ObservedNode { uid: "n", version: "1", annotations: &annotations };
            let patch = reserve_patch(&seen, "n", &ours).unwrap().0.unwrap();
            let is_record = |step: &&serde_json::Value| {
                step["op"] != "test"
                    && step["path"].as_str().is_some_and(|path| path.contains("reserve.info"))
            };
            let step = patch.as_array().unwrap().iter().find(is_record).unwrap();
            let record: serde_json::Value = serde_json::from_str(step["value"].as_str().unwrap()).unwrap();
            assert_eq!((&record["later"], &record["expires"]), (&"field".into(), &LATE.into()), "{request}");
        }
    }

    #[test]
    fn what_another_run_took_over_is_no_longer_ours() {
        let (ours, theirs) = (reservation("ours", LATE), reservation("theirs", LATE));
        let there = |what: &[Reservation], now: &str| {
            let annotations: BTreeMap<String, String> =
                what.iter().flat_map(|one| encode(one).unwrap()).collect();
            let json = serde_json::json!({ "metadata": { "name": "n", "uid": "n", "resourceVersion": "1",
                "annotations": annotations }, "status": { "allocatable": { "cpu": "4" } } });
            let mut cluster = Cluster::default();
            let node = common::api::node::node(&json.to_string()).unwrap();
            cluster.apply(Event::Nodes(cluster::WatchEvent::Relisted(vec![node])));
            cluster.advance(now.parse().unwrap());
            is_reserved(&cluster, &NodeName::from("n"), &ours)
        };
        assert!(there(std::slice::from_ref(&ours), "2026-11-16T08:19:59Z"));
        assert!(!there(std::slice::from_ref(&ours), LATE), "its time is over");
        assert!(!there(&[theirs], "2026-11-16T08:19:59Z"), "it may be taken back any moment");
        assert!(!there(&[], "2026-11-16T08:19:59Z"));
    }

    #[test]
    fn what_a_sibling_left_is_exchanged_in_one_patch_or_not_at_all() {
        let left = reservation("left", LATE);
        let mut wanted = reservation("wanted", LATE);
        wanted.id.seat = Seat::parse("8a4b1d");
        let patched = |there: &[Reservation], node: &str| {
            let annotations: BTreeMap<String, String> =
                there.iter().flat_map(|one| encode(one).unwrap()).collect();
            let seen = ObservedNode { uid: node, version: "1", annotations: &annotations };
            exchange_patch(&seen, "n", &left, &wanted).unwrap().map(|patch| patch.to_string())
        };
        let patch = patched(std::slice::from_ref(&left), "n").unwrap();
        for (what, id) in [("remove", &left.id), ("add", &wanted.id)] {
            let step =
                |key: &str| format!("{{\"op\":\"{what}\",\"path\":\"/metadata/annotations/{key}~1{id}\"");
            assert!(patch.contains(&step("reserve.cpu")), "{what}: {patch}");
        }
        assert_eq!(patched(&[], "n"), None, "it was released");
        assert_eq!(patched(&[reservation("theirs", LATE)], "n"), None, "another run took it over");
        assert_eq!(patched(std::slice::from_ref(&left), "other"), None, "another node of that name");
    }

    #[test]
    fn a_pod_wishes_it_only_while_it_says_something_that_makes_sense() {
        let is_wished_by = |annotations: serde_json::Value| {
            let json = serde_json::json!({ "metadata": { "name": "p", "namespace": "default", "uid": "p",
                "resourceVersion": "1", "annotations": annotations }, "spec": { "containers": [] } });
            has_keep_annotation(&common::api::pod::pod(&json.to_string()).unwrap())
        };
        assert!(is_wished_by(serde_json::json!({ "reserve/keep": "5m" })));
        assert!(!is_wished_by(serde_json::json!({ "reserve/keep": "yes" })));
        assert!(!is_wished_by(serde_json::json!({})), "taken back");
    }

    #[test]
    fn what_somebody_else_counts_on_is_needed() {
        let pod = |metadata: serde_json::Value| {
            let mut json = serde_json::json!({ "metadata": { "name": "p", "namespace": "default", "uid": "p",
                "resourceVersion": "1" }, "spec": { "containers": [] } });
            json["metadata"].as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
            common::api::pod::pod(&json.to_string()).unwrap()
        };
        let (stays, leaves) =
            (pod(serde_json::json!({})), pod(serde_json::json!({ "deletionTimestamp": LATE })));
        let wishes = pod(serde_json::json!({ "annotations": { "reserve/keep": "true" } }));
        for (pod, by_reservation, by_wish) in [
            (None, true, true),
            (Some(&stays), false, false),
            (Some(&leaves), true, true),
            (Some(&wishes), true, false),
        ] {
            let needed = [KeepMethod::Reservation, KeepMethod::KeepAnnotation]
                .map(|keep_method| is_needed(pod, keep_method));
            assert_eq!(needed, [by_reservation, by_wish], "{pod:?}");
        }
    }

    #[test]
    fn a_newer_version_and_another_node_are_left_alone() {
        let ours = reservation("ours", "2026-11-16T08:10:00Z");
        let mut newer = encode(&ours).unwrap();
        newer.iter_mut().for_each(|(_, value)| *value = value.replace("\"v\":1", "\"v\":2"));
        assert!(matches!(planned(&newer, &ours), Err(StopReason::Failed(_))));
        let none = BTreeMap::new();
        let seen = ObservedNode { uid: "other", version: "1", annotations: &none };
        assert!(matches!(reserve_patch(&seen, "n", &ours), Err(StopReason::Failed(_))));
    }
}
