//! The events of `describe`: those that the daemon wrote about a node, an owner and its pods. Entry point: `read`.

use crate::api::{self as calls, ApiError, JSON};
use crate::connect::{Session, is_name};
use crate::render::describe::ReservationEvent;
use common::api::names;
use serde::Deserialize;

/// The number of events that are shown, the newest ones.
const EVENTS_MAX: usize = 10;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct EventWire {
    reason: String,
    #[serde(alias = "note")]
    message: String,
    #[serde(rename = "type")]
    kind: String,
    reporting_component: String,
    involved_object: InvolvedObjectWire,
    event_time: Option<String>,
    last_timestamp: Option<String>,
    first_timestamp: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InvolvedObjectWire {
    kind: String,
    name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InvolvedObject {
    Node(String),
    /// Any other object, by namespace and UID.
    Object(String, String),
}

/// The events about these objects that the daemon wrote, or whose message names the reservation `id`; the newest last.
pub(crate) async fn read(
    session: &Session,
    about: &[InvolvedObject],
    id: Option<&str>,
) -> Result<Vec<ReservationEvent>, ApiError> {
    let mut found: Vec<ReservationEvent> = Vec::new();
    for about in about {
        let Some((namespace, query)) = query(about) else { continue };
        let each = |json: &str| {
            let Ok(event) = serde_json::from_str::<EventWire>(json) else { return Ok(()) };
            let is_ours = event.reporting_component == names::AUTOMATIC
                || id.is_some_and(|id| event.message.contains(id));
            if is_ours {
                found.push(event.into());
            }
            Ok(())
        };
        let path = format!("/api/v1/namespaces/{namespace}/events");
        calls::list(session, &path, &format!("fieldSelector={query}"), JSON, each).await?;
    }
    // An owner has events about all of its reservations.
    found.retain(|event| id.is_none_or(|id| is_about(event, id)));
    found.sort_by_key(|event| event.at);
    let old = found.len().saturating_sub(EVENTS_MAX);
    Ok(found.split_off(old))
}

/// Whether an event is about the reservation `id`: its message names it, or names no reservation.
fn is_about(event: &ReservationEvent, id: &str) -> bool {
    event.note.contains(id) || !event.note.contains(" reserv") || event.about.starts_with("Pod/")
}

fn query(about: &InvolvedObject) -> Option<(&str, String)> {
    match about {
        InvolvedObject::Node(name) => Some((
            names::EVENTS_NAMESPACE,
            format!("involvedObject.kind%3DNode%2CinvolvedObject.name%3D{name}"),
        )),
        InvolvedObject::Object(namespace, uid) => (is_name(namespace) && is_name(uid))
            .then(|| (namespace.as_str(), format!("involvedObject.uid%3D{uid}"))),
    }
}

impl From<EventWire> for ReservationEvent {
    fn from(wire: EventWire) -> Self {
        let times = [wire.last_timestamp, wire.event_time, wire.first_timestamp];
        let at = times.into_iter().flatten().find_map(|text| text.parse().ok());
        let about = format!("{}/{}", wire.involved_object.kind, wire.involved_object.name);
        Self { at, kind: wire.kind, reason: wire.reason, about, note: wire.message }
    }
}
