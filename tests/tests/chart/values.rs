//! What each value changes, and which values are refused.

use crate::{NAMESPACE, chart_dir, helm, objects, only, printed};
use anyhow::{Context as _, Result};
use common::config::load;
use common::plugins::PluginList;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A value, the kind of the object that it changes, where, and to what.
type Change = (&'static str, &'static str, &'static str, Value);

fn changes() -> [Change; 20] {
    let digest = format!("sha256:{}", "0".repeat(64));
    [
        ("replicas=3", "Deployment", "/spec/replicas", json!(3)),
        ("image.repository=r/d", "Deployment", "/spec/template/spec/containers/0/image", json!("r/d:0.1.0")),
        ("image.tag=v7", "Deployment", "/spec/template/spec/containers/0/image", json!("reserve-daemon:v7")),
        (
            "image.digest=sha256:0000000000000000000000000000000000000000000000000000000000000000",
            "Deployment",
            "/spec/template/spec/containers/0/image",
            json!(format!("reserve-daemon@{digest}")),
        ),
        (
            "image.pullPolicy=Always",
            "Deployment",
            "/spec/template/spec/containers/0/imagePullPolicy",
            json!("Always"),
        ),
        (
            "imagePullSecrets[0].name=s",
            "Deployment",
            "/spec/template/spec/imagePullSecrets/0/name",
            json!("s"),
        ),
        ("logVerbosity=5", "Deployment", "/spec/template/spec/containers/0/args/1", json!("--v=5")),
        ("extraArgs={--x}", "Deployment", "/spec/template/spec/containers/0/args/3", json!("--x")),
        ("podDisruptionBudget.minAvailable=50%", "PodDisruptionBudget", "/spec/minAvailable", json!("50%")),
        ("priorityClassName=high", "Deployment", "/spec/template/spec/priorityClassName", json!("high")),
        (
            "priorityClassName=system-node-critical",
            "ResourceQuota",
            "/spec/scopeSelector/matchExpressions/0/values",
            json!(["system-node-critical"]),
        ),
        (
            "resources.limits.memory=2Gi",
            "Deployment",
            "/spec/template/spec/containers/0/resources/limits/memory",
            json!("2Gi"),
        ),
        ("nodeSelector.a=b", "Deployment", "/spec/template/spec/nodeSelector/a", json!("b")),
        ("tolerations[0].key=k", "Deployment", "/spec/template/spec/tolerations/0/key", json!("k")),
        (
            "affinity.nodeAffinity.x=y",
            "Deployment",
            "/spec/template/spec/affinity",
            json!({"nodeAffinity": {"x": "y"}}),
        ),
        (
            "schedulerNameByNamespace.enabled=true,schedulerNames={one,two}",
            "MutatingAdmissionPolicy",
            "/spec/mutations/0/applyConfiguration/expression",
            json!("Object{spec: Object.spec{schedulerName: 'one'}}"),
        ),
        ("podAnnotations.a=b", "Deployment", "/spec/template/metadata/annotations/a", json!("b")),
        ("podLabels.a=b", "Deployment", "/spec/template/metadata/labels/a", json!("b")),
        ("serviceMonitor.enabled=true", "ServiceMonitor", "/spec/endpoints/0/port", json!("https")),
        (
            "serviceMonitor.enabled=true,serviceMonitor.labels.release=p",
            "ServiceMonitor",
            "/metadata/labels/release",
            json!("p"),
        ),
    ]
}

#[test]
fn each_value_changes_what_it_says() -> Result<()> {
    let plain = objects(&[])?;
    for (set, kind, pointer, wanted) in changes() {
        let changed = objects(&[set])?;
        let object = only(&changed, kind)?;
        assert_eq!(object.pointer(pointer), Some(&wanted), "{set}");
        let before = only(&plain, kind).ok().and_then(|object| object.pointer(pointer));
        assert_ne!(before, Some(&wanted), "{set} changes nothing");
    }
    Ok(())
}

/// How many objects of each kind there are.
fn counts(all: &BTreeMap<String, Value>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for object in all.values() {
        *counts.entry(object["kind"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn parts_can_be_left_out() -> Result<()> {
    let policies: &[&str] = &["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"];
    let plain = counts(&objects(&[])?);
    for (set, kinds) in [
        ("policies.enabled=false", policies),
        ("flowControl.enabled=false", &["FlowSchema", "PriorityLevelConfiguration"]),
        ("networkPolicy.enabled=false", &["NetworkPolicy"]),
        ("podDisruptionBudget.enabled=false", &["PodDisruptionBudget"]),
        ("replicas=1", &["PodDisruptionBudget"]), // or no node with the only replica could be drained
        ("priorityClassName=high", &["ResourceQuota"]),
    ] {
        let left = counts(&objects(&[set])?);
        let gone: Vec<&str> =
            plain.keys().filter(|kind| !left.contains_key(*kind)).map(String::as_str).collect();
        assert_eq!(gone, kinds, "{set}");
    }
    Ok(())
}

#[test]
fn policies_follow_the_version_of_kubernetes_unless_they_are_switched() -> Result<()> {
    let home = tempfile::tempdir()?;
    let count = |version: &str, set: &str| -> Result<usize> {
        let words = ["template", "reserve", "--kube-version", version, "--set", set];
        let text = printed(helm(home.path())?.args(words).arg(chart_dir()))?;
        Ok(text.lines().filter(|line| *line == "kind: ValidatingAdmissionPolicy").count())
    };
    assert_eq!(count("1.29.9", "policies.enabled=auto")?, 0);
    assert!(count("1.30.0", "policies.enabled=auto")? > 0);
    assert_eq!(count("1.37.0", "policies.enabled=false")?, 0);
    assert!(count("1.29.9", "policies.enabled=true")? > 0);
    Ok(())
}

/// The configuration is one that the daemon takes, and another one has another name, so that the daemon's pods are made anew.
#[test]
fn the_daemon_schedules_for_the_names_that_are_given() -> Result<()> {
    let config = |set: &[&str]| -> Result<(String, String)> {
        let all = objects(set)?;
        let object = only(&all, "ConfigMap")?;
        let name = object["metadata"]["name"].as_str().context("no name")?;
        let volume = only(&all, "Deployment")?
            .pointer("/spec/template/spec/volumes")
            .and_then(Value::as_array)
            .and_then(|volumes| volumes.iter().find(|volume| volume["name"] == "config"))
            .context("no volume")?;
        assert_eq!(volume["configMap"]["name"], *name);
        Ok((name.to_owned(), object["data"]["config.yaml"].as_str().context("no text")?.to_owned()))
    };
    let (plain_name, _) = config(&[])?;
    let (name, text) = config(&["schedulerNames={one,two}"])?;
    assert_ne!(name, plain_name);
    let loaded = load("config.yaml", &text, &PluginList::built_in().declarations())?;
    let names: Vec<&str> =
        loaded.configuration.profiles.iter().map(|profile| &*profile.scheduler_name).collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!(loaded.configuration.leader_election.resource_namespace, NAMESPACE);
    let (_, own) = config(&["configuration=apiVersion: x"])?;
    assert_eq!(own, "apiVersion: x");
    Ok(())
}

#[test]
fn cert_manager_makes_both_certificates_and_the_daemon_mounts_its_own() -> Result<()> {
    let on = "extender.enabled=true,extender.certificates.source=cert-manager";
    let all =
        objects(&[on, "extender.certificates.secretName=s", "extender.controlPlaneCIDRs={192.0.2.1/32}"])?;
    let server = &all[&format!("Certificate {NAMESPACE} reserve-extender")]["spec"];
    assert_eq!(server["secretName"], "s");
    assert_eq!(server["dnsNames"], json!([format!("reserve-extender.{NAMESPACE}.svc")]));
    assert_eq!(server["issuerRef"], json!({"kind": "Issuer", "name": "reserve-extender"}));
    let client = &all[&format!("Certificate {NAMESPACE} reserve-extender-client")]["spec"];
    assert_eq!(
        (&client["usages"], &client["commonName"]),
        (&json!(["client auth"]), &json!("kube-scheduler"))
    );
    let volumes = &only(&all, "Deployment")?["spec"]["template"]["spec"]["volumes"];
    assert_eq!(volumes[0]["secret"]["secretName"], "s");
    let addresses =
        &all[&format!("NetworkPolicy {NAMESPACE} reserve-extender")]["spec"]["ingress"][0]["from"];
    assert_eq!(*addresses, json!([{"ipBlock": {"cidr": "192.0.2.1/32"}}]));

    let theirs = objects(&[
        on,
        "extender.certificates.issuerRef.name=i,extender.certificates.issuerRef.kind=ClusterIssuer",
    ])?;
    assert!(!counts(&theirs).contains_key("Issuer"));
    let server = &theirs[&format!("Certificate {NAMESPACE} reserve-extender")]["spec"];
    assert_eq!(server["issuerRef"], json!({"kind": "ClusterIssuer", "name": "i"}));
    Ok(())
}

#[test]
fn values_that_mean_nothing_are_refused() -> Result<()> {
    for set in [
        "replica=3",
        "replicas=0",
        "image.digest=sha256:12",
        "schedulerNames=null",
        "schedulerNames={}",
        "schedulerNames={A B}",
        "policies.enabled=sometimes",
        "extender.certificates.source=self-signed",
        "extender.controlPlaneCIDRs={192.0.2.1}",
        "serviceMonitor.interval=often",
        "serviceMonitor.serviceAccount.name=p",
        "extraArgs={x}",
    ] {
        let refused = objects(&[set]);
        let said = refused.err().map(|error| format!("{error:#}")).unwrap_or_default();
        assert!(said.contains("values don't meet the specifications of the schema"), "{set}: {said}");
    }
    Ok(())
}

/// The rules and the dashboard of `monitoring/`, with links that lead somewhere.
#[test]
fn rules_and_dashboard_come_along() -> Result<()> {
    let on = "prometheusRule.enabled=true,prometheusRule.runbookBase=https://h/r/,dashboard.enabled=true";
    let all = objects(&[on])?;
    let alerts =
        only(&all, "PrometheusRule")?["spec"]["groups"][0]["rules"].as_array().context("no rules")?;
    assert!(alerts.len() > 10, "{alerts:?}");
    for alert in alerts {
        let link = alert["annotations"]["runbook_url"].as_str().unwrap_or_default();
        assert!(link.starts_with("https://h/r/docs/runbook.md#reserve"), "{alert}");
    }
    let dashboard = &all[&format!("ConfigMap {NAMESPACE} reserve-dashboard")];
    assert_eq!(dashboard["metadata"]["labels"]["grafana_dashboard"], "1");
    let text = dashboard["data"]["kubectl-reserve.json"].as_str().context("no text")?;
    assert_eq!(serde_json::from_str::<Value>(text)?["uid"], "kubectl-reserve");
    Ok(())
}
