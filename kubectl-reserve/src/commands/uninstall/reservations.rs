//! The reservations of all nodes, and taking those away that are to go.

use crate::connect::Session;
use crate::error::Failure;
use crate::node_patch::{self, DryRun};
use crate::objects;
use common::api::reservation::parse;
use common::api::reservation::patch::{keys_of, patch};
use common::model::reservation::{Origin, Parsed};
use serde_json::Value;
use std::collections::BTreeMap;

/// What one node has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OnNode {
    pub(super) node: String,
    /// With a record: made by our programs.
    pub(super) recorded: usize,
    /// Everything else that is ours by its name: made by hand, of a newer version, malformed.
    pub(super) others: usize,
}

/// What each node has that has anything.
pub(super) async fn read(session: &Session) -> Result<Vec<OnNode>, Failure> {
    let listed = objects::list(session, "/api/v1/nodes", "").await;
    let listed = listed.map_err(|error| error.into_failure("list nodes", "list nodes"))?;
    Ok(listed.iter().map(on_node).filter(|found| found.recorded + found.others > 0).collect())
}

fn on_node(json: &Value) -> OnNode {
    let annotations = json.pointer("/metadata/annotations").and_then(Value::as_object);
    let pairs = annotations.into_iter().flatten();
    let pairs = pairs.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)));
    let parsed = parse(pairs);
    let recorded = parsed.iter().filter(|one| is_recorded(one)).count();
    let node = json.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
    OnNode { node, recorded, others: parsed.len() - recorded }
}

fn is_recorded(parsed: &Parsed) -> bool {
    parsed.valid().is_some_and(|reservation| matches!(reservation.origin, Origin::Recorded(_)))
}

/// Takes the recorded reservations of a node away; everything of ours if `all`.
pub(super) async fn remove(
    session: &Session,
    node: &str,
    all: bool,
    dry_run: DryRun,
) -> Result<bool, Failure> {
    let written = node_patch::rewrite(session, node, dry_run, |seen| {
        let doomed = doomed(seen.annotations, all);
        Ok((!doomed.is_empty()).then(|| patch(seen, &doomed, &[], false)))
    });
    Ok(written.await?.is_changed)
}

/// The annotations that are to go.
fn doomed(annotations: &BTreeMap<String, String>, all: bool) -> Vec<(&str, &str)> {
    let pairs = || annotations.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    if all {
        // What means nothing to us by itself is somebody else's.
        return pairs().filter(|pair| !parse([*pair]).is_empty()).collect();
    }
    let parsed = parse(pairs());
    let recorded = parsed.iter().filter(|one| is_recorded(one)).filter_map(|one| one.valid());
    recorded.flat_map(|reservation| keys_of(annotations, &reservation.id)).collect()
}

#[cfg(test)]
mod tests {
    use super::{doomed, on_node};
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
        let keys =
            |all| doomed(&annotations, all).into_iter().map(|(key, _)| key.to_owned()).collect::<Vec<_>>();
        assert_eq!(keys(false), [format!("reserve.cpu/{OWNER}.abc"), format!("reserve.info/{OWNER}.abc")]);
        assert_eq!(keys(true).len(), 6);
        assert!(keys(true).iter().all(|key| !key.contains("example.com") && key != "other"));
        let found = on_node(&json!({ "metadata": { "name": "n", "annotations": annotations } }));
        assert_eq!((found.recorded, found.others), (1, 3));
    }
}
