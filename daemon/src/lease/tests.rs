//! The tasks against an API server that follows a script, under a clock that waits for nobody.
#![expect(clippy::disallowed_methods, reason = "a test sees its own tasks")]

use super::replica::{Publisher, Standing};
use super::{Election, Leadership};
use crate::clock::Clock;
use crate::state::Sight;
use crate::testing::{Answer, Asked, scripted};
use common::config::Configuration;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

fn lease(holder: &str, version: u32) -> Answer {
    let spec = json!({"holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 2});
    let metadata = json!({"name": "reserve-daemon", "resourceVersion": version.to_string()});
    (
        200,
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec})
            .to_string(),
    )
}

fn refused(code: u16) -> Answer {
    (
        code,
        json!({"kind": "Status", "status": "Failure", "code": code, "reason": "x", "message": "no"})
            .to_string(),
    )
}

fn event() -> Answer {
    (201, json!({"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"}}).to_string())
}

struct Started {
    election: Election,
    leadership: Leadership,
    turned: watch::Receiver<bool>,
    asked: Asked,
    clock: Clock,
}

fn election(answers: Vec<Answer>) -> Started {
    let (client, asked) = scripted(answers);
    let (clock, leadership) = (Clock::start(), Leadership::none());
    let (turn, turned) = watch::channel(false);
    let config = Configuration::default_for("reserve-scheduler").leader_election;
    let rng = fastrand::Rng::with_seed(7);
    let listeners = (leadership.clone(), turn);
    let election = Election::new(&config, "me", client, clock.clone(), rng, listeners);
    Started { election, leadership, turned, asked, clock }
}

