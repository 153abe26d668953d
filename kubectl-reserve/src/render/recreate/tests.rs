//! Golden output of recreations, at 80 columns.

use super::{Plan, Reports, Rival, Shutdown, Whom, failure, kept_words, line, plan, summary};
use crate::commands::recreate::Recreated;
use crate::flow::budget::{Blocked, Budget};
use crate::flow::recreate::{
    Done, Keeping, Landed, Newcomer, News, NodeSight, OldPod, Outcome, Sight, Stays, Why,
};
use crate::print::Shown;
use common::cluster::Enforcement;
use serde_json::json;
use std::time::Duration;

const WHOM: Whom<'_> = Whom {
    pod: "testngx-6d5f9-4xk2p",
    namespace: "default",
    node: "node-2",
    seat: "7f3a0c12ab9d",
    backup: None,
    is_alone: true,
};

fn budget(name: &str, rule: &str, value: i64, (needs, has, expected): (i64, i64, i64)) -> Budget {
    let json = json!({ "metadata": { "namespace": "default", "name": name },
        "spec": { "selector": { "matchLabels": { "app": "db" } }, rule: value },
        "status": { "desiredHealthy": needs, "currentHealthy": has, "expectedPods": expected,
                    "disruptionsAllowed": (has - needs).max(0) } });
    Budget::read(&json.to_string()).unwrap()
}

fn example() -> Plan {
    let rival = |name: &str, enforces| Rival {
        name: name.into(),
        asks: "cpu 4000m, memory 2Gi".into(),
        scheduler: if enforces { "reserve-scheduler" } else { "default-scheduler" }.into(),
        enforces,
    };
    Plan {
        pod: "default/testngx-6d5f9-4xk2p".into(),
        owners: vec!["ReplicaSet testngx-6d5f9".into(), "Deployment testngx".into()],
        node: "node-2".into(),
        node_state: Some("Ready".into()),
        to: None,
        keeping: Keeping::Reservation,
        amount: "cpu 5000m, memory 2Gi".into(),
        budgets: Some(vec![budget("testngx-pdb", "maxUnavailable", 1, (2, 3, 3))]),
        shutdown: Shutdown { grace: 30, empty_dirs: vec![], finalizers: vec![], ignores_budgets: false },
        scheduler: "reserve-scheduler".into(),
        enforcement: Some(Enforcement::Scheduler),
        rivals: Some(vec![
            rival("batch/crunch-0", true),
            rival("batch/crunch-1", true),
            rival("dev/ide-7", false),
            rival("dev/ide-8", true),
        ]),
        notes: vec![],
    }
}

#[test]
fn the_plan_says_what_protects_the_pod_and_who_waits_for_its_room() {
    let text = plan(&example());
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!("plan", text);
}

#[test]
fn a_plan_to_move_names_both_nodes() {
    let text = plan(&Plan { to: Some("node-8".into()), ..example() });
    let moved = ["Node        node-2  (Ready)", "moves to node-8, where "];
    assert!(moved.iter().all(|words| text.contains(words)), "{text}");
    assert!(text.contains("place on\n            node-2") || text.contains("place on node-2"), "{text}");
}

#[test]
fn what_may_not_be_read_is_said_to_be_unknown() {
    let text = plan(&Plan {
        node_state: None,
        keeping: Keeping::Wish,
        budgets: None,
        enforcement: None,
        rivals: None,
        notes: vec![
            "the Job may count it as failed (backoffLimit 6), unless its podFailurePolicy ignores \
                     DisruptionTarget"
                .into(),
        ],
        shutdown: Shutdown {
            grace: 30,
            empty_dirs: vec!["cache (memory)".into()],
            finalizers: vec!["batch.kubernetes.io/job-tracking".into()],
            ignores_budgets: false,
        },
        ..example()
    });
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!("plan_tenant", text);
}

