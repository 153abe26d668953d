//! Answers that cannot be read: a missing right, the page of a proxy, no server at all. They are errors with a reason, and never
//! look as if there were nothing.

use crate::cluster::ProxyAnswer;
use crate::command::Person;
use crate::still::shared_cluster;
use anyhow::{Result, ensure};
use serde_json::json;

/// Every verb that reads, and what it would say if there were nothing.
const LINES: [&str; 17] = [
    "explain",
    "explain -A",
    "explain deploy/shop",
    "explain -l app=shop",
    "list",
    "list -A -o name",
    "describe pod/db-0",
    "describe node/node-1",
    "nodes",
    "fit --cpu 1",
    "drain node-1 --yes",
    "pod db-0 --yes",
    "restart deploy/web --yes",
    "release --all -A --yes",
    "extend 7f3a0c --ttl 5m",
    "add --node node-1 --for deploy/web --cpu 1",
    "explain -w",
];

fn status(code: u16, reason: &str, message: &str) -> Option<(u16, String)> {
    let status = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                         "reason": reason, "message": message, "code": code });
    Some((code, status.to_string()))
}

fn forbidden(_: &str, path: &str) -> Option<(u16, String)> {
    if path.contains("selfsubjectaccessreviews") {
        return Some((201, json!({ "status": { "allowed": false } }).to_string()));
    }
    let resource = path.split('?').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    status(403, "Forbidden", &format!("{resource} is forbidden: User \"me\" cannot list resource"))
}

#[test]
fn what_cannot_be_read_is_an_error_with_a_reason() -> Result<()> {
    let shared_cluster = shared_cluster()?;
    let cases: [(&str, ProxyAnswer, i32, &str); 8] = [
        ("forbidden", forbidden, 14, "Forbidden|you may not"),
        (
            "not-found",
            |_, _| Some((404, "404 page not found\n".into())),
            1,
            "(404 Not Found): 404 page not found",
        ),
        ("bad-gateway", |_, _| Some((502, "".into())), 1, "(502 Bad Gateway): the answer is empty"),
        (
            "unavailable",
            |_, _| Some((503, "<html></html>".into())),
            1,
            "(503 Service Unavailable): the answer is a web page",
        ),
        (
            "gateway-timeout",
            |_, _| Some((504, "upstream timeout".into())),
            1,
            "(504 Gateway Timeout): upstream timeout",
        ),
        ("login-page", |_, _| Some((200, "<html></html>".into())), 1, "cannot be read"),
        ("other-json", |_, _| Some((200, r#"{"message":"log in first"}"#.into())), 1, "cannot be read"),
        (
            "overloaded",
            |_, _| status(429, "TooManyRequests", "too many requests"),
            1,
            "(TooManyRequests): too many requests",
        ),
    ];
    for (name, answer, code, reason) in cases {
        let kubeconfig = shared_cluster.cluster.through_proxy(name, answer)?;
        let mut person = Person::at(&shared_cluster.cluster).with("KUBECONFIG", &kubeconfig);
        for line in LINES {
            let piped = person.pipes(line)?;
            ensure!(piped.code == code, "{name}: {line}: {piped:#?}");
            ensure!(
                reason.split('|').any(|reason| piped.talk.contains(reason)),
                "{name}: {line}: {piped:#?}"
            );
            ensure!(!piped.talk.contains("\\n") && !piped.out.contains("No "), "{name}: {line}: {piped:#?}");
        }
    }
    Ok(())
}

/// Pods may be hidden alone, everywhere or outside of one namespace.
#[test]
fn no_right_to_list_pods_is_not_the_same_as_no_pods() -> Result<()> {
    let shared_cluster = shared_cluster()?;
    let outside: ProxyAnswer = |_, path| path.starts_with("/api/v1/pods").then(|| forbidden("", path))?;
    let everywhere: ProxyAnswer = |_, path| {
        let is_list = path.split('?').next().is_some_and(|path| path.ends_with("/pods"));
        is_list.then(|| forbidden("", path))?
    };
    let outside = shared_cluster.cluster.through_proxy("outside", outside)?;
    let everywhere = shared_cluster.cluster.through_proxy("everywhere", everywhere)?;
    for (kubeconfig, line, needs) in [
        (&outside, "explain -A", "list pods (cluster scope)"),
        (&everywhere, "explain -A", "list pods (cluster scope)"),
        (&everywhere, "explain -n kube-system", "list pods (namespace kube-system)"),
    ] {
        let piped = Person::at(&shared_cluster.cluster).with("KUBECONFIG", kubeconfig).pipes(line)?;
        ensure!(piped.code == 14 && piped.talk.contains(needs), "{line}: {piped:#?}");
    }
    let piped =
        Person::at(&shared_cluster.cluster).with("KUBECONFIG", &outside).pipes("explain -n kube-system")?;
    ensure!(piped.code == 0 && piped.talk.contains("No pending pods found in kube-system"), "{piped:#?}");
    Ok(())
}

#[test]
fn a_server_that_cannot_be_reached_is_named_in_one_line() -> Result<()> {
    let shared_cluster = shared_cluster()?;
    let mut person = Person::at(&shared_cluster.cluster);
    let refused = person.pipes("list -A --server http://127.0.0.1:1")?;
    ensure!(
        refused.talk
            == "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port? (list nodes)\n",
        "{refused:#?}"
    );
    let unknown = person.pipes("list -A --server http://nobody.invalid:6443")?;
    ensure!(
        unknown.talk.starts_with("Unable to connect to the server nobody.invalid:6443: ")
            && unknown.talk.ends_with(" (list nodes)\n")
            && unknown.talk.lines().count() == 1,
        "{unknown:#?}"
    );
    let missing = Person::at(&shared_cluster.cluster).with("KUBECONFIG", "/no/such/file").pipes("list")?;
    ensure!(
        missing.talk.starts_with("error: no kubeconfig found: /no/such/file does not exist\n"),
        "{missing:#?}"
    );
    ensure!([refused.code, unknown.code, missing.code] == [1, 1, 1]);
    Ok(())
}
