//! The document of `pod` and `restart`: a `RecreationList`.

use crate::commands::recreate::RecreatedPod;
use crate::error::Failure;
use crate::flow::recreate::{Leftover, NodeMatch};
use crate::print::{Printable, document};
use crate::render::json::Items;
use serde::Serialize;
use serde_json::Value;

/// The pods that were recreated.
pub(crate) struct Reports<'a> {
    pub(crate) done: &'a [RecreatedPod],
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
    /// Whether the reservation still exists.
    reserved: bool,
    seconds: u64,
}

#[derive(Serialize)]
struct Meta<'a> {
    namespace: &'a str,
    name: &'a str,
}

impl Printable for Reports<'_> {
    fn table(&self, _is_wide: bool, _has_headers: bool) -> String {
        self.done.iter().map(|one| format!("{}\n", one.summary)).collect()
    }

    fn names(&self) -> Vec<String> {
        self.done.iter().map(|one| format!("pod/{}", name(one))).collect()
    }

    fn document(&self) -> Result<Value, Failure> {
        document(&Items::list("RecreationList", self.done.iter().map(item).collect()))
    }
}

/// The name of the replacement, or of the old pod if the command did not wait for the replacement.
fn name(one: &RecreatedPod) -> &str {
    one.done.pod.as_deref().unwrap_or(&one.replaced)
}

fn item(one: &RecreatedPod) -> Item<'_> {
    Item {
        metadata: Meta { namespace: &one.namespace, name: name(one) },
        replaces: &one.replaced,
        node: one.done.node.as_deref(),
        same_node: one.done.node_match == Some(NodeMatch::SameNode),
        reservation: &one.seat,
        reserved: !matches!(one.done.leftover, Leftover::Nothing | Leftover::TakenBack),
        seconds: one.took.as_secs(),
    }
}
