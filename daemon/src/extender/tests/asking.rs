//! Our calls to extenders, answered by a small extender in this test.

use super::super::ask::Extenders;
use crate::testing::scripted_client;
use bytes::Bytes;
use common::config::{Extender, ManagedResource};
use common::model::{NodeName, PodKey};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use jiff::SignedDuration;
use serde_json::{Value, json};
use std::convert::Infallible;
use tokio::net::TcpListener;

/// Starts an extender that drops node `a`, prefers node `c`, and fails for unknown verbs; returns its address.
async fn start_extender() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/prefix/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // A client that keeps its connection open must not block the next one.
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)));
        }
    });
    url
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let asked: Value =
        serde_json::from_slice(&request.into_body().collect().await.unwrap().to_bytes()).unwrap();
    let names: Vec<String> = match &asked["NodeNames"] {
        Value::Array(names) => names.iter().map(|name| name.as_str().unwrap().to_owned()).collect(),
        _ => {
            let items = asked["Nodes"]["items"].as_array().cloned().unwrap_or_default();
            items.iter().map(|node| node["metadata"]["name"].as_str().unwrap().to_owned()).collect()
        }
    };
    let left: Vec<&String> = names.iter().filter(|name| *name != "a").collect();
    let (code, body) = match path.as_str() {
        "/prefix/filter" => (200, json!({"NodeNames": left, "FailedNodes": {"a": "no a"}})),
        "/prefix/whole" => {
            let items: Vec<Value> = left.iter().map(|name| json!({"metadata": {"name": name}})).collect();
            (200, json!({"Nodes": {"items": items}, "FailedAndUnresolvableNodes": {"a": "never a"}}))
        }
        "/prefix/invents" => (200, json!({"NodeNames": ["x"]})),
        "/prefix/empty" => (200, json!({})),
        "/prefix/says" => (200, json!({"Error": "I am tired"})),
        "/prefix/prioritize" => (200, json!([{"Host": "c", "Score": 7}])),
        "/prefix/bind" => (200, json!({"Error": if asked["Node"] == "b" { "" } else { "not there" }})),
        _ => (500, json!({})),
    };
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = StatusCode::from_u16(code).unwrap();
    Ok(response)
}

pub(super) fn extender(url: &str, filter: &str) -> Extender {
    Extender {
        url_prefix: url.into(),
        filter_verb: filter.into(),
        preempt_verb: String::new(),
        prioritize_verb: String::new(),
        weight: 2,
        bind_verb: String::new(),
        enable_https: false,
        tls: None,
        http_timeout: SignedDuration::from_secs(5),
        node_cache_capable: true,
        managed_resources: Vec::new(),
        ignorable: false,
    }
}

pub(super) fn pod() -> (u16, String) {
    let containers = json!([{"resources": {"limits": {"example.com/gpu": "1"}}}]);
    (
        200,
        json!({"metadata": {"name": "p", "namespace": "d", "uid": "u"}, "spec": {"containers": containers}})
            .to_string(),
    )
}

fn nodes() -> (u16, String) {
    let items: Vec<Value> = ["a", "b", "c"].iter().map(|name| json!({"metadata": {"name": name}})).collect();
    (200, json!({"items": items}).to_string())
}

async fn ask(extenders: &[Extender]) -> Result<crate::scheduler::ExtenderAnswer, String> {
    let (client, _) = scripted_client([pod(), nodes()]);
    let names = ["a", "b", "c"].map(NodeName::from).to_vec();
    Extenders::new(extenders, client).unwrap().ask(&PodKey::new("d", "p"), &"u".into(), names).await
}

fn passed(opinions: &crate::scheduler::ExtenderAnswer) -> Vec<&str> {
    opinions.passed.iter().map(NodeName::as_str).collect()
}

