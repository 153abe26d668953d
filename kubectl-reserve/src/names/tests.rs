//! Tests: how names are parsed and what they mean.

use super::resolve::ResolveError;
use super::{NamespaceObjects, ObjectArg, ObjectKind, PodOrWorkload, parse_args, resolve};
use crate::error::Exit;
use crate::reader::PodView;
use common::api::workload::workload;
use common::model::owner::{OwnerKind, Workload};
use serde_json::json;

fn words(text: &str) -> Vec<String> {
    text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn typed(text: &str) -> Vec<String> {
    parse_args(&words(text)).unwrap().iter().map(ToString::to_string).collect()
}

fn owned(kind: OwnerKind, name: &str, by: Option<(&str, &str)>) -> Workload {
    let owners = by.map(|(kind, name)| {
        json!([{ "apiVersion": "apps/v1", "kind": kind, "name": name, "uid": format!("{kind}-{name}"), "controller": true }])
    });
    let json = json!({ "metadata": { "name": name, "namespace": "shop", "uid": format!("{kind}-{name}"),
                                     "ownerReferences": owners } });
    workload(kind, &json.to_string()).unwrap()
}

fn pod_of(name: &str, by: &str, phase: &str) -> PodView {
    let json = json!({
        "metadata": { "name": name, "namespace": "shop", "uid": name, "creationTimestamp": "2026-11-16T08:00:00Z",
                      "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": by,
                                            "uid": format!("ReplicaSet-{by}"), "controller": true }] },
        "spec": { "nodeName": "n1" }, "status": { "phase": phase },
    });
    PodView { is_ready: name.ends_with('a'), ..PodView::read(&json.to_string()).unwrap() }
}

/// Deployment web with two pods and one that ended, Deployment and StatefulSet db, a pod called like a Deployment.
fn shop() -> NamespaceObjects {
    let set =
        |name| owned(OwnerKind::ReplicaSet, name, Some(("Deployment", name.split_once('-').unwrap().0)));
    NamespaceObjects {
        pods: vec![
            pod_of("web-7d9f-b", "web-7d9f", "Running"),
            pod_of("web-7d9f-a", "web-7d9f", "Running"),
            pod_of("web-7d9f-old", "web-7d9f", "Failed"),
            pod_of("one-1-a", "one-1", "Pending"),
            pod_of("twin", "one-9", "Running"),
        ],
        workloads: vec![
            owned(OwnerKind::Deployment, "web", None),
            set("web-7d9f"),
            owned(OwnerKind::Deployment, "one", None),
            set("one-1"),
            owned(OwnerKind::Deployment, "db", None),
            owned(OwnerKind::StatefulSet, "db", None),
            owned(OwnerKind::Deployment, "twin", None),
        ],
        unreadable: Vec::new(),
    }
}

fn meant(text: &str) -> Result<PodOrWorkload, ResolveError> {
    resolve(&parse_args(&words(text)).unwrap()[0], shop())
}

fn shown(target: &PodOrWorkload) -> String {
    match target {
        PodOrWorkload::Pod(found) => format!("pod {}", found.pod.key.name),
        PodOrWorkload::Workload(workload, pods) => {
            let pods: Vec<&str> = pods.iter().map(|found| &*found.pod.key.name).collect();
            format!("{} {}: {}", workload.kind, workload.name, pods.join(" "))
        }
    }
}

#[test]
fn types_are_kubectls() {
    assert_eq!(typed("web-1"), ["web-1"]);
    assert_eq!(typed("po/web-1 sts/db"), ["pod/web-1", "statefulset/db"]);
    assert_eq!(typed("deploy web db"), ["deployment/web", "deployment/db"]);
    assert_eq!(typed("Deployments.apps/web jobs.v1.batch/x"), ["deployment/web", "job/x"]);
    assert_eq!(typed("deploy"), ["deploy"], "alone it is a name");
    assert_eq!(typed("web-1 web-2"), ["web-1", "web-2"]);
    assert_eq!(ObjectKind::from_word("deployments.batch"), None);
    let long = "x".repeat(254);
    for odd in ["../nodes/n1", "pod/../x", "a?watch=1", "-x", "pod/", "node/n1", "ä", "deploy web/x", &long]
    {
        assert_eq!(parse_args(&words(odd)).unwrap_err().exit, Exit::Usage, "{odd}");
    }
    let hint = parse_args(&words("deplyo/x")).unwrap_err().hint;
    assert_eq!(hint.as_deref(), Some("did you mean deploy/…?"));
}

#[test]
fn a_pod_of_that_name_comes_before_a_workload() {
    assert_eq!(shown(&meant("web-7d9f-a").unwrap()), "pod web-7d9f-a");
    assert_eq!(shown(&meant("twin").unwrap()), "pod twin");
    assert_eq!(shown(&meant("deploy/twin").unwrap()), "Deployment twin: ");
    assert_eq!(shown(&meant("web").unwrap()), "Deployment web: web-7d9f-a web-7d9f-b");
    assert_eq!(shown(&meant("rs/web-7d9f").unwrap()), "ReplicaSet web-7d9f: web-7d9f-a web-7d9f-b");
    assert_eq!(shown(&meant("sts/db").unwrap()), "StatefulSet db: ");
}

#[test]
fn one_pod_is_used_and_several_are_a_choice() {
    assert_eq!(&*meant("one").unwrap().one_pod().unwrap().pod.key.name, "one-1-a");
    let now = "2026-11-16T08:10:00Z".parse().unwrap();
    let failure = meant("web").unwrap().one_pod().unwrap_err().into_failure(now);
    assert_eq!(failure.exit, Exit::Usage);
    insta::assert_snapshot!(format!("{}\n{}", failure.message.unwrap(), failure.hint.unwrap()), @r"
    deployment/web has 2 pods; name one of them
      POD          NODE   AGE   STATE
      web-7d9f-a   n1     10m   Ready
      web-7d9f-b   n1     10m   NotReady
    for all of them, one at a time: kubectl reserve restart deployment/web -n shop
    ");
    let none = meant("deploy/twin").unwrap().one_pod().unwrap_err().into_failure(now);
    assert_eq!(none.message.as_deref(), Some("deployment/twin in namespace shop has no pods"));
}

#[test]
fn what_is_not_there_or_not_clear_is_said_with_the_candidates() {
    let ambiguous = ResolveError::Ambiguous(vec!["deployment/db".into(), "statefulset/db".into()]);
    assert_eq!(meant("db"), Err(ambiguous));
    let near = |text| match meant(text) {
        Err(ResolveError::NotFound { near }) => near.join(" "),
        other => panic!("{other:?}"),
    };
    assert_eq!(near("web-7d9f-c"), "deployment/web replicaset/web-7d9f web-7d9f-b");
    assert_eq!(near("wbe"), "deployment/web");
    assert_eq!(near("we"), "deployment/web replicaset/web-7d9f web-7d9f-b web-7d9f-a web-7d9f-old");
    assert_eq!(near("something-else"), "");
    let asked = ObjectArg { kind: Some(ObjectKind::Workload(OwnerKind::Deployment)), name: "wbe".into() };
    let failure = ResolveError::NotFound { near: vec!["deployment/web".into()] }.into_failure(&asked, "shop");
    let message = failure.message.unwrap();
    assert_eq!(message, "Error from server (NotFound): deployments.apps \"wbe\" not found");
    assert_eq!(failure.hint.as_deref(), Some("in namespace shop there is deployment/web"));
}
