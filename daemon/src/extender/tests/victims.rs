//! Our calls to extenders about victims, answered by a small extender in this test.

use super::super::ask::Extenders;
use super::asking::extender;
use crate::state::PreemptionCandidate;
use crate::testing::scripted_client;
use bytes::Bytes;
use common::api::extender::Victims;
use common::config::{Extender, ManagedResource};
use common::model::{NodeName, PodKey, Uid};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use tokio::net::TcpListener;

/// Starts an extender whose verbs say what it answers; returns its address.
async fn start_extender() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)).await;
        }
    });
    url
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let verb = request.uri().path().trim_start_matches('/').to_owned();
    let asked: Value =
        serde_json::from_slice(&request.into_body().collect().await.unwrap().to_bytes()).unwrap();
    let meta = asked["NodeNameToMetaVictims"].clone();
    let left = match verb.as_str() {
        "echo" => meta,
        // Expects whole pods, and answers with their UIDs.
        "whole" => {
            assert!(meta.is_null(), "{asked}");
            let mut nodes = asked["NodeNameToVictims"].clone();
            for (_, victims) in nodes.as_object_mut().unwrap() {
                let pods = victims["Pods"].as_array().unwrap().iter();
                let pods: Vec<Value> =
                    pods.map(|pod| json!({"UID": pod["spec"]["whole"].as_str().unwrap()})).collect();
                victims["Pods"] = Value::Array(pods);
            }
            nodes
        }
        "without-a" => {
            let mut meta = meta;
            meta.as_object_mut().unwrap().remove("a");
            meta
        }
        "other" => json!({"b": {"Pods": [{"UID": "b2"}], "NumPDBViolations": 3}}),
        "stranger" => json!({"b": {"Pods": [{"UID": "x"}]}}),
        "elsewhere" => json!({"z": {"Pods": [{"UID": "b1"}]}}),
        "nobody" => json!({"a": {"Pods": []}, "b": {"Pods": [{"UID": "b1"}]}}),
        "nothing" => Value::Null,
        _ => return Ok(Response::builder().status(500).body(Full::default()).unwrap()),
    };
    Ok(Response::new(Full::new(Bytes::from(json!({"NodeNameToMetaVictims": left}).to_string()))))
}

fn chooser(url: &str, verb: &str) -> Extender {
    Extender { preempt_verb: verb.into(), ..extender(url, "") }
}

fn candidate(node: &str, victims: &[&str], pods: &[&str]) -> PreemptionCandidate {
    let uids = |names: &[&str]| names.iter().map(|name| Uid::from(*name)).collect::<Vec<_>>();
    let victims = Victims { pods: uids(victims), violations: 1 };
    PreemptionCandidate { node: node.into(), victims, pods: uids(pods).into_iter().collect() }
}

fn pods(uids: &[&str]) -> (u16, String) {
    let items: Vec<Value> = uids
        .iter()
        .map(|uid| json!({"metadata": {"name": uid, "uid": uid}, "spec": {"whole": uid}}))
        .collect();
    (200, json!({"items": items}).to_string())
}

/// The remaining candidates of nodes a and b, as `node: victims (violations)`.
async fn ask(extenders: &[Extender]) -> Result<Vec<String>, String> {
    let (client, asked) = scripted_client([super::asking::pod(), pods(&["a1", "a2"]), pods(&["b1", "b2"])]);
    let candidates = [candidate("a", &["a1"], &["a1", "a2"]), candidate("b", &["b1"], &["b1", "b2"])];
    let (pod, uid) = (PodKey::new("d", "p"), Uid::from("u"));
    let left = Extenders::new(extenders, client).unwrap().victims(&pod, &uid, &candidates).await;
    if let Some(second) = asked.lock().unwrap().get(1) {
        assert_eq!(second.to_string(), "/api/v1/pods?fieldSelector=spec.nodeName%3Da");
    }
    let show = |left: BTreeMap<NodeName, Victims>| {
        let show = |(node, victims): (NodeName, Victims)| {
            let uids: Vec<String> = victims.pods.iter().map(ToString::to_string).collect();
            format!("{node}: {} ({})", uids.join(" "), victims.violations)
        };
        left.into_iter().map(show).collect()
    };
    left.map(show)
}

#[tokio::test]
async fn victims_are_asked_about_by_uid_or_whole() {
    let url = start_extender().await;
    assert_eq!(ask(&[chooser(&url, "echo")]).await.unwrap(), ["a: a1 (1)", "b: b1 (1)"]);
    let whole = Extender { node_cache_capable: false, ..chooser(&url, "whole") };
    assert_eq!(ask(&[whole]).await.unwrap(), ["a: a1 (1)", "b: b1 (1)"], "read from the API server");
}

#[tokio::test]
async fn each_sees_what_those_before_it_left() {
    let url = start_extender().await;
    let extenders = |verbs: &[&str]| verbs.iter().map(|verb| chooser(&url, verb)).collect::<Vec<_>>();
    assert_eq!(ask(&extenders(&["without-a", "echo"])).await.unwrap(), ["b: b1 (1)"]);
    assert_eq!(ask(&extenders(&["other", "echo"])).await.unwrap(), ["b: b2 (3)"], "others of its pods");
    assert_eq!(ask(&extenders(&["nothing", "broken"])).await.unwrap(), [""; 0], "then nobody else is asked");
    assert_eq!(ask(&[extender(&url, "filter")]).await.unwrap().len(), 2, "that one is not asked");
}

#[tokio::test]
async fn failures_count_unless_they_may_be_ignored() {
    let url = start_extender().await;
    for (verb, words) in [
        ("broken", format!("failed broken with extender at URL {url}/broken, code 500")),
        (
            "stranger",
            format!(
                "extender: {url} claims to preempt pod (UID: &{{x}}) on node: b, but the pod is not found on that node"
            ),
        ),
        ("elsewhere", "nodeinfo not found for node name \"z\"".to_owned()),
        ("nobody", "expected at least one victim pod on node \"a\"".to_owned()),
    ] {
        assert_eq!(ask(&[chooser(&url, verb)]).await.unwrap_err(), words);
        let ignorable = Extender { ignorable: true, ..chooser(&url, verb) };
        let left = ask(&[ignorable]).await.unwrap();
        let expected: &[&str] = if verb == "nobody" { &["b: b1 (0)"] } else { &["a: a1 (1)", "b: b1 (1)"] };
        assert_eq!(left, expected, "{verb}");
    }
}

#[tokio::test]
async fn only_pods_that_name_a_managed_resource_concern_an_extender() {
    let url = start_extender().await;
    let managing = |name: &str| {
        let managed = ManagedResource { name: name.into(), ignored_by_scheduler: false };
        Extender { managed_resources: vec![managed], ..chooser(&url, "without-a") }
    };
    assert_eq!(ask(&[managing("example.com/gpu")]).await.unwrap().len(), 1);
    assert_eq!(ask(&[managing("example.com/fpga")]).await.unwrap().len(), 2);
}
