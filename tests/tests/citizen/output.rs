//! Templates, columns and sorting: the same document, printed by kubectl and by us.

use super::{SHARED_CLUSTER, kubectl};
use anyhow::{Context as _, Result};
use kubectl_reserve::formatted;
use reserve_tests::shared_cluster::{SOON, TestNamespace};
use serde_json::{Value, json};

/// Everything that the dialect has.
const TEMPLATES: [&str; 38] = [
    "{.items[*].metadata.name}",
    "{.kind} {.apiVersion}",
    "{.items[0].metadata.name}",
    "{.items[-1].metadata.name}",
    "{.items[0:2].metadata.name}",
    "{.items[1:].metadata.name}",
    "{.items[:-1].metadata.name}",
    "{.items[::2].metadata.name}",
    "{.items[0,2].metadata.name}",
    "{.items[].metadata.name}",
    "{.items[*]['metadata.name','immutable']}",
    "{.items[*].data}",
    "{.items[*].metadata.labels}",
    "{.items[?(@.immutable==true)].metadata.name}",
    "{.items[?(@.metadata.name==\"b\")].data.plain}",
    "{.items[?(@.metadata.name!='b')].metadata.name}",
    "{.items[?(@.metadata.name>'a')].metadata.name}",
    "{.items[?(@.metadata.labels.size)].metadata.name}",
    "{.items[?(@.data.plain=='with ) and ] in it')].metadata.name}",
    "{range .items[*]}{.metadata.name}{\"\\t\"}{.data.plain}{\"\\n\"}{end}",
    "{range .items[*]}{.metadata.name}:{range .metadata.finalizers[*]}<{@}>{end};{end}",
    "{range .items[?(@.immutable==true)]}{.metadata.name} {end}!",
    "{range .nothing[*]}x{end}y",
    "{..plain}",
    "{.items[0]..size}",
    "{.items[*].metadata.labels.example\\.com/tier}",
    "{.items[*].metadata.labels['example\\.com/tier']}",
    "{.items[*].metadata.nothing}",
    "{.nothing.at.all}",
    "text only",
    "a{.kind}b{.kind}c",
    "{\"quoted \\\"text\\\" \\u00e4\"}{'x'}",
    "{.items[0].data.markup}",
    "{.items[0].metadata.finalizers}",
    "{.items[0].immutable}",
    "{ .kind }",
    "{$.items[0].metadata.name}{@.kind}",
    "{.items[0:1].data.*}",
];

/// What kubectl refuses, and so must we.
const NONSENSE: [&str; 9] = [
    "{.items[9]}",
    "{.items[0",
    "{.items[\"x\"]}",
    "{nonsense}",
    "{.kind[0]}",
    "{end}",
    "{.items[?(@.metadata.name==b)]}",
    "{.items[?(@.immutable>true)]}",
    "{.items[?(@.metadata.name==1)]}",
];

const COLUMNS: [&str; 4] = [
    "NAME:.metadata.name,LABELS:.metadata.labels,F:.metadata.finalizers,IMMUTABLE:.immutable",
    "N:metadata.name,X:{.data.plain}",
    "A:.nothing,LONGER-THAN-ITS-CELLS:{metadata.name},ALL:.metadata.finalizers[*]",
    "ID:.metadata.name",
];

async fn config_maps(ns: &TestNamespace) -> Result<()> {
    let map = |name: &str, more: Value| {
        let mut map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": ns.name}});
        for (at, value) in more.as_object().into_iter().flatten() {
            if at == "metadata" {
                for (key, value) in value.as_object().into_iter().flatten() {
                    map["metadata"][key] = value.clone();
                }
            } else {
                map[at] = value.clone();
            }
        }
        map
    };
    let maps = [
        map(
            "a",
            json!({"immutable": true, "data": {"plain": "with ) and ] in it"},
            "metadata": {"labels": {"size": "10"}, "finalizers": ["x.example/one", "x.example/two"]}}),
        ),
        map(
            "b",
            json!({"data": {"plain": "text", "markup": "<a href='x'>&</a>"},
            "metadata": {"labels": {"size": "2", "example.com/tier": "back"}}}),
        ),
        map(
            "c",
            json!({"immutable": true, "data": {"plain": "ä ö"}, "metadata": {"labels": {"size": "9k"}}}),
        ),
    ];
    let list = json!({"apiVersion": "v1", "kind": "List", "items": maps});
    ns.cluster.apply(&list.to_string()).await.map(drop)
}

/// The document that kubectl itself prints from: ours and those that every namespace has.
async fn document(ns: &TestNamespace) -> Result<Value> {
    ns.cluster
        .wait_until("all ConfigMaps are there", SOON, async || {
            let text = ns.cluster.run_kubectl(&["get", "configmaps", "-n", ns.name, "-o", "json"]).await?;
            let document: Value = serde_json::from_str(&text)?;
            let count = document["items"].as_array().context("no items")?.len();
            anyhow::ensure!(count == 4, "{count}");
            Ok(document)
        })
        .await
}

#[test]
fn output_is_in_kubectls_dialect() -> Result<()> {
    SHARED_CLUSTER.run("output", async |ns| {
        config_maps(&ns).await?;
        let document = document(&ns).await?;
        let get = |form: &str, more: &[&str]| {
            let words = ["get", "configmaps", "-n", ns.name, "-o", form];
            kubectl(ns.cluster, &[], &[&words[..], more].concat())
        };
        for template in TEMPLATES {
            let form = format!("jsonpath={template}");
            let theirs = get(&form, &[])?.well().with_context(|| template.to_owned())?;
            assert_eq!(formatted(&document, &form, None).as_deref(), Ok(&*theirs), "{template}");
        }
        for template in NONSENSE {
            let form = format!("jsonpath={template}");
            assert_ne!(get(&form, &[])?.code, Some(0), "kubectl takes {template}");
            assert!(formatted(&document, &form, None).is_err(), "{template}");
        }
        for columns in COLUMNS {
            let form = format!("custom-columns={columns}");
            let theirs = get(&form, &[])?.well()?;
            assert_eq!(formatted(&document, &form, None).as_deref(), Ok(&*theirs), "{columns}");
        }
        for path in [".metadata.name", "{.metadata.labels.size}", "metadata.creationTimestamp"] {
            let form = "custom-columns=NAME:.metadata.name";
            let theirs = get(form, &[&format!("--sort-by={path}")])?.well()?;
            assert_eq!(formatted(&document, form, Some(path)).as_deref(), Ok(&*theirs), "{path}");
        }
        Ok(())
    })
}
