//! An hour in a moment: tests cannot wait until reservations end.

use anyhow::{Result, ensure};
use common::api::names;
use jiff::{SignedDuration, Timestamp};
use reserve_tests::requests::patch;
use reserve_tests::shared_cluster::{SOON, TestNamespace};
use serde_json::{Value, json};

/// Lets the reservations on a node end so soon, as if time had passed.
pub(crate) async fn let_time_pass(ns: TestNamespace, node: &str, left: SignedDuration) -> Result<()> {
    let path = format!("/api/v1/nodes/{node}");
    ns.cluster
        .wait_until("time passes", SOON, async || {
            let metadata = ns.cluster.node(node).await?.metadata;
            let mut annotations = metadata.annotations.unwrap_or_default();
            annotations.retain(|key, _| key.starts_with(names::INFO));
            let ends = Timestamp::from_second((Timestamp::now() + left).as_second())?;
            for json in annotations.values_mut() {
                let mut record: Value = serde_json::from_str(json)?;
                record["expires"] = ends.to_string().into();
                *json = record.to_string();
            }
            // Somebody else may write meanwhile; then all is read again.
            let version = metadata.resource_version;
            let change = json!({"metadata": {"annotations": annotations, "resourceVersion": version}});
            let said = patch(&ns.cluster.admin(), &path, &change).await?;
            ensure!(said.code == 200, "{said:?}");
            Ok(())
        })
        .await
}