#[test]
fn what_happens_is_a_line_each() {
    let until = Some("2026-11-16T08:20:00Z".parse().unwrap());
    let bound =
        News::Bound { pod: "testngx-6d5f9-x7k2p".into(), node: "node-2".into(), landed: Landed::SameNode };
    let moved =
        News::Bound { pod: "testngx-6d5f9-x7k2p".into(), node: "node-3".into(), landed: Landed::Kept };
    let strayed =
        News::Bound { pod: "testngx-6d5f9-x7k2p".into(), node: "node-4".into(), landed: Landed::Elsewhere };
    let lost = News::ReplacementGone { pod: "testngx-6d5f9-x7k2p".into(), node: "node-4".into() };
    let blocked =
        Blocked::new(vec![budget("db", "maxUnavailable", 1, (2, 2, 3))], vec!["db-1".into()], String::new());
    let news = [
        (News::Blocked(Box::new(blocked)), 100),
        (News::Reserved { until }, 5100),
        (News::Acknowledged { replicas: 2 }, 5160),
        (News::Again(vec!["cpu: promised 5000m, allocatable 4000m".into()]), 5170),
        (News::TakenBack, 5180),
        (News::Unacknowledged, 5190),
        (News::Evicted, 5200),
        (News::Gone, 35_900),
        (News::Created, 35_950),
        (bound, 36_200),
        (moved, 36_300),
        (strayed, 36_400),
        (lost, 42_400),
        (News::Ready, 43_400),
        (News::NotReady { pod: "testngx-6d5f9-x7k2p".into() }, 43_900),
        (News::Released, 125_500),
    ];
    let keeps = "node/node-2  cpu 5000m, memory 2Gi";
    let told = |(news, ms): &(News, u64)| {
        line(news, "pod/testngx-6d5f9-4xk2p", keeps, WHOM.seat, Duration::from_millis(*ms))
    };
    insta::assert_snapshot!("news", news.iter().map(told).collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_end_is_one_line_and_says_what_stays() {
    let done = |pod: Option<&str>| Done {
        pod: pod.map(Into::into),
        uid: pod.map(Into::into),
        node: pod.map(|_| "node-2".into()),
        landed: pod.map(|_| Landed::SameNode),
        stays: Stays::Nothing,
    };
    let took = Duration::from_millis(38_500);
    assert_eq!(
        summary(&done(Some("testngx-6d5f9-x7k2p")), &WHOM, took),
        "pod/testngx-6d5f9-x7k2p recreated on node-2, 38s"
    );
    assert_eq!(summary(&done(None), &WHOM, took), "pod/testngx-6d5f9-4xk2p evicted, 38s");
    let until = Some("2026-11-16T14:32:00Z".parse().unwrap());
    assert_eq!(
        kept_words(Stays::Reservation { until }, &WHOM).unwrap(),
        "reservation 7f3a0c12ab9d stays on node-2 until 14:32 UTC; kubectl reserve release 7f3a0c12ab9d -n default"
    );
    assert_eq!(kept_words(Stays::Nothing, &WHOM), None);
    assert_eq!(kept_words(Stays::TakenBack, &WHOM), None);
    assert_eq!(
        kept_words(Stays::Taken, &WHOM).unwrap(),
        "reservation 7f3a0c12ab9d is taken; the daemon releases it"
    );
}

#[test]
fn what_machines_read_is_as_the_schema_says() {
    let recreated = |pod: Option<&str>, stays| Recreated {
        namespace: "default".into(),
        replaced: "testngx-6d5f9-4xk2p".into(),
        seat: "7f3a0c12ab9d".into(),
        done: Done {
            pod: pod.map(Into::into),
            uid: pod.map(Into::into),
            node: pod.map(|_| "node-2".into()),
            landed: pod.map(|_| Landed::SameNode),
            stays,
        },
        took: Duration::from_secs(38),
        summary: "done".into(),
    };
    let done = [
        recreated(Some("testngx-6d5f9-x7k2p"), Stays::Nothing),
        recreated(None, Stays::Reservation { until: None }),
    ];
    let reports = Reports { done: &done };
    let document = reports.document().unwrap();
    crate::print::schema_check::assert_valid(&document);
    insta::assert_snapshot!("recreated_json", serde_json::to_string_pretty(&document).unwrap());
    assert_eq!(reports.names(), ["pod/testngx-6d5f9-x7k2p", "pod/testngx-6d5f9-4xk2p"]);
}

#[test]
fn failures_say_what_stays_and_what_to_do() {
    let until = Some("2026-11-16T14:32:00Z".parse().unwrap());
    let stays = Stays::Reservation { until };
    let never = Blocked::new(vec![budget("db", "maxUnavailable", 0, (3, 3, 3))], vec![], String::new());
    let single = Blocked::new(vec![budget("db", "minAvailable", 1, (1, 1, 1))], vec![], String::new());
    let two = [("a", 1), ("b", 1)].map(|(name, value)| budget(name, "maxUnavailable", value, (1, 2, 2)));
    let two = Blocked::new(two.into(), vec![], String::new());
    let stuck = Sight {
        old: Some(OldPod {
            is_leaving: true,
            finalizers: vec!["example.com/wait".into()],
            ..OldPod::default()
        }),
        node: Some(NodeSight { is_ready: true, ..NodeSight::default() }),
        ..Sight::default()
    };
    let waiting = Sight {
        node: Some(NodeSight::default()),
        pods: vec![Newcomer { name: "new".into(), waits: Some("0/1 nodes".into()), ..Newcomer::default() }],
        ..Sight::default()
    };
    let cases = [
        (Why::Budget(Box::new(never)), Stays::Nothing, false),
        (Why::Budget(Box::new(single)), Stays::Nothing, false),
        (Why::Budget(Box::new(two)), Stays::Nothing, false),
        (Why::Nobody, Stays::Nothing, false),
        (Why::NotSeen(vec!["daemon-1".into()]), Stays::Perhaps { until }, false),
        (Why::Timeout(Some(Box::new(stuck))), stays, true),
        (Why::Timeout(Some(Box::new(waiting))), stays, true),
        (Why::Interrupted, stays, true),
        (Why::Interrupted, Stays::Nothing, false),
        (Why::Interrupted, Stays::TakenBack, false),
        (Why::Elsewhere { pod: "new".into(), node: "node-9".into() }, Stays::Nothing, true),
        (Why::Lost, Stays::Nothing, false),
        (Why::ReplacementGone { pod: "new".into(), node: "node-2".into() }, Stays::Nothing, true),
    ];
    let mut text = String::new();
    for (why, stays, is_evicted) in cases {
        let failure = failure(&Outcome::Stopped { why, stays, is_evicted, must_create: false }, &WHOM);
        text += &format!("exit {}\n{}\n", failure.exit as u8, failure.message.unwrap());
        text += &failure.hint.map(|hint| format!("hint: {hint}\n")).unwrap_or_default();
        text += "\n";
    }
    let one_of_many = Whom { is_alone: false, ..WHOM };
    for stays in [Stays::Nothing, Stays::TakenBack] {
        let stopped = Outcome::Stopped { why: Why::Nobody, stays, is_evicted: false, must_create: false };
        text += &format!("one of many\n{}\n\n", failure(&stopped, &one_of_many).message.unwrap());
    }
    insta::assert_snapshot!("failures", text);
}
