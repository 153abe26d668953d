//! What is counted, and the text of the metrics.

use super::{Metrics, PodResources, text};
use crate::clock::Clock;
use crate::connect::CallCounter as _;
use crate::state::{AttemptResult, ComparisonResult, Figures, Note};
use common::cluster::compare::{Difference, DifferenceKind};
use common::framework::Status;
use common::model::ExtensionPoint;
use http::{Method, StatusCode};
use std::time::Duration;

fn attempt(result: AttemptResult) -> Note {
    Note::Attempt { profile: "default-scheduler".into(), result }
}

#[test]
fn attempts_by_result_and_profile_with_their_share_of_the_time() {
    let metrics = Metrics::default();
    let notes = [
        attempt(AttemptResult::Scheduled),
        attempt(AttemptResult::Scheduled),
        attempt(AttemptResult::Unschedulable),
    ];
    metrics.handled(Duration::from_millis(6), &notes);
    metrics.handled(Duration::from_secs(9), &[]);
    let text = metrics.text();
    let expected = [
        "# TYPE scheduler_schedule_attempts_total counter",
        "scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"scheduled\"} 2",
        "scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"unschedulable\"} 1",
        "scheduler_scheduling_attempt_duration_seconds_bucket{le=\"0.002\",profile=\"default-scheduler\",result=\"scheduled\"} 2",
        "scheduler_scheduling_algorithm_duration_seconds_count 3",
    ];
    for line in expected {
        assert!(text.lines().any(|said| sorted(said) == sorted(line)), "{line} is not in\n{text}");
    }
}

/// The line with its labels in alphabetical order: the order of labels has no meaning, and ours differs from upstream's.
fn sorted(line: &str) -> String {
    let Some((name, rest)) = line.split_once('{') else { return line.to_owned() };
    let Some((labels, value)) = rest.split_once('}') else { return line.to_owned() };
    let mut labels: Vec<&str> = labels.split(',').collect();
    labels.sort_unstable();
    format!("{name}{{{}}}{value}", labels.join(","))
}

#[test]
fn bindings_by_how_often_the_pod_was_tried() {
    let metrics = Metrics::default();
    for attempts in [1, 14, 15, 200] {
        let was_flushed = attempts == 14;
        metrics.note(&Note::Bound { profile: "x".into(), attempts, waited_ms: 1500, was_flushed });
    }
    let text = metrics.text();
    for (attempts, count) in [("1", 1), ("14", 1), ("15+", 2)] {
        let line =
            format!("scheduler_pod_scheduling_sli_duration_seconds_count{{attempts=\"{attempts}\"}} {count}");
        assert!(text.contains(&line), "{line} is not in\n{text}");
    }
    assert!(text.contains("scheduler_pod_scheduling_attempts_bucket{le=\"16\"} 3\n"), "whole bounds: {text}");
    assert!(text.contains("scheduler_pod_scheduled_after_flush_total 1\n"), "{text}");
}

