//! What the watch does with answers that no healthy API server gives: prepared answers in, events and requests out.

use super::{catalog_objects, follow, pods, replicas, workloads};
use crate::clock::Clock;
use crate::state::Input;
use crate::testing::{ScriptedAnswer, scripted_client};
use common::cluster::{Event, WatchEvent};
use common::model::{CatalogKind, OwnerKind};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::mpsc;

fn pod(name: &str, version: u64) -> Value {
    json!({ "metadata": { "name": name, "namespace": "default", "uid": name, "resourceVersion": version.to_string() } })
}

fn page(version: u64, next: &str, items: &[Value]) -> ScriptedAnswer {
    let meta = json!({ "resourceVersion": version.to_string(), "continue": next });
    (200, json!({ "metadata": meta, "items": items }).to_string())
}

fn line(kind: &str, object: &Value) -> String {
    json!({ "type": kind, "object": object }).to_string() + "\n"
}

fn gone() -> Value {
    json!({ "kind": "Status", "code": 410, "message": "too old resource version" })
}

/// Follows pods with these `answers`; returns the events and the requests.
async fn followed(answers: impl IntoIterator<Item = ScriptedAnswer>) -> (Vec<String>, Vec<String>) {
    let (client, asked) = scripted_client(answers);
    let (sender, mut inputs) = mpsc::channel(100);
    let watch = follow(pods(), client, Clock::start(), sender);
    // After the last answer the server is silent; with the paused clock that takes no time.
    let _ = tokio::time::timeout(Duration::from_secs(50), watch).await;
    let mut learnt = Vec::new();
    while let Ok(Input::Cluster(event)) = inputs.try_recv() {
        learnt.push(describe(&event));
    }
    let asked = asked.lock().unwrap().iter().map(|uri| shortened(uri.query().unwrap_or(""))).collect();
    (learnt, asked)
}

fn describe(event: &Event) -> String {
    let names = |pods: &[common::model::Pod]| {
        pods.iter().map(|pod| pod.key.name.to_string()).collect::<Vec<_>>().join(" ")
    };
    match event {
        Event::Pods(WatchEvent::Applied(pod)) => format!("applied {}", pod.key.name),
        Event::Pods(WatchEvent::Deleted(pod)) => format!("deleted {}", pod.key.name),
        Event::Pods(WatchEvent::Relisted(pods)) => format!("relisted {}", names(pods)),
        Event::PodsUpTo(version) => format!("up to {version}"),
        other => format!("{other:?}"),
    }
}

