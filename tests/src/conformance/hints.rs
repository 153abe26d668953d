//! What upstream's hints would be without what we do otherwise on purpose ([`intended`]): see `docs/conformance.md`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::format::CaseOutcome;

/// The oracle's hints about the change of this case line, for the plugins that have hints here, as we mean to give them.
pub fn intended(oracle: &CaseOutcome, core: &CaseOutcome, line: &Value) -> BTreeMap<String, bool> {
    let (pod, kind) = (&line["pod"], line["change"]["kind"].as_str().unwrap_or_default());
    let with_ours = oracle.hints.iter().filter(|(plugin, _)| core.hints.contains_key(*plugin));
    let mut hints: BTreeMap<String, bool> =
        with_ours.map(|(plugin, queues)| (plugin.clone(), *queues)).collect();
    if let Some(queues) = hints.get_mut("NodeResourcesFit").filter(|_| kind == "AssignedPod") {
        // While the node lacks room, the pod is not tried.
        *queues &= oracle.room;
    }
    if let Some(queues) = hints.get_mut("InterPodAffinity").filter(|_| kind == "Node" && !has_terms(pod)) {
        // The pod was refused because of the terms of other pods, which another node or another label may be out of reach of.
        let [old, new] = [&line["change"]["old"], &line["change"]["new"]];
        let labels = |node: &Value| node["metadata"]["labels"].as_object().cloned().unwrap_or_default();
        *queues = old.is_null() || !new.is_null() && labels(old) != labels(new);
    }
    hints
}

fn has_terms(pod: &Value) -> bool {
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let is_some = |kind: &str| {
        pod["spec"]["affinity"][kind][required].as_array().is_some_and(|terms| !terms.is_empty())
    };
    is_some("podAffinity") || is_some("podAntiAffinity")
}
