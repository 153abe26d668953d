//! Tests: names of reservations and what they mean, the order of rows, and filters.

use super::{ReservationFilter, Row, find, matching, parse_arg, rows};
use common::api::node::node;
use common::cluster::{Cluster, Event, WatchEvent};
use serde_json::json;

const OWNER: &str = "11111111-0000-4000-8000-000000000001";
const NOBODY: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";

fn info(namespace: &str) -> String {
    let owner = json!({ "kind": "Deployment", "namespace": namespace, "name": "web", "uid": OWNER });
    json!({ "v": 1, "owner": owner, "created": "2026-11-16T08:09:12Z", "expires": "2026-11-16T08:19:12Z",
            "request": "r1", "placement": "wait" })
    .to_string()
}

/// Two nodes: a name that exists once, one that exists twice, one in another namespace, and a malformed annotation.
fn with_rows(check: impl Fn(&[Row<'_>])) {
    let annotations = [
        json!({
            format!("reserve.cpu/{OWNER}.7f3a0c"): "1", format!("reserve.info/{OWNER}.7f3a0c"): info("default"),
            format!("reserve.cpu/{OWNER}.twice"): "1", format!("reserve.info/{OWNER}.twice"): info("default"),
            format!("reserve.cpu/{NOBODY}"): "500m", "reserve.cpu/oops": "1",
        }),
        json!({
            format!("reserve.cpu/{OWNER}.twice"): "1", format!("reserve.info/{OWNER}.twice"): info("default"),
            format!("reserve.cpu/{OWNER}.shop1"): "1", format!("reserve.info/{OWNER}.shop1"): info("shop"),
        }),
    ];
    let mut number = 0;
    let nodes = annotations.map(|annotations| {
        number += 1;
        let name = format!("node-{number}");
        let json = json!({ "metadata": { "name": name, "uid": name, "annotations": annotations } });
        node(&json.to_string()).unwrap()
    });
    let mut cluster = Cluster::default();
    cluster.apply(Event::Nodes(WatchEvent::Relisted(nodes.into())));
    let snapshot = cluster.snapshot("2026-11-16T08:10:00Z".parse().unwrap());
    check(&rows(&snapshot));
}

/// The reservation that a name means in the namespace default, or the error.
fn meant(name: &str) -> Result<String, String> {
    let mut outcome = Err(String::new());
    let kept = std::cell::RefCell::new(&mut outcome);
    with_rows(|rows| {
        let failure = |failure: crate::error::Failure| {
            let hint = failure.hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            failure.message.unwrap_or_default() + &hint
        };
        let found = parse_arg(name).and_then(|asked| find(rows, &asked, Some("default")).map(Row::id));
        **kept.borrow_mut() = found.map_err(failure);
    });
    outcome
}

#[test]
fn names_mean_one_reservation() {
    for (typed, id) in [
        ("7f3a0c", "node-1/7f3a0c"),
        ("reservation/7f3a0c", "node-1/7f3a0c"),
        ("node-1/7f3a0c", "node-1/7f3a0c"),
        ("node-2/twice", "node-2/twice"),
        ("node-2/shop1", "node-2/shop1"),
        (&format!("{OWNER}.7f3a0c"), "node-1/7f3a0c"),
        (NOBODY, &format!("node-1/{NOBODY}")),
        ("7f3a", "node-1/7f3a0c"),
        ("a8f6", &format!("node-1/{NOBODY}")),
        ("a8f6f901…", &format!("node-1/{NOBODY}")),
        ("reserve.cpu/oops", "node-1/reserve.cpu/oops"),
        ("node-1/reserve.cpu/oops", "node-1/reserve.cpu/oops"),
    ] {
        assert_eq!(meant(typed).as_deref(), Ok(id), "{typed}");
    }
}

#[test]
fn names_that_mean_nothing_or_too_much_are_refused_with_what_there_is() {
    let refused = [
        "7f3a0d",
        "nothing",
        "twice",
        "shop1",
        "node-2/7f3a0c",
        "a8f",
        "",
        "/x",
        "a b/x",
        "x/\u{1b}[2J",
        "…",
    ];
    let told: Vec<String> =
        refused.iter().map(|name| format!("{name:?}: {}", meant(name).unwrap_err())).collect();
    insta::assert_snapshot!("refused_names", told.join("\n\n"));
}

#[test]
fn the_order_is_by_namespace_owner_and_node() {
    with_rows(|rows| {
        let ids: Vec<String> = rows.iter().map(Row::id).collect();
        let last = format!("node-1/{NOBODY}");
        assert_eq!(
            ids,
            [
                "node-1/7f3a0c",
                "node-1/twice",
                "node-2/twice",
                "node-2/shop1",
                &*last,
                "node-1/reserve.cpu/oops"
            ]
        );
    });
}

#[test]
fn filters_keep_what_has_no_known_namespace() {
    with_rows(|rows| {
        let count = |filter: &ReservationFilter| rows.iter().filter(|row| filter.keeps(row)).count();
        let new = |namespace: Option<&str>, node, owner| {
            ReservationFilter::new(namespace.map(str::to_owned), node, owner).unwrap()
        };
        assert_eq!(count(&new(None, None, None)), 6);
        assert_eq!(count(&new(Some("shop"), None, None)), 3);
        assert_eq!(count(&new(Some("default"), Some("node-2"), None)), 1);
        assert_eq!(count(&new(None, None, Some("deploy/web"))), 4);
        assert_eq!(count(&new(None, None, Some("sts/web"))), 0);
        assert_eq!(
            count(&ReservationFilter { is_orphaned: true, ..ReservationFilter::default() }),
            5,
            "the Deployment was not read"
        );
        assert_eq!(count(&ReservationFilter { is_expired: true, ..ReservationFilter::default() }), 0);
        assert!(ReservationFilter::new(None, Some("a b"), None).is_err());
        let asked = parse_arg("twice").unwrap();
        assert_eq!(matching(rows, &asked, None).len(), 2);
    });
}
