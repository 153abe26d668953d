//! The document of `pod` and `restart`: a `RecreationList`.

use crate::commands::recreate::RecreatedPod;
use crate::error::Failure;
use crate::flow::recreate::{Leftover, NodeMatch};
use crate::print::Printable;
use crate::render::json::{items, with};
use serde_json::{Value, json};

/// The pods that were recreated.
pub(crate) struct Reports<'a> {
    pub(crate) done: &'a [RecreatedPod],
}

impl Printable for Reports<'_> {
    fn table(&self, _is_wide: bool, _has_headers: bool) -> String {
        self.done.iter().map(|one| format!("{}\n", one.summary)).collect()
    }

    fn names(&self) -> Vec<String> {
        self.done.iter().map(|one| format!("pod/{}", name(one))).collect()
    }

    fn document(&self) -> Result<Value, Failure> {
        Ok(items("RecreationList", self.done.iter().map(item)))
    }
}

/// The name of the replacement, or of the old pod if the command did not wait for the replacement.
fn name(one: &RecreatedPod) -> &str {
    one.done.pod.as_deref().unwrap_or(&one.replaced)
}

fn item(one: &RecreatedPod) -> Value {
    let item = json!({
        "metadata": { "namespace": one.namespace, "name": name(one) },
        "replaces": one.replaced,
        "sameNode": one.done.node_match == Some(NodeMatch::SameNode),
        // Whether the reservation still exists.
        "reserved": !matches!(one.done.leftover, Leftover::Nothing | Leftover::TakenBack),
        "seconds": one.took.as_secs(),
    });
    with(item, json!({ "node": one.done.node, "reservation": one.seat }))
}
