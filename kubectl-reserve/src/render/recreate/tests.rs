//! Golden output of recreations, at 80 columns.

use super::{
    CompetingPod, RecreatePlan, RecreateSubject, Reports, Shutdown, failure, kept_words, line, plan, summary,
};
use crate::commands::recreate::RecreatedPod;
use crate::flow::budget::{BlockedEviction, Budget};
use crate::flow::recreate::{
    KeepMethod, Leftover, NodeMatch, NodeObservation, Observation, OldPod, ProgressEvent, RecreationOutcome,
    SiblingPod, StopReason, Success,
};
use crate::print::Printable;
use common::cluster::Enforcement;
use serde_json::json;
use std::time::Duration;

const SUBJECT: RecreateSubject<'_> = RecreateSubject {
    pod: "testngx-6d5f9-4xk2p",
    namespace: "default",
    node: "node-2",
    seat: "7f3a0c12ab9d",
    backup: None,
    removed: "evicted",
    is_alone: true,
};

fn budget(name: &str, rule: &str, value: i64, (needs, has, expected): (i64, i64, i64)) -> Budget {
    let json = json!({ "metadata": { "namespace": "default", "name": name },
        "spec": { "selector": { "matchLabels": { "app": "db" } }, rule: value },
        "status": { "desiredHealthy": needs, "currentHealthy": has, "expectedPods": expected,
                    "disruptionsAllowed": (has - needs).max(0) } });
    Budget::read(&json.to_string()).unwrap()
}

