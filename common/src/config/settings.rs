//! Parses everything in a file besides profiles and extenders, with defaults and limits.

use jiff::SignedDuration;

use super::file_value::FileMap;
use super::findings::{Findings, quoted};
use super::value::{ClientConnection, Configuration, LeaderElection};
use super::version::Version;

pub(super) const FIELDS: [&str; 13] = [
    "apiVersion",
    "kind",
    "parallelism",
    "leaderElection",
    "clientConnection",
    "enableProfiling",
    "enableContentionProfiling",
    "percentageOfNodesToScore",
    "podInitialBackoffSeconds",
    "podMaxBackoffSeconds",
    "profiles",
    "extenders",
    "delayCacheUntilActive",
];

const LEADER_ELECTION: [&str; 7] = [
    "leaderElect",
    "leaseDuration",
    "renewDeadline",
    "retryPeriod",
    "resourceLock",
    "resourceName",
    "resourceNamespace",
];
const CLIENT_CONNECTION: [&str; 5] = ["kubeconfig", "acceptContentTypes", "contentType", "qps", "burst"];

/// Everything besides profiles and extenders.
pub(super) fn read(file: &FileMap<'_>, version: Version, found: &mut Findings) -> Configuration {
    let enable_profiling = file.flag("enableProfiling", found).unwrap_or(true);
    let contention = file.flag("enableContentionProfiling", found);
    let parallelism = file.int32("parallelism", found).unwrap_or(16);
    let percentage_of_nodes_to_score = percentage(file, found).unwrap_or(0);
    let first = file.int64("podInitialBackoffSeconds", found).unwrap_or(1);
    let most = file.int64("podMaxBackoffSeconds", found).unwrap_or(10);
    let delay_cache_until_active = file.flag("delayCacheUntilActive", found).unwrap_or(false);
    if parallelism <= 0 {
        found.error("parallelism", format!("{parallelism} is not more than 0"));
    }
    if first <= 0 {
        found.error("podInitialBackoffSeconds", format!("{first} is not more than 0"));
    }
    if most < first {
        let what = format!("{most} is less than podInitialBackoffSeconds, which is {first}");
        found.error("podMaxBackoffSeconds", what);
    }
    Configuration {
        profiles: Vec::new(),
        parallelism,
        percentage_of_nodes_to_score,
        pod_initial_backoff_seconds: first,
        pod_max_backoff_seconds: most,
        leader_election: leader_election(file, version, found),
        client_connection: client_connection(file, found),
        extenders: Vec::new(),
        enable_profiling,
        enable_contention_profiling: contention.unwrap_or(enable_profiling),
        delay_cache_until_active,
    }
}

/// The percentage of nodes to score, of a file or of a profile.
pub(super) fn percentage(of: &FileMap<'_>, found: &mut Findings) -> Option<i32> {
    let key = "percentageOfNodesToScore";
    let percentage = of.int32(key, found)?;
    if !(0..=100).contains(&percentage) {
        found.error(&of.child(key), format!("{percentage} is not between 0 and 100"));
    }
    Some(percentage)
}

fn leader_election(file: &FileMap<'_>, version: Version, found: &mut Findings) -> LeaderElection {
    let read = file.object("leaderElection", &LEADER_ELECTION, found);
    let mut duration = |key: &str, seconds: i64| {
        let read = read.as_ref().and_then(|object| object.duration(key, found));
        read.filter(|duration| !duration.is_zero()).unwrap_or(SignedDuration::from_secs(seconds))
    };
    let (lease_duration, renew_deadline, retry_period) =
        (duration("leaseDuration", 15), duration("renewDeadline", 10), duration("retryPeriod", 2));
    let mut text = |key: &str, default: &str| filled(read.as_ref(), key, default, found);
    let (resource_lock, resource_name, resource_namespace) = (
        text("resourceLock", "leases"),
        text("resourceName", "kube-scheduler"),
        text("resourceNamespace", "kube-system"),
    );
    let leader_elect = read.as_ref().and_then(|object| object.flag("leaderElect", found)).unwrap_or(true);
    let mut election = LeaderElection {
        leader_elect,
        lease_duration,
        renew_deadline,
        retry_period,
        resource_lock,
        resource_name,
        resource_namespace,
    };
    check_election(&mut election, version, found);
    election
}

fn check_election(election: &mut LeaderElection, version: Version, found: &mut Findings) {
    const LOCK: &str = "leaderElection.resourceLock";
    if election.resource_lock != "leases" && version.is_old() {
        let what = format!("{} is no longer a lock; read as \"leases\"", quoted(&election.resource_lock));
        found.warn(LOCK, what);
        election.resource_lock = "leases".to_owned();
    }
    if !election.leader_elect {
        return;
    }
    if election.resource_lock != "leases" {
        found.error(LOCK, format!("{} is not \"leases\"", quoted(&election.resource_lock)));
    }
    let durations = [
        ("leaderElection.leaseDuration", election.lease_duration),
        ("leaderElection.renewDeadline", election.renew_deadline),
        ("leaderElection.retryPeriod", election.retry_period),
    ];
    for (path, duration) in durations.into_iter().filter(|(_, duration)| !duration.is_positive()) {
        found.error(path, format!("{} is not more than 0s", super::duration::print(duration)));
    }
    if election.lease_duration <= election.renew_deadline {
        let print = super::duration::print;
        let (lease, renewal) = (print(election.lease_duration), print(election.renew_deadline));
        let what = format!("{lease} is not longer than renewDeadline, which is {renewal}");
        found.error("leaderElection.leaseDuration", what);
    }
}

fn client_connection(file: &FileMap<'_>, found: &mut Findings) -> ClientConnection {
    let read = file.object("clientConnection", &CLIENT_CONNECTION, found);
    let mut text = |key: &str, default: &str| filled(read.as_ref(), key, default, found);
    let (kubeconfig, accept_content_types, content_type) = (
        text("kubeconfig", ""),
        text("acceptContentTypes", ""),
        text("contentType", "application/vnd.kubernetes.protobuf"),
    );
    let qps = read.as_ref().and_then(|object| object.float("qps", found));
    let burst = read.as_ref().and_then(|object| object.int32("burst", found)).filter(|burst| *burst != 0);
    let burst = burst.unwrap_or(100);
    if burst < 0 {
        found.error("clientConnection.burst", format!("{burst} is negative"));
    }
    ClientConnection {
        kubeconfig,
        accept_content_types,
        content_type,
        qps: qps.filter(|qps| *qps != 0.0).unwrap_or(50.0),
        burst,
    }
}

/// A text, or its default if it is absent or empty.
fn filled(object: Option<&FileMap<'_>>, key: &str, default: &str, found: &mut Findings) -> String {
    let text = object.and_then(|object| object.text(key, found)).filter(|text| !text.is_empty());
    text.unwrap_or_else(|| default.to_owned())
}
