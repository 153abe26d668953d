//! What was recreated, for machines: `RecreationList`.

use crate::commands::recreate::Recreated;
use crate::error::Failure;
use crate::flow::recreate::{Landed, Stays};
use crate::print::{Shown, document};
use serde::Serialize;
use serde_json::Value;

/// The pods that were recreated.
pub(crate) struct Reports<'a> {
    pub(crate) done: &'a [Recreated],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecreationList<'a> {
    api_version: &'static str,
    kind: &'static str,
    items: Vec<Item<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item<'a> {
    metadata: Meta<'a>,
    /// The pod that it replaces.
    replaces: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
    same_node: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    reservation: &'a str,
    /// Whether the reservation is still there.
    reserved: bool,
    seconds: u64,
}

#[derive(Serialize)]
struct Meta<'a> {
    namespace: &'a str,
    name: &'a str,
}

impl Shown for Reports<'_> {
    fn table(&self, _is_wide: bool, _has_headers: bool) -> String {
        self.done.iter().map(|one| format!("{}\n", one.summary)).collect()
    }

    fn names(&self) -> Vec<String> {
        self.done.iter().map(|one| format!("pod/{}", name(one))).collect()
    }

    fn document(&self) -> Result<Value, Failure> {
        let items = self.done.iter().map(item).collect();
        document(&RecreationList { api_version: "kubectl-reserve/v1alpha1", kind: "RecreationList", items })
    }
}

/// The replacement, or the old pod where nobody waited for it.
fn name(one: &Recreated) -> &str {
    one.done.pod.as_deref().unwrap_or(&one.replaced)
}

fn item(one: &Recreated) -> Item<'_> {
    Item {
        metadata: Meta { namespace: &one.namespace, name: name(one) },
        replaces: &one.replaced,
        node: one.done.node.as_deref(),
        same_node: one.done.landed == Some(Landed::SameNode),
        reservation: &one.seat,
        reserved: !matches!(one.done.stays, Stays::Nothing | Stays::TakenBack),
        seconds: one.took.as_secs(),
    }
}
