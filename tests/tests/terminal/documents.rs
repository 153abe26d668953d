//! What is printed for programs: every kind has a schema, every schema a kind, and every document is as its schema says.

use crate::alive;
use crate::command::Person;
use crate::still::shared_cluster;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

#[path = "../../../kubectl-reserve/src/print/schema_check.rs"]
mod schema_check;

/// The kinds that have a schema.
fn schemas() -> Result<BTreeSet<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schema");
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            names.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
        }
    }
    Ok(names)
}

/// The document that a line prints, held against its schema; as YAML it is the same.
fn checked(person: &mut Person<'_>, line: &str) -> Result<Value> {
    let document = valid(person, line)?;
    let yaml = person.pipes(&format!("{line} -o yaml"))?.out;
    let again: Value = serde_saphyr::from_str(&yaml).with_context(|| format!("{line}: {yaml}"))?;
    ensure!(
        again["kind"] == document["kind"] && again["items"].is_array() == document["items"].is_array(),
        "{yaml}"
    );
    Ok(document)
}

/// The document that a line prints, held against its schema.
fn valid(person: &mut Person<'_>, line: &str) -> Result<Value> {
    let piped = person.pipes(&format!("{line} -o json"))?;
    let document: Value =
        serde_json::from_str(&piped.out).with_context(|| format!("{line}: {}", piped.out))?;
    schema_check::assert_valid(&document);
    Ok(document)
}

/// The document in the page that a line prints, held against its schema.
fn picture(person: &mut Person<'_>, line: &str) -> Result<Value> {
    let page = person.pipes(&format!("{line} -o html"))?.out;
    let data = page.split_once("id=\"picture\">").and_then(|(_, rest)| rest.split_once("</script>"));
    let document = serde_json::from_str(data.context("no picture")?.0).with_context(|| line.to_owned())?;
    schema_check::assert_valid(&document);
    Ok(document)
}

fn kind(document: &Value) -> String {
    document["kind"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn every_document_is_as_its_schema_says() -> Result<()> {
    let shared_cluster = shared_cluster()?;
    let mut person = Person::at(&shared_cluster.cluster);
    let manifest =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: c, image: i}]}\n";
    let manifest = shared_cluster.cluster.file("pod.yaml", manifest)?;
    let saved = shared_cluster.cluster.home().join("shared_cluster.gz").display().to_string();
    let mut kinds = BTreeSet::new();
    let lines = [
        format!("explain --save-snapshot {saved}"),
        "list -A".into(),
        "list -n kube-system --owner nobody".into(),
        "describe 7f3a0c node/node-3 node/node-2".into(),
        format!("describe pod/{}", shared_cluster.web[0]),
        "nodes".into(),
        "nodes -l pool=none".into(),
        "explain -A".into(),
        "explain -n kube-system".into(),
        format!("explain {}", shared_cluster.shop),
        format!("explain {} --node node-1 --node node-4", shared_cluster.shop),
        format!("explain {} --what-if uncordon=node-3", shared_cluster.shop),
        format!("explain {}", shared_cluster.web[0]),
        format!("explain -f {}", manifest.display()),
        "fit --cpu 6 --replicas 3".into(),
        "fit --cpu 1 --per-node".into(),
        "status".into(),
        "doctor".into(),
        "version".into(),
        "version --client".into(),
    ];
    for line in &lines {
        kinds.insert(kind(&checked(&mut person, line)?));
    }
    let cluster = alive::shared_cluster()?;
    let mut person = Person::at(&cluster);
    kinds.insert(kind(&valid(&mut person, "pod db-0 --yes")?));
    alive::settled(&cluster)?;
    kinds.insert(kind(&valid(&mut person, "restart sts/db --yes")?));
    for line in [
        "nodes",
        "list -A",
        "explain -A",
        &format!("explain {}", shared_cluster.shop),
        "fit --cpu 6 --replicas 3",
    ] {
        kinds.insert(kind(&picture(&mut Person::at(&shared_cluster.cluster), line)?));
    }
    assert_eq!(kinds, schemas()?);
    Ok(())
}

#[test]
fn a_snapshot_answers_as_the_cluster_did() -> Result<()> {
    let shared_cluster = shared_cluster()?;
    let mut person = Person::at(&shared_cluster.cluster);
    let saved = shared_cluster.cluster.home().join("shared_cluster.gz").display().to_string();
    person.pipes(&format!("explain --save-snapshot {saved}"))?;
    for line in [
        "list -A",
        "list -A -l pool=db",
        "list 7f3a0c",
        "list nope",
        "nodes",
        "nodes -l pool!=db",
        "nodes node-2",
        "nodes nope",
        "explain -l app=shop",
        "explain -l app!=shop",
        "explain -A",
        &format!("explain {} --fixes none", shared_cluster.shop),
        "fit --cpu 2 --replicas 3",
    ] {
        let (asked, recalled) = (person.pipes(line)?, person.pipes(&format!("{line} --snapshot {saved}"))?);
        // The commands that it prints ask the snapshot, too.
        assert_eq!(recalled.out.replace(&format!(" --snapshot {saved}"), ""), asked.out, "{line}");
        assert_eq!((recalled.talk, recalled.code), (asked.talk, asked.code), "{line}");
    }
    // What a snapshot leaves out is in no picture either: that of the cluster is the same.
    for line in ["nodes", "list -A", "explain -A", &format!("explain {}", shared_cluster.shop), "fit --cpu 2"]
    {
        let asked = picture(&mut person, line)?;
        let recalled = picture(&mut person, &format!("{line} --snapshot {saved}"))?;
        assert_eq!((&asked["nodes"], &asked["layers"]), (&recalled["nodes"], &recalled["layers"]), "{line}");
        assert_eq!(asked["texts"], recalled["texts"], "{line}");
    }
    Ok(())
}
