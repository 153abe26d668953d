//! What the golden vectors do not cover: pods that the API server would refuse, and our errors about them.

mod vectors;

use std::error::Error;

use super::{
    Container, ContainerStatus, NonZeroRequests, PodActual, RequestError, ResourceList, Sources, pod_requests,
};

fn list<'a>(entries: &[(&'a str, &'a str)]) -> ResourceList<'a> {
    entries.iter().copied().collect()
}

fn container<'a>(name: &'a str, entries: &[(&'a str, &'a str)]) -> Container<'a> {
    Container { name: name.into(), requests: list(entries), restart_always: false }
}

fn error(sources: &Sources<'_>) -> RequestError {
    pod_requests(sources).expect_err("a quantity that is none")
}

#[test]
fn an_error_says_where_and_what() {
    let containers =
        vec![container("a", &[("cpu", "1")]), container("b", &[("memory", "1"), ("cpu", "5 GB\0")])];
    let error = error(&Sources { containers, ..Sources::default() });
    assert_eq!(error.path(), r#"spec.containers[1].resources.requests["cpu"]"#);
    assert_eq!(error.to_string(), r#"cannot read spec.containers[1].resources.requests["cpu"]"#);
    let source = error.source().expect("the quantity's own error").to_string();
    assert_eq!(source, r"`5 GB\u{0}` is not a quantity: unexpected ` `");
    assert_eq!(source, error.quantity().to_string());
}

#[test]
fn every_place_is_named() {
    let bad = || list(&[("cpu", "x")]);
    let base = || Sources { containers: vec![container("a", &[])], ..Sources::default() };
    let status = |allocated, actual| vec![ContainerStatus { name: "a".into(), allocated, actual }];
    let cases = [
        (
            Sources { init_containers: vec![container("i", &[("cpu", "x")])], ..base() },
            "spec.initContainers[0].resources.requests",
        ),
        (Sources { overhead: bad(), ..base() }, "spec.overhead"),
        (Sources { pod_level: Some(bad()), ..base() }, "spec.resources.requests"),
        (
            Sources { container_statuses: status(Some(bad()), None), ..base() },
            "status.containerStatuses[0].allocatedResources",
        ),
        (
            Sources { init_container_statuses: status(None, Some(bad())), ..base() },
            "status.initContainerStatuses[0].resources.requests",
        ),
        (Sources { pod_allocated: Some(bad()), ..base() }, "status.allocatedResources"),
        (
            Sources { pod_actual: Some(PodActual { requests: Some(bad()) }), ..base() },
            "status.resources.requests",
        ),
    ];
    for (sources, path) in cases {
        assert_eq!(error(&sources).path(), format!(r#"{path}["cpu"]"#));
    }
}

#[test]
fn an_error_stays_short_whatever_the_pod_says() {
    let name = "n\0".repeat(100_000);
    let value = "9\u{202e}".repeat(100_000);
    let error =
        error(&Sources { containers: vec![container("a", &[(&name, &value)])], ..Sources::default() });
    assert!(error.to_string().len() < 200);
    assert!(error.quantity().to_string().len() < 200);
}

#[test]
fn absurd_requests_fit_nowhere_instead_of_wrapping() {
    let absurd = [("cpu", "2000E"), ("memory", "1e4294967297"), ("example.com/x", "99999999999999999999")];
    let containers = vec![container("a", &absurd), container("b", &absurd)];
    let requests = pod_requests(&Sources { containers, ..Sources::default() }).expect("quantities");
    assert_eq!((requests.incoming.cpu, requests.incoming.memory), (i64::MAX, i64::MAX));
    assert_eq!(requests.incoming.scalars().collect::<Vec<_>>(), [("example.com/x", i64::MAX)]);
    assert_eq!(*requests.counted(), requests.incoming);
    assert_eq!(requests.non_zero_counted, NonZeroRequests { cpu: i64::MAX, memory: i64::MAX });
}

#[test]
fn the_last_of_a_repeated_name_counts() {
    let containers = vec![container("a", &[("cpu", "1"), ("cpu", "2")])];
    let requests = pod_requests(&Sources { containers, ..Sources::default() }).expect("quantities");
    assert_eq!(requests.incoming.cpu, 2000);
}

#[test]
fn five_hundred_containers_are_summed() {
    let containers = (0..500).map(|_| container("a", &[("cpu", "1m"), ("memory", "1Mi")])).collect();
    let requests = pod_requests(&Sources { containers, ..Sources::default() }).expect("quantities");
    assert_eq!(
        (requests.incoming.cpu, requests.incoming.memory, requests.incoming.pods),
        (500, 500 << 20, 1)
    );
}
