//! Writes events: about pods with upstream's texts, and about other objects.

use super::{Effects, Outcome, call};
use crate::state::{ObjectEvent, ObjectRef, PodEvent};
use common::api::names;
use common::model::{PodKey, Uid};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::Api;
use kube::api::PostParams;
use kube::core::ObjectMeta;

/// The API server refuses longer notes.
const NOTE_LEN_MAX: usize = 1024;

pub(super) struct EventSubject<'a> {
    pub(super) pod: &'a PodKey,
    pub(super) uid: &'a Uid,
    pub(super) scheduler_name: &'a str,
    pub(super) at: Timestamp,
}

/// Writes one event about a pod. A failure is only logged: events are information, not state.
pub(super) async fn write(effects: &Effects, subject: &EventSubject<'_>, event: &PodEvent) {
    let events: Api<Event> = Api::namespaced(effects.client.clone(), &subject.pod.namespace);
    let wire = wire(subject, event, &effects.instance);
    match call(events.create(&PostParams::default(), &wire)).await {
        Outcome::Done(_) => {}
        // The pod's namespace is being deleted.
        Outcome::Refused(status) if matches!(status.code, 403 | 404) => {
            tracing::debug!(pod = %subject.pod, "write an event: {}", status.message);
        }
        Outcome::Refused(status) => tracing::warn!(pod = %subject.pod, "write an event: {}", status.message),
        Outcome::Unknown(why) => tracing::warn!(pod = %subject.pod, "write an event: {why}"),
    }
}

pub(super) async fn report(effects: &Effects, report: &ObjectEvent) {
    let about = &report.about;
    let events: Api<Event> = Api::namespaced(effects.client.clone(), about.events_namespace());
    let event = Event {
        metadata: ObjectMeta {
            // The name is a hash of the content, so that a repeated event, for instance after a restart, is written once.
            name: Some(format!("{:.220}.{:016x}", &*about.name, event_hash(report))),
            namespace: Some(about.events_namespace().to_owned()),
            annotations: report
                .answers
                .as_ref()
                .map(|whom| [(names::ANSWERS.into(), whom.to_string())].into()),
            ..ObjectMeta::default()
        },
        action: Some("Reserving".into()),
        event_time: Some(MicroTime(report.at)),
        note: Some(truncate(report.note.clone())),
        reason: Some(report.reason.into()),
        regarding: Some(object_reference(about)),
        related: report.related.as_ref().map(object_reference),
        reporting_controller: Some(names::AUTOMATIC.into()),
        reporting_instance: Some(effects.instance.clone()),
        type_: Some(if report.is_warning { "Warning" } else { "Normal" }.into()),
        ..Event::default()
    };
    match call(events.create(&PostParams::default(), &event)).await {
        Outcome::Done(_) => {}
        Outcome::Refused(status) => {
            tracing::debug!(name = %about.name, "write an event: {}", status.message);
        }
        Outcome::Unknown(why) => tracing::warn!(name = %about.name, "write an event: {why}"),
    }
}

fn object_reference(reference: &ObjectRef) -> ObjectReference {
    ObjectReference {
        api_version: Some(reference.api_version.to_string()),
        kind: Some(reference.kind.to_string()),
        name: Some(reference.name.to_string()),
        namespace: Some(reference.namespace.to_string()).filter(|namespace| !namespace.is_empty()),
        uid: Some(reference.uid.to_string()),
        ..ObjectReference::default()
    }
}

/// A hash (FNV-1a) of the object, the reason, the note and the request that is answered.
fn event_hash(report: &ObjectEvent) -> u64 {
    let whom = report.answers.as_deref().unwrap_or_default();
    let text = format!("{} {} {} {whom}", report.about.uid, report.reason, report.note);
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

fn wire(subject: &EventSubject<'_>, event: &PodEvent, instance: &str) -> Event {
    let (kind, reason, action, note) = match event {
        PodEvent::Scheduled { node } => {
            ("Normal", "Scheduled", "Binding", format!("Successfully assigned {} to {node}", subject.pod))
        }
        PodEvent::FailedScheduling { message } => {
            ("Warning", "FailedScheduling", "Scheduling", message.clone())
        }
        PodEvent::Preempted { by_uid, node, in_memory, .. } => {
            let more = if *in_memory { " (in kube-scheduler memory)." } else { "" };
            let note = format!("Preempted by pod {by_uid} on node {node}{more}");
            ("Normal", "Preempted", "Preempting", note)
        }
    };
    let related = match event {
        PodEvent::Preempted { by, by_uid, .. } => Some(reference(by, by_uid)),
        PodEvent::Scheduled { .. } | PodEvent::FailedScheduling { .. } => None,
    };
    Event {
        metadata: ObjectMeta {
            // As upstream: the pod's name and the time, which no two events of a pod share. Names are ASCII.
            name: Some(format!("{:.230}.{:x}", &*subject.pod.name, subject.at.as_nanosecond())),
            namespace: Some(subject.pod.namespace.to_string()),
            ..ObjectMeta::default()
        },
        action: Some(action.into()),
        event_time: Some(MicroTime(subject.at)),
        note: Some(truncate(note)),
        reason: Some(reason.into()),
        regarding: Some(reference(subject.pod, subject.uid)),
        related,
        reporting_controller: Some(subject.scheduler_name.into()),
        reporting_instance: Some(instance.into()),
        type_: Some(kind.into()),
        ..Event::default()
    }
}

fn reference(pod: &PodKey, uid: &Uid) -> ObjectReference {
    object_reference(&ObjectRef::pod(pod, uid))
}

/// Shortens a note to the length that the API server accepts, between characters.
fn truncate(note: String) -> String {
    const MARK: &str = " ...";
    if note.len() <= NOTE_LEN_MAX {
        return note;
    }
    let end = (0..=NOTE_LEN_MAX - MARK.len()).rev().find(|end| note.is_char_boundary(*end)).unwrap_or(0);
    format!("{}{MARK}", &note[..end])
}

#[cfg(test)]
mod tests {
    use super::{NOTE_LEN_MAX, truncate};

    #[test]
    fn a_long_note_is_cut_between_characters() {
        assert_eq!(truncate("short".into()), "short");
        let ascii = truncate("x".repeat(2000));
        assert_eq!((ascii.len(), &ascii[1018..]), (NOTE_LEN_MAX, "xx ..."));
        let wide = truncate("ä".repeat(1000));
        assert!(wide.len() <= NOTE_LEN_MAX && wide.ends_with("ä ..."), "{wide}");
    }
}