#[tokio::test]
async fn filters_and_scores_are_asked_with_names_or_whole_nodes() {
    let url = start_extender().await;
    let by_name = Extender { prioritize_verb: "prioritize".into(), ..extender(&url, "filter") };
    let opinions = ask(&[by_name]).await.unwrap();
    assert_eq!((passed(&opinions), opinions.failed[&NodeName::from("a")].as_str()), (vec!["b", "c"], "no a"));
    assert_eq!(opinions.scores, [(NodeName::from("c"), 140)].into(), "7 * weight 2 * 10");
    let whole = Extender { node_cache_capable: false, ..extender(&url, "whole") };
    let opinions = ask(&[whole]).await.unwrap();
    assert_eq!(
        (passed(&opinions), opinions.unresolvable[&NodeName::from("a")].as_str()),
        (vec!["b", "c"], "never a")
    );
}

#[tokio::test]
async fn failures_count_unless_they_may_be_ignored() {
    let url = start_extender().await;
    let gone = "http://127.0.0.1:1";
    let base = url.trim_end_matches('/');
    for (what, broken, words) in [
        (
            "code",
            extender(&url, "broken"),
            format!("failed broken with extender at URL {base}/broken, code 500"),
        ),
        ("words", extender(&url, "says"), "I am tired".to_owned()),
        (
            "nodes",
            extender(&url, "invents"),
            format!(
                "extender {url:?} claims a filtered node \"x\" which is not found in the input node list"
            ),
        ),
        ("nobody", extender(gone, "filter"), format!("Post \"{gone}/filter\": dial tcp 127.0.0.1:1: ")),
    ] {
        let error = ask(std::slice::from_ref(&broken)).await.unwrap_err();
        assert!(error.starts_with(&words), "{what}: {error}");
        let ignorable = Extender { ignorable: true, ..broken };
        let opinions = ask(&[ignorable, extender(&url, "filter")]).await.unwrap();
        assert_eq!(passed(&opinions), ["b", "c"], "{what}");
    }
    assert!(ask(&[extender(&url, "empty")]).await.unwrap().passed.is_empty(), "nothing said is no node");
}

#[tokio::test]
async fn only_pods_that_name_a_managed_resource_concern_an_extender() {
    let url = start_extender().await;
    let managing = |name: &str| {
        let managed = ManagedResource { name: name.into(), ignored_by_scheduler: false };
        Extender { managed_resources: vec![managed], ..extender(&url, "filter") }
    };
    assert_eq!(passed(&ask(&[managing("example.com/gpu")]).await.unwrap()), ["b", "c"]);
    assert_eq!(passed(&ask(&[managing("example.com/fpga")]).await.unwrap()), ["a", "b", "c"]);
}

#[tokio::test]
async fn a_binder_binds_and_one_that_may_be_ignored_leaves_it_to_us() {
    let url = start_extender().await;
    let bind = async |node: &str, ignorable: bool| {
        let binder = Extender { bind_verb: "bind".into(), ignorable, ..extender(&url, "") };
        let (client, _) = scripted_client([]);
        let extenders = Extenders::new(&[binder], client).unwrap();
        extenders.bind(&PodKey::new("d", "p"), &"u".into(), &NodeName::from(node)).await
    };
    assert_eq!(bind("b", false).await, Some(Ok(())));
    assert_eq!(bind("c", false).await, Some(Err("not there".to_owned())));
    assert_eq!(bind("c", true).await, None);
}

#[test]
fn an_address_that_cannot_be_asked_is_refused_at_the_start() {
    let (client, _) = tokio::runtime::Runtime::new().unwrap().block_on(async { scripted_client([]) });
    for url in ["", "127.0.0.1:1", "ftp://x", "http://", "https://localhost:1"] {
        assert!(Extenders::new(&[extender(url, "filter")], client.clone()).is_err(), "{url}");
    }
    let open = Extender { enable_https: true, ..extender("https://localhost:1", "filter") };
    assert!(Extenders::new(&[open], client).is_ok(), "as upstream");
}