/// A request in short form: a list with its page, or a watch with its version. A list with a version may come from a cache.
fn shortened(query: &str) -> String {
    let value =
        |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)).unwrap_or("").to_owned();
    match query.starts_with("watch=1") {
        true => format!("watch {}", value("resourceVersion=")),
        false if query.contains("resourceVersion") => format!("list at {}", value("resourceVersion=")),
        false => format!("list {}", value("continue=")).trim_end().to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn pages_are_put_together_and_the_watch_goes_on_from_there() {
    let lines =
        line("ADDED", &pod("c", 8)) + &line("MODIFIED", &pod("a", 9)) + &line("DELETED", &pod("b", 10));
    let answers = [page(7, "next", &[pod("a", 1)]), page(7, "", &[pod("b", 2)]), (200, lines)];
    let (learnt, asked) = followed(answers).await;
    assert_eq!(learnt, ["relisted a b", "up to 7", "applied c", "applied a", "deleted b"]);
    assert_eq!(asked, ["list", "list next", "watch 7", "watch 10"]);
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_moves_the_watch_on() {
    let bookmark = json!({ "metadata": { "resourceVersion": "44" } });
    let (learnt, asked) = followed([page(7, "", &[]), (200, line("BOOKMARK", &bookmark))]).await;
    assert_eq!(learnt, ["relisted ", "up to 7", "up to 44"]);
    assert_eq!(asked, ["list", "watch 7", "watch 44"]);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_too_old_is_listed_anew() {
    let by_line = [page(7, "", &[pod("a", 1)]), (200, line("ERROR", &gone())), page(9, "", &[pod("b", 8)])];
    let by_status = [page(7, "", &[pod("a", 1)]), (410, gone().to_string()), page(9, "", &[pod("b", 8)])];
    for answers in [by_line, by_status] {
        let (learnt, asked) = followed(answers).await;
        assert_eq!(learnt, ["relisted a", "up to 7", "relisted b", "up to 9"]);
        assert_eq!(asked, ["list", "watch 7", "list", "watch 9"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_expired_starts_the_list_again() {
    let answers = [page(7, "next", &[pod("a", 1)]), (410, gone().to_string()), page(9, "", &[pod("b", 8)])];
    let (learnt, asked) = followed(answers).await;
    assert_eq!(learnt, ["relisted b", "up to 9"], "half a list is no list");
    assert_eq!(asked, ["list", "list next", "list", "watch 9"]);
}

#[tokio::test(start_paused = true)]
async fn garbage_and_half_lines_end_a_watch_and_lose_nothing() {
    let good = line("ADDED", &pod("a", 8));
    let half = &line("ADDED", &pod("b", 9))[..20];
    for broken in [good.clone() + "<html>\n", good.clone() + half, good.clone() + "\u{0}\n"] {
        let answers = [page(7, "", &[]), (200, broken), (200, line("ADDED", &pod("b", 9)))];
        let (learnt, asked) = followed(answers).await;
        assert_eq!(learnt, ["relisted ", "up to 7", "applied a", "applied b"]);
        assert_eq!(asked[..3], ["list", "watch 7", "watch 8"]);
    }
}

#[tokio::test(start_paused = true)]
async fn watches_that_keep_breaking_are_doubted_and_listed_anew() {
    let broken = || (200, "<html>\n".to_owned());
    let answers = [page(7, "", &[]), broken(), broken(), broken(), page(9, "", &[pod("a", 8)])];
    let (learnt, asked) = followed(answers).await;
    assert_eq!(learnt, ["relisted ", "up to 7", "relisted a", "up to 9"]);
    assert_eq!(asked, ["list", "watch 7", "watch 7", "watch 7", "list", "watch 9"]);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_read_does_not_hide_the_others() {
    let odd = json!({ "metadata": { "name": 5, "resourceVersion": "8" } });
    let lines = line("ADDED", &odd) + &line("ADDED", &pod("b", 9));
    let (learnt, asked) = followed([page(7, "", &[pod("a", 1), odd]), (200, lines)]).await;
    assert_eq!(learnt, ["relisted a", "up to 7", "applied b"]);
    assert_eq!(asked.last().unwrap(), "watch 9");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_at_once_is_not_asked_without_end() {
    let mut answers = vec![page(7, "", &[])];
    answers.extend((0..1000).map(|_| (200, String::new())));
    let (_, asked) = followed(answers).await;
    assert!(asked.len() < 12, "{} calls in less than a minute", asked.len());
}

#[tokio::test(start_paused = true)]
async fn failures_are_repeated_with_patience() {
    let answers = (0..1000).map(|_| (503, "<html>busy</html>".to_owned()));
    let (learnt, asked) = followed(answers).await;
    assert_eq!(learnt, [""; 0]);
    assert!((3..12).contains(&asked.len()), "{} calls in less than a minute", asked.len());
}

#[tokio::test(start_paused = true)]
async fn workloads_that_we_may_not_read_do_not_stop_everything_else() {
    let forbidden = json!({ "kind": "Status", "code": 403, "message": "no" });
    let (client, _) = scripted_client([(403, forbidden.to_string())]);
    let (sender, mut inputs) = mpsc::channel(100);
    let watch = follow(workloads(OwnerKind::Job), client, Clock::start(), sender);
    let _ = tokio::time::timeout(Duration::from_secs(10), watch).await;
    let Ok(Input::Cluster(event)) = inputs.try_recv() else { panic!("nothing was learnt") };
    assert_eq!(*event, Event::WorkloadsUnreadable(OwnerKind::Job));
}

#[tokio::test(start_paused = true)]
async fn what_is_not_served_does_not_stop_everything_else() {
    let missing = || (404, "404 page not found".to_owned());
    let budget = json!({ "metadata": { "name": "b", "namespace": "default", "uid": "u" } });
    let (client, asked) = scripted_client([missing(), page(7, "", &[budget])]);
    let (sender, mut inputs) = mpsc::channel(100);
    let kind = CatalogKind::PodDisruptionBudget;
    let watch = follow(catalog_objects(kind), client, Clock::start(), sender);
    let _ = tokio::time::timeout(Duration::from_secs(10), watch).await;
    let mut learnt = || match inputs.try_recv() {
        Ok(Input::Cluster(event)) => *event,
        _ => panic!("nothing was learnt"),
    };
    assert_eq!(learnt(), Event::CatalogKindUnreadable(kind));
    assert!(
        matches!(learnt(), Event::CatalogObjects(of, WatchEvent::Relisted(live)) if of == kind && live.len() == 1)
    );
    let asked: Vec<String> = asked.lock().unwrap().iter().map(|uri| uri.path().to_owned()).collect();
    assert_eq!(asked, ["/apis/policy/v1/poddisruptionbudgets"; 3]);
}

/// A user with the role `edit` in a namespace can write Leases there.
#[tokio::test(start_paused = true)]
async fn a_lease_of_another_namespace_is_ignored_even_if_the_watch_delivers_it() {
    let lease = |name: &str, namespace: &str, version: u64| {
        json!({ "metadata": { "name": format!("reserve-{name}"), "namespace": namespace, "uid": name,
                              "resourceVersion": version.to_string(),
                              "labels": { "app.kubernetes.io/name": "kubectl-reserve" },
                              "annotations": { "reserve/seen-nodes": "18446744073709551615" } },
                "spec": { "leaseDurationSeconds": 15, "renewTime": "2026-11-16T08:00:00.000000Z" } })
    };
    let lines = line("ADDED", &lease("evil", "shop", 8)) + &line("ADDED", &lease("b", "kube-reserve", 9));
    let (client, asked) = scripted_client([
        page(7, "", &[lease("a", "kube-reserve", 1), lease("wicked", "shop", 2)]),
        (200, lines),
        (200, line("DELETED", &lease("a", "shop", 10))),
    ]);
    let (sender, mut inputs) = mpsc::channel(100);
    let watch = follow(replicas("kube-reserve"), client, Clock::start(), sender);
    let _ = tokio::time::timeout(Duration::from_secs(10), watch).await;
    let mut cluster = common::cluster::Cluster::default();
    while let Ok(Input::Cluster(event)) = inputs.try_recv() {
        cluster.apply(*event);
    }
    let names: Vec<&str> = cluster.replicas().iter().map(|replica| &*replica.name).collect();
    assert_eq!(names, ["a", "b"]);
    let first = asked.lock().unwrap()[0].path().to_owned();
    assert_eq!(first, "/apis/coordination.k8s.io/v1/namespaces/kube-reserve/leases");
}

#[test]
fn only_workloads_of_which_nothing_more_is_needed_are_read_by_their_metadata() {
    for kind in OwnerKind::ALL {
        let watched = workloads(kind);
        assert_eq!(
            watched.accept.0.contains("PartialObjectMetadataList"),
            !kind.needs_full_object(),
            "{kind}"
        );
        assert_eq!(watched.accept.1.contains("PartialObjectMetadata;"), !kind.needs_full_object(), "{kind}");
    }
    for kind in CatalogKind::ALL {
        let watched = catalog_objects(kind);
        assert_eq!(watched.accept, ("application/json", "application/json"));
        assert!(watched.path.ends_with(watched.name), "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_always_forgets_is_not_listed_without_end() {
    let answers =
        (0..1000).map(|call| if call % 2 == 0 { page(7, "", &[]) } else { (410, gone().to_string()) });
    let (_, asked) = followed(answers).await;
    assert!(asked.len() < 20, "{} calls in less than a minute", asked.len());
}
