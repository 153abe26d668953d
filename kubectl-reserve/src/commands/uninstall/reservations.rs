//! Counts the reservations of all nodes, and removes them.

use crate::connect::Session;
use crate::error::Failure;
use crate::node_patch::{self, DryRun};
use crate::objects;
use common::api::reservation::parse;
use common::api::reservation::patch::{keys_of, patch};
use common::model::reservation::{Origin, ParsedReservation};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NodeReservations {
    pub(super) node: String,
    /// Reservations with a record: made by our programs.
    pub(super) recorded: usize,
    /// All others: in the plain form, of a newer version, or malformed.
    pub(super) others: usize,
}

pub(super) async fn read(session: &Session) -> Result<Vec<NodeReservations>, Failure> {
    let listed = objects::list(session, "/api/v1/nodes", "").await;
    let listed = listed.map_err(|error| error.into_failure("list nodes", "list nodes"))?;
    Ok(listed.iter().map(on_node).filter(|found| found.recorded + found.others > 0).collect())
}

fn on_node(json: &Value) -> NodeReservations {
    let annotations = json.pointer("/metadata/annotations").and_then(Value::as_object);
    let pairs = annotations.into_iter().flatten();
    let pairs = pairs.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)));
    let parsed = parse(pairs);
    let recorded = parsed.iter().filter(|one| is_recorded(one)).count();
    let node = json.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
    NodeReservations { node, recorded, others: parsed.len() - recorded }
}

fn is_recorded(parsed: &ParsedReservation) -> bool {
    parsed.valid().is_some_and(|reservation| matches!(reservation.origin, Origin::Recorded(_)))
}

/// Removes the reservations with a record from a node; with `all` also all others. Returns whether anything was removed.
pub(super) async fn remove(
    session: &Session,
    node: &str,
    all: bool,
    dry_run: DryRun,
) -> Result<bool, Failure> {
    let written = node_patch::rewrite(session, node, dry_run, |seen, _| {
        let keys_to_remove = keys_to_remove(seen.annotations, all);
        Ok::<_, Failure>((!keys_to_remove.is_empty()).then(|| patch(seen, &keys_to_remove, &[], false)))
    });
    Ok(written.await?.is_changed)
}

fn keys_to_remove(annotations: &BTreeMap<String, String>, all: bool) -> Vec<(&str, &str)> {
    let pairs = || annotations.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    if all {
        // An annotation that our parser does not recognise belongs to somebody else.
        return pairs().filter(|pair| !parse([*pair]).is_empty()).collect();
    }
    let parsed = parse(pairs());
    let recorded = parsed.iter().filter(|one| is_recorded(one)).filter_map(|one| one.valid());
    recorded.flat_map(|reservation| keys_of(annotations, &reservation.id)).collect()
}

#[cfg(test)]
mod tests {
    use super::{keys_to_remove, on_node};
    use serde_json::json;
    use std::collections::BTreeMap;

    const OWNER: &str = "11111111-0000-4000-8000-000000000001";

    fn annotations() -> BTreeMap<String, String> {
        let owner = json!({ "kind": "Deployment", "namespace": "default", "name": "web", "uid": OWNER });
        let info = |v| {
            json!({ "v": v, "owner": owner, "priority": 0, "created": "2026-11-16T08:09:12Z",
                    "expires": "2026-11-16T08:19:12Z", "request": "r", "by": "b", "reason": "", "placement": "wait" })
            .to_string()
        };
        let pairs = [
            (format!("reserve.cpu/{OWNER}.abc"), "1".to_owned()),
            (format!("reserve.info/{OWNER}.abc"), info(1)),
            (format!("reserve.cpu/{OWNER}.newer"), "1".to_owned()),
            (format!("reserve.info/{OWNER}.newer"), info(2)),
            (format!("reserve.cpu/{OWNER}"), "2".to_owned()),
            ("reserve.cpu/oops".to_owned(), "2".to_owned()),
            ("reserve.example.com/x".to_owned(), "theirs".to_owned()),
            ("other".to_owned(), "theirs".to_owned()),
        ];
        pairs.into()
    }

    #[test]
    fn recorded_ones_go_and_what_people_wrote_stays_unless_all_is_asked_for() {
        let annotations = annotations();
        let keys = |all| {
            keys_to_remove(&annotations, all).into_iter().map(|(key, _)| key.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(keys(false), [format!("reserve.cpu/{OWNER}.abc"), format!("reserve.info/{OWNER}.abc")]);
        assert_eq!(keys(true).len(), 6);
        assert!(keys(true).iter().all(|key| !key.contains("example.com") && key != "other"));
        let found = on_node(&json!({ "metadata": { "name": "n", "annotations": annotations } }));
        assert_eq!((found.recorded, found.others), (1, 3));
    }
}