#[test]
fn comparisons_by_result_and_what_the_last_one_found() {
    let metrics = Metrics::default();
    let difference = |kind| Difference { kind, description: "pod default/secret: it differs".to_owned() };
    let differences = vec![difference(DifferenceKind::Pods), difference(DifferenceKind::Pods)];
    metrics.note(&Note::Compared(ComparisonResult::Equal));
    metrics.note(&Note::Compared(ComparisonResult::Different(differences)));
    metrics.note(&Note::Compared(ComparisonResult::Unknown("no answer".to_owned())));
    let text = metrics.text();
    let expected = [
        "reserve_cache_comparisons_total{result=\"equal\"} 1",
        "reserve_cache_comparisons_total{result=\"different\"} 1",
        "reserve_cache_comparisons_total{result=\"unknown\"} 1",
        "reserve_cache_differences{kind=\"nodes\"} 0",
        "reserve_cache_differences{kind=\"pods\"} 2",
        "reserve_cache_differences{kind=\"books\"} 0",
    ];
    for line in expected {
        assert!(text.lines().any(|said| said == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("secret"), "no name is a label");
    metrics.note(&Note::Compared(ComparisonResult::Equal));
    assert!(metrics.text().contains("reserve_cache_differences{kind=\"pods\"} 0\n"));
}

#[test]
fn figures_leadership_and_calls() {
    let metrics = Metrics::default();
    let figures = Figures { nodes: 3, reservations: [("Held", 2)].into(), ..Figures::default() };
    metrics.figures(&figures);
    metrics.leading(Some("reserve-daemon"), true);
    metrics.called("127.0.0.1:6443", &Method::GET, Some(StatusCode::OK));
    metrics.called("127.0.0.1:6443", &Method::GET, None);
    let text = metrics.text();
    let expected = [
        "scheduler_cache_size{type=\"nodes\"} 3",
        "reserve_reservations{state=\"held\"} 2",
        "reserve_is_leader 1",
        "leader_election_master_status{name=\"reserve-daemon\"} 1",
        "rest_client_requests_total{code=\"200\",host=\"127.0.0.1:6443\",method=\"GET\"} 1",
        "rest_client_requests_total{code=\"<error>\",host=\"127.0.0.1:6443\",method=\"GET\"} 1",
    ];
    for line in expected {
        assert!(text.lines().any(|said| said == line), "{line} is not in\n{text}");
    }
}

#[tokio::test]
async fn whoever_measures_plugins_is_heard() {
    let metrics = Metrics::default();
    let meter = metrics.meter("x", &Clock::start());
    assert!(meter.now() <= meter.now());
    meter.record_extension_point(ExtensionPoint::Filter, Status::Success, Duration::from_micros(150));
    meter.record_extension_point(ExtensionPoint::Filter, Status::Success, Duration::from_millis(150));
    meter.record_plugin(
        "DefaultPreemption",
        ExtensionPoint::PostFilter,
        Status::Unschedulable,
        Duration::from_millis(3),
    );
    meter.record_plugin("Other", ExtensionPoint::PostFilter, Status::Unschedulable, Duration::from_millis(3));
    let text = metrics.text();
    let expected = [
        "scheduler_framework_extension_point_duration_seconds_bucket{le=\"0.0002\",extension_point=\"Filter\",profile=\"x\",status=\"Success\"} 1",
        "scheduler_framework_extension_point_duration_seconds_count{extension_point=\"Filter\",profile=\"x\",status=\"Success\"} 2",
        "scheduler_plugin_execution_duration_seconds_count{extension_point=\"PostFilter\",plugin=\"Other\",status=\"Unschedulable\"} 1",
        "scheduler_preemption_evaluation_duration_seconds_count{preemptor=\"pod\",result=\"Unschedulable\"} 1",
    ];
    for line in expected {
        assert!(text.lines().any(|said| sorted(said) == sorted(line)), "{line} is not in\n{text}");
    }
}

#[test]
fn plugins_that_keep_nobody_from_a_place_any_more_are_not_named() {
    let metrics = Metrics::default();
    let rejected = [(("x".into(), "NodePorts"), 2)].into();
    metrics.figures(&Figures { rejected, unschedulable: 2, ..Figures::default() });
    let text = metrics.text();
    assert!(text.contains("scheduler_unschedulable_pods{plugin=\"NodePorts\",profile=\"x\"} 2\n"), "{text}");
    assert!(text.contains("scheduler_queued_entities{queue=\"unschedulable\",type=\"pod\"} 2\n"), "{text}");
    metrics.figures(&Figures::default());
    assert!(!metrics.text().contains("NodePorts"));
}

#[test]
fn what_pods_ask_for_is_shown_in_their_units() {
    let pod = r#"{"metadata":{"namespace":"d","name":"p"},"spec":{"nodeName":"n","schedulerName":"s\"x","priority":-1,
        "containers":[{"resources":{"requests":{"cpu":"1500m","memory":"1Ki","hugepages-2Mi":"2Mi","example.com/gpu":"1"},
        "limits":{"memory":"2Ki"}}}]}}"#;
    let mut resources = PodResources::default();
    resources.add(&common::api::pod::usage(pod).unwrap().unwrap());
    let labels = |resource: &str, unit: &str| {
        format!(
            "{{namespace=\"d\",node=\"n\",pod=\"p\",priority=\"-1\",resource=\"{resource}\",scheduler=\"s\\\"x\",unit=\"{unit}\"}}"
        )
    };
    let expected = [
        "# HELP kube_pod_resource_limit What a pod may use at most, by resource and its unit".to_owned(),
        "# TYPE kube_pod_resource_limit gauge".to_owned(),
        format!("kube_pod_resource_limit{} 2048", labels("memory", "bytes")),
        "# HELP kube_pod_resource_request What a pod asks for, by resource and its unit".to_owned(),
        "# TYPE kube_pod_resource_request gauge".to_owned(),
        format!("kube_pod_resource_request{} 1.5", labels("cpu", "cores")),
        format!("kube_pod_resource_request{} 1024", labels("memory", "bytes")),
        format!("kube_pod_resource_request{} 1", labels("example.com/gpu", "")),
        format!("kube_pod_resource_request{} 2097152", labels("hugepages-2Mi", "bytes")),
    ];
    assert_eq!(resources.text().lines().collect::<Vec<_>>(), expected);
    assert_eq!(PodResources::default().text(), "");
}

