//! Both tasks against an API server with prepared answers, with tokio's paused clock.
#![expect(clippy::disallowed_methods, reason = "a test sees its own tasks")]

use super::replica::{LeaseValidity, Publisher};
use super::{Election, Leadership};
use crate::clock::Clock;
use crate::state::ReplicaStatus;
use crate::testing::{RequestLog, ScriptedAnswer, scripted_client};
use crate::trace::plugins;
use common::config::Configuration;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

fn lease(holder: &str, version: u32) -> ScriptedAnswer {
    let spec = json!({"holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 2});
    let metadata = json!({"name": "reserve-daemon", "resourceVersion": version.to_string()});
    (
        200,
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec})
            .to_string(),
    )
}

fn refused(code: u16) -> ScriptedAnswer {
    (
        code,
        json!({"kind": "Status", "status": "Failure", "code": code, "reason": "x", "message": "no"})
            .to_string(),
    )
}

fn event() -> ScriptedAnswer {
    (201, json!({"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"}}).to_string())
}

struct TestElection {
    election: Election,
    leadership: Leadership,
    is_leading: watch::Receiver<bool>,
    requests: RequestLog,
    clock: Clock,
}

fn election(answers: Vec<ScriptedAnswer>) -> TestElection {
    let (client, requests) = scripted_client(answers);
    let (clock, leadership) = (Clock::start(), Leadership::none());
    let (sender, is_leading) = watch::channel(false);
    let config = Configuration::default_for("reserve-scheduler", &plugins().declarations()).leader_election;
    let rng = fastrand::Rng::with_seed(7);
    let listeners = (leadership.clone(), sender);
    let election = Election::new(&config, "me", client, clock.clone(), rng, listeners);
    TestElection { election, leadership, is_leading, requests, clock }
}

