//! Imitates the few kubectl commands of the demo's script, with kubectl's output. Entry point: [`run`].

use super::cluster::NAMESPACE;
use crate::api::{self, ApiError, JSON, MERGE_PATCH};
use crate::connect::Session;
use crate::error::Failure;
use crate::objects::get;
use crate::reader::existing;
use crate::render::table::table;
use crate::ui::printer;
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;

/// The `Accept` header with which kubectl requests tables.
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// The interval between two checks whether a pod is gone.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs a kubectl command; `words` are its arguments.
pub(super) async fn run(session: &Session, words: &[&str]) -> Result<(), Failure> {
    let done = match words {
        ["get", "pods"] => get_pods(session).await,
        ["delete", "pod", name] => delete(session, name, true).await,
        ["delete", "pod", name, "--wait=false"] => delete(session, name, false).await,
        ["annotate", "statefulset", name, pair] => annotate(session, name, pair).await,
        ["scale", name, replicas, "-n", NAMESPACE] => scale(session, name, replicas).await,
        _ => return Err(Failure::new(format!("the demo knows no kubectl {}", words.join(" ")))),
    };
    printer::out(&done.map_err(|error| error.into_failure(&words.join(" "), ""))?)
}

pub(super) fn pod_path(name: &str) -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/pods/{name}")
}

async fn get_pods(session: &Session) -> Result<String, ApiError> {
    let answer = api::get(session, &format!("/api/v1/namespaces/{NAMESPACE}/pods"), TABLE).await?;
    let found: Value = serde_json::from_str(&answer.text).map_err(api::broken)?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    // Columns with another priority are for -o wide.
    let shown: Vec<bool> =
        list(&found["columnDefinitions"]).iter().map(|column| column["priority"] == 0).collect();
    let keep = |cells: Vec<Value>| {
        let kept = cells.into_iter().zip(&shown).filter(|(_, is_shown)| **is_shown);
        kept.map(|(cell, _)| word(&cell)).collect::<Vec<String>>()
    };
    let titles = list(&found["columnDefinitions"]).iter().map(|column| column["name"].clone()).collect();
    let titles: Vec<String> = keep(titles).iter().map(|title| title.to_uppercase()).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let rows: Vec<Vec<String>> = list(&found["rows"]).iter().map(|row| keep(list(&row["cells"]))).collect();
    Ok(table(Some(&titles), &rows))
}

async fn delete(session: &Session, name: &str, waits: bool) -> Result<String, ApiError> {
    let path = pod_path(name);
    let uid = get(session, &path).await?["metadata"]["uid"].clone();
    api::write(session, Method::DELETE, &path, JSON, String::new()).await?;
    let is_there = |pod: Option<Value>| pod.is_some_and(|pod| pod["metadata"]["uid"] == uid);
    while waits && is_there(existing(get(session, &path).await)?) {
        tokio::time::sleep(PAUSE).await;
    }
    Ok(format!("pod \"{name}\" deleted from {NAMESPACE} namespace\n"))
}

async fn annotate(session: &Session, name: &str, pair: &str) -> Result<String, ApiError> {
    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
    let patch = json!({ "metadata": { "annotations": { key: value } } });
    api::write(session, Method::PATCH, &set_path(name), MERGE_PATCH, patch.to_string()).await?;
    Ok(format!("statefulset.apps/{name} annotated\n"))
}

async fn scale(session: &Session, name: &str, replicas: &str) -> Result<String, ApiError> {
    let name = name.trim_start_matches("statefulset/");
    let replicas = replicas.trim_start_matches("--replicas=").parse().unwrap_or(0_u32);
    let (path, patch) = (format!("{}/scale", set_path(name)), json!({ "spec": { "replicas": replicas } }));
    api::write(session, Method::PATCH, &path, MERGE_PATCH, patch.to_string()).await?;
    Ok(format!("statefulset.apps/{name} scaled\n"))
}

fn set_path(name: &str) -> String {
    format!("/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets/{name}")
}
