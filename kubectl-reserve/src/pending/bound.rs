//! A pod that has its node: since when, and what it still waits for there.

use super::level::{View, and, harmless};
use crate::explain::Stated;
use crate::render::printable;
use crate::render::time::between;
use crate::world::notes::{ContainerDetail, Detail};
use common::model::Pod;

/// Reasons of a container that waits for nothing but its turn.
const COMMON: [&str; 3] = ["ContainerCreating", "PodInitializing", ""];

/// Events that say why volumes are not there.
const VOLUME_EVENTS: [&str; 3] = ["FailedMount", "FailedAttachVolume", "FailedMapVolume"];

pub(super) fn bound(pod: &Pod, view: &View<'_>) -> Stated {
    let node = pod.node.as_ref().map_or("", |node| node.as_str());
    let since = pod.scheduled_at().map_or_else(String::new, |at| format!(" since {}", between(at, view.now)));
    let words = format!("It has been on node {node}{since}: this is not a scheduling problem.");
    let stated = harmless("Bound", "has its node", words);
    match view.notes.detail(&pod.key) {
        Some(detail) => waits(pod, &detail, view).into_iter().fold(stated, and),
        None => stated,
    }
}

/// What the pod waits for on its node, sentence by sentence.
fn waits(pod: &Pod, detail: &Detail, view: &View<'_>) -> Vec<String> {
    if detail.is_ready {
        return vec!["It runs and is ready; it waits for nothing.".into()];
    }
    if !detail.is_started {
        return vec!["The kubelet there has not taken it up yet.".into()];
    }
    let mut words: Vec<String> = detail.containers.iter().filter_map(container).collect();
    words.extend(volumes(pod, view));
    if words.is_empty() {
        words.push("Its containers are being created (images, volumes, network).".into());
    }
    words
}

fn container(container: &ContainerDetail) -> Option<String> {
    let kind = if container.is_init { "Init container" } else { "Container" };
    let name = printable(&container.name);
    let reason = &*container.waits;
    let said = match printable(&container.message) {
        message if message.is_empty() => String::new(),
        message => format!(": {message}"),
    };
    match reason {
        "ImagePullBackOff" | "ErrImagePull" | "InvalidImageName" | "ErrImageNeverPull" => {
            Some(format!("{kind} {name} waits for its image ({reason}){said}"))
        }
        "CrashLoopBackOff" => Some(format!("{kind} {name} ends again and again ({reason}){said}")),
        reason if !COMMON.contains(&reason) => {
            Some(format!("{kind} {name} waits ({}){said}", printable(reason)))
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

fn volumes(pod: &Pod, view: &View<'_>) -> Option<String> {
    let events = view.notes.about("Pod", &pod.key.namespace, &pod.key.name);
    let event = events.iter().find(|event| VOLUME_EVENTS.contains(&&*event.reason))?;
    Some(format!("It waits for a volume ({}): {}", event.reason, printable(&event.message)))
}