/// Prometheus accepts every line: help, type, or a sample of the family of the last type line.
#[test]
fn the_text_is_the_format_0_0_4() {
    let metrics = Metrics::default();
    metrics.handled(Duration::from_millis(1), &[attempt(AttemptResult::Error)]);
    metrics.figures(&Figures::default());
    let mut family = "";
    let text = metrics.text();
    for line in text.lines() {
        if let Some(announced) = line.strip_prefix("# TYPE ") {
            let (name, kind) = announced.split_once(' ').unwrap();
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            family = name;
        } else if !line.starts_with("# HELP ") {
            let name = line.split(['{', ' ']).next().unwrap();
            let suffix = name.strip_prefix(family).unwrap_or_else(|| panic!("{line} after {family}"));
            assert!(["", "_bucket", "_sum", "_count"].contains(&suffix), "{line} after {family}");
            line.rsplit(' ').next().unwrap().parse::<f64>().unwrap();
        }
    }
    assert!(text.contains("# TYPE process_cpu_seconds_total counter"), "{text}");
    assert!(!text.contains("# EOF"), "{text}");
}

#[test]
fn open_metrics_in_the_older_format() {
    let open = "# HELP a_b Help me.\n# TYPE a_b counter\na_b_total{x=\"le=1.0\"} 1\n# UNIT a_b s\n# EOF\n";
    let plain = "# HELP a_b_total Help me.\n# TYPE a_b_total counter\na_b_total{x=\"le=1.0\"} 1\n";
    assert_eq!(text::plain(open), plain);
    for (open, plain) in [
        ("1.0", "1"),
        ("+Inf", "+Inf"),
        ("0.0001", "0.0001"),
        ("0.0019461950683593759", "0.0019461950683593758"),
        ("0.00001", "1e-05"),
        ("0.000015000000000000002", "1.5000000000000002e-05"),
    ] {
        assert_eq!(text::plain(&format!("a{{le=\"{open}\"}} 1\n")), format!("a{{le=\"{plain}\"}} 1\n"));
    }
}

#[test]
fn every_note_is_counted() {
    let table = [
        (Note::Preemption { victims: 3, violations: 0 }, "scheduler_preemption_victims_sum 3"),
        (Note::Preemption { victims: 1, violations: 0 }, "scheduler_preemption_attempts_total 1"),
        (
            Note::Preemption { victims: 2, violations: 1 },
            "scheduler_preemption_pdb_violations_total{preemptor=\"pod\"} 1",
        ),
        (
            Note::VictimDeletion { is_done: true, took: Duration::from_secs(2) },
            "scheduler_preemption_execution_duration_seconds_sum{preemptor=\"pod\",result=\"success\"} 2",
        ),
        (
            Note::ExtensionPointDuration {
                profile: "x".into(),
                extension_point: ExtensionPoint::Bind,
                status: Status::Success,
                took: Duration::from_secs(3),
            },
            "scheduler_framework_extension_point_duration_seconds_sum{extension_point=\"Bind\",profile=\"x\",status=\"Success\"} 3",
        ),
        (
            Note::PermitWait { result: "Success", waited_ms: 1500 },
            "scheduler_permit_wait_duration_seconds_sum{result=\"Success\"} 1.5",
        ),
        (
            Note::Queued { queue: "active", event: "PodAdd".to_owned(), count: 7 },
            "scheduler_queue_incoming_pods_total{event=\"PodAdd\",queue=\"active\"} 7",
        ),
        (
            Note::Queued { queue: "active", event: "PodAdd".to_owned(), count: 7 },
            "scheduler_queue_incoming_entities_total{event=\"PodAdd\",queue=\"active\",type=\"pod\"} 7",
        ),
        (Note::EventsDropped { count: 2 }, "reserve_events_dropped_total 2"),
        (Note::Reserved { by: "keep" }, "reserve_made_total{by=\"keep\"} 1"),
        (Note::Released { why: "taken" }, "reserve_released_total{why=\"taken\"} 1"),
        (Note::NotReserved { why: "over-usage" }, "reserve_not_made_total{why=\"over-usage\"} 1"),
        (Note::ReservationLost, "reserve_lost_total 1"),
        (Note::ReservationYielded, "reserve_yielded_total 1"),
        (Note::OwnerUnreadable, "reserve_owners_unreadable_total 1"),
        (Note::Acknowledged { after_ms: 20 }, "reserve_acknowledgement_seconds_count 1"),
    ];
    for (note, line) in table {
        let metrics = Metrics::default();
        metrics.note(&note);
        let text = metrics.text();
        let is_said = |said: &str| said == line || said.strip_suffix(".0") == Some(line);
        assert!(text.lines().any(is_said), "{line} is not in\n{text}");
    }
}
