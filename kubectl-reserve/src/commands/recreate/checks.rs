//! What is refused before anything is changed, in the words of kubectl where it has the same check; and notes for the plan.

use super::target::TargetPod;
use crate::cli::Recreate;
use crate::error::{Exit, Failure};
use crate::ui::Ui;
use common::model::owner::OwnerKind;

/// Why the pod must not be recreated with these flags; `None` if it may.
pub(super) fn refusal(target: &TargetPod, flags: &Recreate, ui: &Ui) -> Option<Failure> {
    let (pod, name) = (&target.pod, target.name());
    let unsafe_ = |text: String| Some(Failure::new(text).exit(Exit::Unsafe));
    let namespace = &pod.key.namespace;
    if pod.is_mirror {
        let hint = format!(
            "change or remove its file in the manifest folder of the kubelet on {}; the API has no say in it",
            target.node_name()
        );
        return unsafe_(format!("{name} is a mirror pod: its kubelet runs it from a file"))
            .map(|failure| failure.hint(hint));
    }
    if pod.node.is_none() {
        return unsafe_(format!("{name} has no node yet, so there is no room to keep"))
            .map(|failure| failure.hint(format!("kubectl reserve explain {} -n {namespace}", pod.key.name)));
    }
    if pod.is_ended() {
        return unsafe_(format!("{name} has ended and takes no room")).map(|failure| {
            failure.hint(format!("kubectl delete {name} -n {namespace} removes what is left of it"))
        });
    }
    if flags.grace_period == 0 && !flags.force {
        return Some(Failure::usage("--grace-period=0 needs --force"));
    }
    if flags.grace_period == 0 && target.is_of(OwnerKind::StatefulSet) {
        return unsafe_(format!(
            "{name} belongs to a StatefulSet: without grace two pods of that name could run at once"
        ));
    }
    if !target.pod.empty_dirs.is_empty() && !flags.delete_emptydir_data {
        return unsafe_(format!(
            "cannot delete Pods with local storage (use --delete-emptydir-data to override): {}",
            pod.key
        ));
    }
    // A user who is asked can agree to this; with `--yes` the flag `--force` is needed, too.
    let is_asked = ui.can_ask && !ui.is_agreed;
    if target.is_bare() && !flags.force && !is_asked {
        return unsafe_(format!(
            "cannot delete Pods that declare no controller (use --force to override): {}",
            pod.key
        ));
    }
    None
}

pub(super) fn notes(target: &TargetPod) -> Vec<String> {
    let mut notes = Vec::new();
    if target.pod.deleting {
        notes.push("it is already being deleted; its room is kept and nothing is evicted".to_owned());
    }
    if target.is_bare() {
        notes.push(
            "nobody else creates it again: its manifest is backed up, and this command does".to_owned(),
        );
    }
    if target.is_of(OwnerKind::DaemonSet) {
        notes.push("the DaemonSet re-creates it on the same node".to_owned());
    }
    if target.is_of(OwnerKind::Job) {
        notes.push(format!(
            "the Job may count it as failed (backoffLimit {}), unless its podFailurePolicy ignores DisruptionTarget",
            target.chain.iter().find_map(|view| view.backoff_limit).unwrap_or(6)
        ));
    }
    notes
}