#[tokio::test(start_paused = true)]
async fn a_leader_whose_server_falls_silent_stops_before_anybody_else_may_begin() {
    let test = election(vec![refused(404), lease("me", 1), event()]);
    let (_stop, stopped) = oneshot::channel();
    let lost = test.election.run(stopped).await.unwrap_err();
    assert_eq!(
        lost.to_string(),
        "lost the Lease kube-system/kube-scheduler: it could not be renewed in time"
    );
    let now = test.clock.now();
    // The renew deadline of ten seconds, and up to one retry period for the event.
    assert!((10..=12).contains(&now.elapsed.as_secs()), "{:?}", now.elapsed);
    assert!(test.leadership.is_lost(now) && !*test.is_leading.borrow());
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_a_reason_to_look_again_and_another_holder_one_to_stop() {
    let test =
        election(vec![refused(404), lease("me", 1), event(), refused(409), lease("other", 5), event()]);
    let (_stop, stopped) = oneshot::channel();
    let lost = test.election.run(stopped).await.unwrap_err();
    assert!(lost.to_string().ends_with("somebody else has it"), "{lost}");
    assert!(test.clock.now().elapsed < Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn whoever_is_told_to_go_lets_go_of_the_lease() {
    let test = election(vec![refused(404), lease("me", 1), event(), lease("", 2), event()]);
    let (stop, stopped) = oneshot::channel();
    let mut is_leading = test.is_leading.clone();
    let running = tokio::spawn(test.election.run(stopped));
    is_leading.changed().await.unwrap();
    assert!(test.leadership.is_held(test.clock.now()));
    drop(stop);
    running.await.unwrap().unwrap();
    assert!(!test.leadership.is_held(test.clock.now()));
    assert_eq!(test.requests.lock().unwrap().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn one_that_may_not_read_the_lease_goes_on_trying() {
    let test = election(vec![refused(403), refused(403), refused(500), lease("other", 5)]);
    let (stop, stopped) = oneshot::channel();
    let running = tokio::spawn(test.election.run(stopped));
    tokio::time::sleep(Duration::from_secs(9)).await;
    drop(stop);
    running.await.unwrap().unwrap();
    assert!(!*test.is_leading.borrow() && !test.leadership.is_lost(test.clock.now()));
    assert_eq!(test.requests.lock().unwrap().len(), 5, "the fifth has no answer, and nothing is released");
}

fn date() -> http::HeaderMap {
    [(http::header::DATE, "Mon, 16 Nov 2026 08:00:00 GMT".parse().unwrap())].into_iter().collect()
}

fn publisher(
    answers: Vec<ScriptedAnswer>,
) -> (Publisher, watch::Sender<ReplicaStatus>, LeaseValidity, RequestLog, Clock) {
    let (client, requests) = scripted_client(answers);
    let (clock, validity) = (Clock::start(), LeaseValidity::default());
    clock.learn(&date());
    let (status, receiver) = watch::channel(ReplicaStatus::default());
    let publisher = Publisher::new(client, clock.clone(), ("ns", "me"), receiver, validity.clone());
    (publisher, status, validity, requests, clock)
}

#[tokio::test(start_paused = true)]
async fn what_was_seen_is_published_at_once_but_not_more_than_ten_times_a_second() {
    let (publisher, status, validity, requests, clock) = publisher(vec![lease("me", 1); 40]);
    assert!(!validity.is_valid(clock.now()), "nothing was published yet");
    assert!(!validity.has_lapsed(clock.now()));
    let (stop, stopped) = oneshot::channel();
    let running = tokio::spawn(publisher.run(stopped));
    for number in 0..1000 {
        tokio::time::sleep(Duration::from_millis(1)).await;
        status.send_replace(ReplicaStatus { nodes: number, ..ReplicaStatus::default() });
    }
    let count = requests.lock().unwrap().len();
    assert!((8..=11).contains(&count), "{count} in a second");
    assert!(validity.is_valid(clock.now()));
    tokio::time::sleep(Duration::from_secs(21)).await;
    assert!(requests.lock().unwrap().len() <= count + 6, "renewals only");
    drop(stop);
    running.await.unwrap();
    assert!(!validity.is_valid(clock.now()), "its Lease is gone");
    assert!(!validity.has_lapsed(clock.now()), "in order");
    assert_eq!(
        requests.lock().unwrap().last().unwrap().path(),
        "/apis/coordination.k8s.io/v1/namespaces/ns/leases/reserve-me"
    );
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_not_there_is_made_and_one_that_lapses_counts_no_longer() {
    let (publisher, _status, validity, requests, clock) = publisher(vec![refused(404), lease("me", 1)]);
    let (_stop, stopped) = oneshot::channel();
    tokio::spawn(publisher.run(stopped));
    tokio::time::sleep(Duration::from_secs(12)).await;
    assert!(validity.is_valid(clock.now()));
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(!validity.is_valid(clock.now()), "the server has fallen silent");
    assert!(validity.has_lapsed(clock.now()));
    assert!(requests.lock().unwrap()[1].path().ends_with("/leases"));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_published_by_the_machines_own_clock() {
    let (client, requests) = scripted_client(vec![lease("me", 1); 9]);
    let clock = Clock::start_at("1970-01-02T00:00:00Z".parse().unwrap());
    let (_status, receiver) = watch::channel(ReplicaStatus::default());
    let publisher = Publisher::new(client, clock.clone(), ("ns", "me"), receiver, LeaseValidity::default());
    let (_stop, stopped) = oneshot::channel();
    tokio::spawn(publisher.run(stopped));
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(requests.lock().unwrap().is_empty(), "nobody would heed it");
    clock.learn(&date());
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(requests.lock().unwrap().len(), 1, "at once when the time is known");
}

#[tokio::test(start_paused = true)]
async fn one_that_may_have_no_lease_has_none_to_lapse() {
    let (publisher, _status, validity, _requests, clock) = publisher(vec![refused(403); 9]);
    let (_stop, stopped) = oneshot::channel();
    tokio::spawn(publisher.run(stopped));
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert!(validity.is_valid(clock.now()) && !validity.has_lapsed(clock.now()));
}

#[tokio::test(start_paused = true)]
async fn a_replica_is_settled_when_its_first_lease_is_there_or_cannot_be() {
    for (answers, within) in [
        (vec![lease("me", 1)], 1),
        (vec![refused(403)], 1),
        (vec![refused(503), refused(503), lease("me", 1)], 3),
    ] {
        let count = answers.len();
        let (publisher, _status, validity, requests, _clock) = publisher(answers);
        let (_stop, stopped) = oneshot::channel();
        tokio::spawn(publisher.run(stopped));
        tokio::time::timeout(Duration::from_secs(within), validity.wait_until_settled()).await.unwrap();
        assert_eq!(requests.lock().unwrap().len(), count, "not before an answer that says something");
    }
}

#[tokio::test(start_paused = true)]
async fn there_is_no_way_back_from_a_lapse() {
    let answers = [vec![lease("me", 1)], vec![refused(500); 3], vec![lease("me", 1); 9]].concat();
    let (publisher, _status, validity, _requests, clock) = publisher(answers);
    let (_stop, stopped) = oneshot::channel();
    tokio::spawn(publisher.run(stopped));
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert!(
        !validity.is_valid(clock.now()) && validity.has_lapsed(clock.now()),
        "nobody waited for it meanwhile"
    );
}

#[test]
fn fields_of_others_in_the_lease_are_kept() {
    let mut known: k8s_openapi::api::coordination::v1::Lease =
        serde_json::from_str(&lease("other", 5).1).unwrap();
    known.metadata.labels = Some([("team".to_owned(), "red".to_owned())].into());
    let record = super::wire::record(&known);
    let written = super::wire::lease(&known, "ns", "n", &record, Some("5".into()));
    let written: Value = serde_json::to_value(written).unwrap();
    assert_eq!(written["metadata"]["labels"]["team"], "red");
    assert_eq!(
        (&written["metadata"]["resourceVersion"], &written["spec"]["leaseTransitions"]),
        (&json!("5"), &json!(2))
    );
}
