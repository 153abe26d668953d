//! A pod that is bound to a node: since when, and what it still waits for there.

use super::pod_finding::{PendingInput, not_blocked, with_sentence};
use crate::cluster_data::diagnostics::{ContainerDetail, PodDetail};
use crate::explain::PodFinding;
use crate::render::printable;
use crate::render::time::between;
use common::model::Pod;

/// Reasons of the state `waiting` that every container has for a while.
const COMMON: [&str; 3] = ["ContainerCreating", "PodInitializing", ""];

/// Events that say why a volume is not mounted.
const VOLUME_EVENTS: [&str; 3] = ["FailedMount", "FailedAttachVolume", "FailedMapVolume"];

pub(super) fn bound_pod(pod: &Pod, input: &PendingInput<'_>) -> PodFinding {
    let node = pod.node.as_ref().map_or("", |node| node.as_str());
    let since = pod.scheduled_at().map_or_else(String::new, |at| format!(" for {}", between(at, input.now)));
    let words = format!("It has been on node {node}{since}: this is not a scheduling problem.");
    let finding = not_blocked("Bound", "has its node", words);
    match input.diagnostics.detail(&pod.key) {
        Some(detail) => wait_reasons(pod, &detail, input).into_iter().fold(finding, with_sentence),
        None => finding,
    }
}

/// What the pod waits for on its node, one sentence for each reason.
fn wait_reasons(pod: &Pod, detail: &PodDetail, input: &PendingInput<'_>) -> Vec<String> {
    if detail.is_ready {
        return vec!["It runs and is ready; it waits for nothing.".into()];
    }
    if !detail.is_started {
        return vec!["The kubelet there has not taken it up yet.".into()];
    }
    let mut words: Vec<String> = detail.containers.iter().filter_map(container).collect();
    words.extend(volumes(pod, input));
    if words.is_empty() {
        words.push("Its containers are being created (images, volumes, network).".into());
    }
    words
}

fn container(container: &ContainerDetail) -> Option<String> {
    let kind = if container.is_init { "Init container" } else { "Container" };
    let name = printable(&container.name);
    let reason = &*container.waiting_reason;
    let message = match printable(&container.message) {
        message if message.is_empty() => String::new(),
        message => format!(": {message}"),
    };
    match reason {
        "ImagePullBackOff" | "ErrImagePull" | "InvalidImageName" | "ErrImageNeverPull" => {
            Some(format!("{kind} {name} waits for its image ({reason}){message}"))
        }
        "CrashLoopBackOff" => Some(format!("{kind} {name} ends again and again ({reason}){message}")),
        reason if !COMMON.contains(&reason) => {
            Some(format!("{kind} {name} waits ({}){message}", printable(reason)))
        }
        _ if container.is_init && container.is_running && !container.is_ready => {
            Some(format!("Init container {name} has not ended yet."))
        }
        _ if !container.is_init && container.is_running && !container.is_ready => {
            Some(format!("Container {name} runs, but its startup or readiness probe has not succeeded."))
        }
        _ => None,
    }
}

fn volumes(pod: &Pod, input: &PendingInput<'_>) -> Option<String> {
    let events = input.diagnostics.about("Pod", &pod.key.namespace, &pod.key.name);
    let event = events.iter().find(|event| VOLUME_EVENTS.contains(&&*event.reason))?;
    Some(format!("It waits for a volume ({}): {}", event.reason, printable(&event.message)))
}