fn example() -> RecreatePlan {
    let competing_pod = |name: &str, enforces| CompetingPod {
        name: name.into(),
        asks: "cpu 4000m, memory 2Gi".into(),
        scheduler: if enforces { "reserve-scheduler" } else { "default-scheduler" }.into(),
        enforces: Some(enforces),
    };
    RecreatePlan {
        pod: "default/testngx-6d5f9-4xk2p".into(),
        owners: vec!["ReplicaSet testngx-6d5f9".into(), "Deployment testngx".into()],
        node: "node-2".into(),
        node_state: Some("Ready".into()),
        to: None,
        keep_method: KeepMethod::Reservation,
        amount: "cpu 5000m, memory 2Gi".into(),
        budgets: Some(vec![budget("testngx-pdb", "maxUnavailable", 1, (2, 3, 3))]),
        shutdown: Shutdown { grace: 30, empty_dirs: vec![], finalizers: vec![], ignores_budgets: false },
        scheduler: "reserve-scheduler".into(),
        enforcement: Some(Enforcement::Scheduler),
        competing_pods: Some(vec![
            competing_pod("batch/crunch-0", true),
            competing_pod("batch/crunch-1", true),
            competing_pod("dev/ide-7", false),
            competing_pod("dev/ide-8", true),
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
    let text = plan(&RecreatePlan { to: Some("node-8".into()), ..example() });
    let moved = ["Node        node-2  (Ready)", "moves to node-8, where "];
    assert!(moved.iter().all(|words| text.contains(words)), "{text}");
    assert!(text.contains("place on\n            node-2") || text.contains("place on node-2"), "{text}");
}

#[test]
fn what_may_not_be_read_is_said_to_be_unknown() {
    let text = plan(&RecreatePlan {
        node_state: None,
        keep_method: KeepMethod::KeepAnnotation,
        budgets: None,
        enforcement: None,
        competing_pods: None,
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
    let bound = ProgressEvent::Bound {
        pod: "testngx-6d5f9-x7k2p".into(),
        node: "node-2".into(),
        node_match: NodeMatch::SameNode,
    };
    let moved = ProgressEvent::Bound {
        pod: "testngx-6d5f9-x7k2p".into(),
        node: "node-3".into(),
        node_match: NodeMatch::IntendedNode,
    };
    let strayed = ProgressEvent::Bound {
        pod: "testngx-6d5f9-x7k2p".into(),
        node: "node-4".into(),
        node_match: NodeMatch::Elsewhere,
    };
    let lost = ProgressEvent::ReplacementGone { pod: "testngx-6d5f9-x7k2p".into(), node: "node-4".into() };
    let blocked = BlockedEviction::new(
        vec![budget("db", "maxUnavailable", 1, (2, 2, 3))],
        vec!["db-1".into()],
        true,
        String::new(),
    );
    let events = [
        (ProgressEvent::Blocked(Box::new(blocked)), 100),
        (ProgressEvent::Reserved { until }, 5100),
        (ProgressEvent::Acknowledged { replicas: 2 }, 5160),
        (ProgressEvent::Again(vec!["cpu: promised 5000m, allocatable 4000m".into()]), 5170),
        (ProgressEvent::TakenBack, 5180),
        (ProgressEvent::Unacknowledged, 5190),
        (ProgressEvent::Evicted, 5200),
        (ProgressEvent::Gone, 35_900),
        (ProgressEvent::Created, 35_950),
        (bound, 36_200),
        (moved, 36_300),
        (strayed, 36_400),
        (lost, 42_400),
        (ProgressEvent::Ready, 43_400),
        (ProgressEvent::NotReady { pod: "testngx-6d5f9-x7k2p".into() }, 43_900),
        (ProgressEvent::Released, 125_500),
    ];
    let text_line = |(event, ms): &(ProgressEvent, u64)| {
        line(event, &SUBJECT, "cpu 5000m, memory 2Gi", Duration::from_millis(*ms))
    };
    let deleted = RecreateSubject { removed: "deleted", ..SUBJECT };
    let told = line(&ProgressEvent::Evicted, &deleted, "", Duration::from_secs(5));
    assert_eq!(told, "  ok    5.0s  deleted       pod/testngx-6d5f9-4xk2p");
    insta::assert_snapshot!("news", events.iter().map(text_line).collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_end_is_one_line_and_says_what_stays() {
    let done = |pod: Option<&str>| Success {
        pod: pod.map(Into::into),
        uid: pod.map(Into::into),
        node: pod.map(|_| "node-2".into()),
        node_match: pod.map(|_| NodeMatch::SameNode),
        leftover: Leftover::Nothing,
    };
    let took = Duration::from_millis(38_500);
    assert_eq!(
        summary(&done(Some("testngx-6d5f9-x7k2p")), &SUBJECT, took),
        "pod/testngx-6d5f9-x7k2p recreated on node-2, 38s"
    );
    assert_eq!(summary(&done(None), &SUBJECT, took), "pod/testngx-6d5f9-4xk2p evicted, 38s");
    let until = Some("2026-11-16T14:32:00Z".parse().unwrap());
    assert_eq!(
        kept_words(Leftover::Reservation { until }, &SUBJECT).unwrap(),
        "reservation 7f3a0c12ab9d stays on node-2 until 14:32 UTC; kubectl reserve release 7f3a0c12ab9d -n default"
    );
    assert_eq!(kept_words(Leftover::Nothing, &SUBJECT), None);
    assert_eq!(kept_words(Leftover::TakenBack, &SUBJECT), None);
    assert_eq!(
        kept_words(Leftover::Taken, &SUBJECT).unwrap(),
        "reservation 7f3a0c12ab9d is taken; the daemon releases it"
    );
}

#[test]
fn what_machines_read_is_as_the_schema_says() {
    let recreated = |pod: Option<&str>, leftover| RecreatedPod {
        namespace: "default".into(),
        replaced: "testngx-6d5f9-4xk2p".into(),
        seat: "7f3a0c12ab9d".into(),
        done: Success {
            pod: pod.map(Into::into),
            uid: pod.map(Into::into),
            node: pod.map(|_| "node-2".into()),
            node_match: pod.map(|_| NodeMatch::SameNode),
            leftover,
        },
        took: Duration::from_secs(38),
        summary: "done".into(),
    };
    let done = [
        recreated(Some("testngx-6d5f9-x7k2p"), Leftover::Nothing),
        recreated(None, Leftover::Reservation { until: None }),
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
    let leftover = Leftover::Reservation { until };
    let never =
        BlockedEviction::new(vec![budget("db", "maxUnavailable", 0, (3, 3, 3))], vec![], true, String::new());
    let single =
        BlockedEviction::new(vec![budget("db", "minAvailable", 1, (1, 1, 1))], vec![], true, String::new());
    let two = [("a", 1), ("b", 1)].map(|(name, value)| budget(name, "maxUnavailable", value, (1, 2, 2)));
    let two = BlockedEviction::new(two.into(), vec![], true, String::new());
    let few = BlockedEviction::new(
        vec![budget("db", "minAvailable", 30, (30, 27, 30))],
        vec![],
        true,
        String::new(),
    );
    let stuck = Observation {
        old: Some(OldPod {
            is_leaving: true,
            finalizers: vec!["example.com/wait".into()],
            ..OldPod::default()
        }),
        node: Some(NodeObservation { is_ready: true, ..NodeObservation::default() }),
        ..Observation::default()
    };
    let waiting = Observation {
        node: Some(NodeObservation::default()),
        pods: vec![SiblingPod {
            name: "new".into(),
            waits: Some("0/1 nodes".into()),
            ..SiblingPod::default()
        }],
        ..Observation::default()
    };
    let cases = [
        (StopReason::Budget(Box::new(never)), Leftover::Nothing, false),
        (StopReason::Budget(Box::new(single)), Leftover::Nothing, false),
        (StopReason::Budget(Box::new(two)), Leftover::Nothing, false),
        (StopReason::Budget(Box::new(few)), Leftover::Nothing, false),
        (StopReason::Nobody, Leftover::Nothing, false),
        (StopReason::NotSeen(vec!["daemon-1".into()]), Leftover::Perhaps { until }, false),
        (StopReason::Timeout(Some(Box::new(stuck))), leftover, true),
        (StopReason::Timeout(Some(Box::new(waiting))), leftover, true),
        (StopReason::Interrupted, leftover, true),
        (StopReason::Interrupted, Leftover::Nothing, false),
        (StopReason::Interrupted, Leftover::TakenBack, false),
        (StopReason::Elsewhere { pod: "new".into(), node: "node-9".into() }, Leftover::Nothing, true),
        (StopReason::Lost, Leftover::Nothing, false),
        (StopReason::ReplacementGone { pod: "new".into(), node: "node-2".into() }, Leftover::Nothing, true),
    ];
    let mut text = String::new();
    for (why, leftover, is_evicted) in cases {
        let failure =
            failure(&RecreationOutcome::Stopped { why, leftover, is_evicted, must_create: false }, &SUBJECT);
        text += &format!("exit {}\n{}\n", failure.exit as u8, failure.message.unwrap());
        text += &failure.hint.map(|hint| format!("hint: {hint}\n")).unwrap_or_default();
        text += "\n";
    }
    let one_of_many = RecreateSubject { is_alone: false, ..SUBJECT };
    for leftover in [Leftover::Nothing, Leftover::TakenBack] {
        let stopped = RecreationOutcome::Stopped {
            why: StopReason::Nobody,
            leftover,
            is_evicted: false,
            must_create: false,
        };
        text += &format!("one of many\n{}\n\n", failure(&stopped, &one_of_many).message.unwrap());
    }
    insta::assert_snapshot!("failures", text);
}
