//! Keeping the room: the reservation on the node, in one guarded patch, and its end.

use crate::connect::Session;
use crate::error::{Exit, Failure};
use crate::flow::recreate::{Answer, Why};
use crate::nodes::{DryRun, rewrite};
use common::api::reservation::patch::{Seen, keys_of, patch, reservation_of};
use common::api::reservation::{bounds, encode};
use common::model::reservation::{Origin, Reservation, ReservationId};
use jiff::Timestamp;
use serde_json::Value;

/// Writes `wanted` to the node. One that is there already for the same pod is taken over.
pub(super) async fn reserve(
    session: &Session,
    node: &str,
    node_uid: &str,
    wanted: &Reservation,
    dry_run: DryRun,
) -> Answer {
    let mut refusal = None;
    let mut until = wanted.expires();
    let written = rewrite(session, node, dry_run, |seen| match plan(seen, node_uid, wanted) {
        Ok((patch, end)) => {
            until = Some(end);
            Ok(patch)
        }
        Err(why) => {
            refusal = Some(why);
            Err(Failure::new("it cannot be written"))
        }
    });
    match (written.await, refusal) {
        (_, Some(why)) => Answer::Failed(why),
        (Ok(written), None) => Answer::Reserved { version: written.version, until },
        (Err(failure), None) => failed(failure),
    }
}

/// The patch, if there is anything to write, and when the reservation ends.
fn plan(seen: &Seen<'_>, node_uid: &str, wanted: &Reservation) -> Result<(Option<Value>, Timestamp), Why> {
    let no = |text: String| Why::Failed(text);
    if seen.uid != node_uid {
        return Err(no("the node was replaced by another one of the same name".into()));
    }
    let keys = keys_of(seen.annotations, &wanted.id);
    let found = reservation_of(&keys);
    if let Some(Reservation { origin: Origin::Newer { .. }, .. }) = found {
        return Err(no("what is reserved there was written by a newer version of this command".into()));
    }
    let wanted = taken_over(wanted, found.as_ref());
    let end = wanted.expires().unwrap_or(Timestamp::MAX);
    if found.as_ref() == Some(&wanted) {
        return Ok((None, end));
    }
    let new = encode(&wanted).map_err(|error| no(format!("the reservation cannot be written: {error}")))?;
    bounds::check(seen.annotations, &new).map_err(|full| Why::NoRoom(vec![full.to_string()]))?;
    Ok((Some(patch(seen, &keys, &new, true)), end))
}

/// What is there already was made for the same pod: it becomes ours, no younger and no shorter than it was.
fn taken_over(wanted: &Reservation, found: Option<&Reservation>) -> Reservation {
    let mut wanted = wanted.clone();
    if let (Origin::Recorded(ours), Some(theirs)) = (&mut wanted.origin, found.and_then(Reservation::record))
    {
        let is_past = theirs.expires < ours.created;
        ours.created = if is_past { ours.created } else { theirs.created };
        ours.expires = ours.expires.max(theirs.expires);
    }
    wanted
}

/// Removes the reservation, unless it is another one by now.
pub(super) async fn release(session: &Session, node: &str, id: &ReservationId, request: &str) -> Answer {
    let written = rewrite(session, node, DryRun::None, |seen| {
        let keys = keys_of(seen.annotations, id);
        let found = reservation_of(&keys);
        let is_ours = found.and_then(|found| found.record().map(|record| &*record.request == request));
        Ok(is_ours.unwrap_or(false).then(|| patch(seen, &keys, &[], false)))
    });
    match written.await {
        Ok(_) => Answer::Released,
        Err(failure) => failed(failure),
    }
}

/// Moves the end of a reservation of ours; nothing if it is gone.
pub(crate) async fn extend(
    session: &Session,
    node: &str,
    id: &ReservationId,
    until: Timestamp,
) -> Result<(), Failure> {
    let written = rewrite(session, node, DryRun::None, |seen| {
        let keys = keys_of(seen.annotations, id);
        let Some(mut found) = reservation_of(&keys) else { return Ok(None) };
        if let Origin::Recorded(record) = &mut found.origin {
            if record.expires >= until {
                return Ok(None);
            }
            record.expires = until;
        }
        let new = encode(&found).map_err(Failure::new)?;
        Ok(Some(patch(seen, &keys, &new, false)))
    });
    written.await.map(drop)
}

fn failed(failure: Failure) -> Answer {
    let message = failure.message.unwrap_or_default();
    match failure.exit {
        Exit::Forbidden => {
            let needs = "get, patch nodes and update nodes/reservations".to_owned();
            Answer::Failed(Why::Forbidden { message, needs })
        }
        _ => Answer::Failed(Why::Failed(message)),
    }
}

#[cfg(test)]
mod tests {
    use super::plan;
    use crate::flow::recreate::Why;
    use common::api::reservation::encode;
    use common::api::reservation::patch::Seen;
    use common::model::owner::Owner;
    use common::model::reservation::{
        Origin, Placement, Record, ReplacedPod, Reservation, ReservationId, Seat,
    };
    use common::model::{Resources, Uid};
    use std::collections::BTreeMap;

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
            replaces: Some(ReplacedPod { name: "web-1".into(), uid: "old".into() }),
            priority: 0,
            created: "2026-11-16T08:00:00Z".parse().unwrap(),
            expires: expires.parse().unwrap(),
            request: request.into(),
            by: "admin".into(),
            reason: "kubectl reserve pod".into(),
            placement: Placement::Wait,
        };
        let id = ReservationId { owner: uid, seat: Seat::parse("7f3a0c") };
        Reservation { id, amount, ports: Box::default(), origin: Origin::Recorded(Box::new(record)) }
    }

    fn planned(there: &[(String, String)], wanted: &Reservation) -> Result<(bool, String), Why> {
        let annotations: BTreeMap<String, String> = there.iter().cloned().collect();
        let seen = Seen { uid: "n", version: "1", annotations: &annotations };
        plan(&seen, "n", wanted).map(|(patch, end)| (patch.is_some(), end.to_string()))
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
    fn a_newer_version_and_another_node_are_left_alone() {
        let ours = reservation("ours", "2026-11-16T08:10:00Z");
        let mut newer = encode(&ours).unwrap();
        newer.iter_mut().for_each(|(_, value)| *value = value.replace("\"v\":1", "\"v\":2"));
        assert!(matches!(planned(&newer, &ours), Err(Why::Failed(_))));
        let none = BTreeMap::new();
        let seen = Seen { uid: "other", version: "1", annotations: &none };
        assert!(matches!(plan(&seen, "n", &ours), Err(Why::Failed(_))));
    }
}