#[tokio::test(start_paused = true)]
async fn a_leader_whose_server_falls_silent_stops_before_anybody_else_may_begin() {
    let started = election(vec![refused(404), lease("me", 1), event()]);
    let (_stop, stopped) = oneshot::channel();
    let lost = started.election.run(stopped).await.unwrap_err();
    assert_eq!(
        lost.to_string(),
        "lost the Lease kube-system/kube-scheduler: it could not be renewed in time"
    );
    let now = started.clock.now();
    // Ten seconds, and a moment for the event about it.
    assert!((10..=12).contains(&now.elapsed.as_secs()), "{:?}", now.elapsed);
    assert!(started.leadership.is_lost(now) && !*started.turned.borrow());
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_a_reason_to_look_again_and_another_holder_one_to_stop() {
    let started =
        election(vec![refused(404), lease("me", 1), event(), refused(409), lease("other", 5), event()]);
    let (_stop, stopped) = oneshot::channel();
    let lost = started.election.run(stopped).await.unwrap_err();
    assert!(lost.to_string().ends_with("somebody else has it"), "{lost}");
    assert!(started.clock.now().elapsed < Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn whoever_is_told_to_go_lets_go_of_the_lease() {
    let started = election(vec![refused(404), lease("me", 1), event(), lease("", 2), event()]);
    let (stop, stopped) = oneshot::channel();
    let mut turned = started.turned.clone();
    let running = tokio::spawn(started.election.run(stopped));
    turned.changed().await.unwrap();
    assert!(started.leadership.is_held(started.clock.now()));
    drop(stop);
    running.await.unwrap().unwrap();
    assert!(!started.leadership.is_held(started.clock.now()));
    assert_eq!(started.asked.lock().unwrap().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn one_that_may_not_read_the_lease_goes_on_trying() {
    let started = election(vec![refused(403), refused(403), refused(500), lease("other", 5)]);
    let (stop, stopped) = oneshot::channel();
    let running = tokio::spawn(started.election.run(stopped));
    tokio::time::sleep(Duration::from_secs(9)).await;
    drop(stop);
    running.await.unwrap().unwrap();
    assert!(!*started.turned.borrow() && !started.leadership.is_lost(started.clock.now()));
    assert_eq!(started.asked.lock().unwrap().len(), 5, "the fifth has no answer, and nothing is released");
}

fn date() -> http::HeaderMap {
    [(http::header::DATE, "Mon, 16 Nov 2026 08:00:00 GMT".parse().unwrap())].into_iter().collect()
}

fn publisher(answers: Vec<Answer>) -> (Publisher, watch::Sender<Sight>, Standing, Asked, Clock) {
    let (client, asked) = scripted(answers);
    let (clock, standing) = (Clock::start(), Standing::default());
    clock.learn(&date());
    let (sight, seen) = watch::channel(Sight::default());
    let publisher = Publisher::new(client, clock.clone(), ("ns", "me"), seen, standing.clone());
    (publisher, sight, standing, asked, clock)
}

#[tokio::test(start_paused = true)]
async fn what_was_seen_is_published_at_once_but_not_more_than_ten_times_a_second() {
    let (publisher, sight, standing, asked, clock) = publisher(vec![lease("me", 1); 40]);
    assert!(!standing.is_good(clock.now()), "nothing was published yet");
    assert!(!standing.has_lapsed(clock.now()));
    let (stop, stopped) = oneshot::channel();
    let running = tokio::spawn(publisher.run(stopped));
    for number in 0..1000 {
        tokio::time::sleep(Duration::from_millis(1)).await;
        sight.send_replace(Sight { nodes: number, ..Sight::default() });
    }
    let count = asked.lock().unwrap().len();
    assert!((8..=11).contains(&count), "{count} in a second");
    assert!(standing.is_good(clock.now()));
    tokio::time::sleep(Duration::from_secs(21)).await;
    assert!(asked.lock().unwrap().len() <= count + 6, "renewals only");
    drop(stop);
    running.await.unwrap();
    assert!(!standing.is_good(clock.now()), "its Lease is gone");
    assert!(!standing.has_lapsed(clock.now()), "in order");
    assert_eq!(
        asked.lock().unwrap().last().unwrap().path(),
        "/apis/coordination.k8s.io/v1/namespaces/ns/leases/reserve-me"
    );
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_not_there_is_made_and_one_that_lapses_counts_no_longer() {
    let (publisher, _sight, standing, asked, clock) = publisher(vec![refused(404), lease("me", 1)]);
    let (_stop, stopped) = oneshot::channel();
    tokio::spawn(publisher.run(stopped));
    tokio::time::sleep(Duration::from_secs(12)).await;
    assert!(standing.is_good(clock.now()));
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(!standing.is_good(clock.now()), "the server has fallen silent");
    assert!(standing.has_lapsed(clock.now()));
    assert!(asked.lock().unwrap()[1].path().ends_with("/leases"));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_published_by_the_machines_own_clock() {
    let (client, asked) = scripted(vec![lease("me", 1); 9]);
    let clock = Clock::start_at("1970-01-02T00:00:00Z".parse().unwrap());
    let (_sight, seen) = watch::channel(Sight::default());
    let publisher = Publisher::new(client, clock.clone(), ("ns", "me"), seen, Standing::default());
    let (_stop, stopped) = oneshot::channel();
    tokio::spawn(publisher.run(stopped));
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(asked.lock().unwrap().is_empty(), "nobody would heed it");
    clock.learn(&date());
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(asked.lock().unwrap().len(), 1, "at once when the time is known");
}

#[tokio::test(start_paused = true)]
async fn one_that_may_have_no_lease_has_none_to_lapse() {
    let (publisher, _sight, standing, _asked, clock) = publisher(vec![refused(403); 9]);
    let (_stop, stopped) = oneshot::channel();
    tokio::spawn(publisher.run(stopped));
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert!(standing.is_good(clock.now()) && !standing.has_lapsed(clock.now()));
}

#[tokio::test(start_paused = true)]
async fn a_replica_is_settled_when_its_first_lease_is_there_or_cannot_be() {
    for (answers, within) in [
        (vec![lease("me", 1)], 1),
        (vec![refused(403)], 1),
        (vec![refused(503), refused(503), lease("me", 1)], 3),
    ] {
        let count = answers.len();
        let (publisher, _sight, standing, asked, _clock) = publisher(answers);
        let (_stop, stopped) = oneshot::channel();
        tokio::spawn(publisher.run(stopped));
        tokio::time::timeout(Duration::from_secs(within), standing.settled()).await.unwrap();
        assert_eq!(asked.lock().unwrap().len(), count, "not before an answer that says something");
    }
}

#[tokio::test(start_paused = true)]
async fn there_is_no_way_back_from_a_lapse() {
    let answers = [vec![lease("me", 1)], vec![refused(500); 3], vec![lease("me", 1); 9]].concat();
    let (publisher, _sight, standing, _asked, clock) = publisher(answers);
    let (_stop, stopped) = oneshot::channel();
    tokio::spawn(publisher.run(stopped));
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert!(
        !standing.is_good(clock.now()) && standing.has_lapsed(clock.now()),
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
