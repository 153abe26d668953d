//! Events about reservations: what the daemon said about a node, an owner and their pods.

use crate::api::{self as calls, ApiError, JSON};
use crate::connect::{Session, is_name};
use crate::render::describe::Happened;
use common::api::names;
use serde::Deserialize;

/// So many are shown, the newest.
const SHOWN_MAX: usize = 10;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct EventWire {
    reason: String,
    #[serde(alias = "note")]
    message: String,
    #[serde(rename = "type")]
    kind: String,
    reporting_component: String,
    involved_object: Involved,
    event_time: Option<String>,
    last_timestamp: Option<String>,
    first_timestamp: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Involved {
    kind: String,
    name: String,
}

/// What events are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum About {
    Node(String),
    /// Namespace and UID.
    Object(String, String),
}

/// The daemon's events about all of these, and those that name `id`; the newest last.
pub(crate) async fn happened(
    session: &Session,
    about: &[About],
    id: Option<&str>,
) -> Result<Vec<Happened>, ApiError> {
    let mut found: Vec<Happened> = Vec::new();
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
    // The owner of several reservations hears of all of them.
    found.retain(|event| id.is_none_or(|id| is_about(event, id)));
    found.sort_by_key(|event| event.at);
    let old = found.len().saturating_sub(SHOWN_MAX);
    Ok(found.split_off(old))
}

/// Whether an event is about the reservation `id`: it names it, or names none.
fn is_about(event: &Happened, id: &str) -> bool {
    event.note.contains(id) || !event.note.contains(" reserv") || event.about.starts_with("Pod/")
}

fn query(about: &About) -> Option<(&str, String)> {
    match about {
        About::Node(name) => Some((
            names::EVENTS_NAMESPACE,
            format!("involvedObject.kind%3DNode%2CinvolvedObject.name%3D{name}"),
        )),
        About::Object(namespace, uid) => (is_name(namespace) && is_name(uid))
            .then(|| (namespace.as_str(), format!("involvedObject.uid%3D{uid}"))),
    }
}

impl From<EventWire> for Happened {
    fn from(wire: EventWire) -> Self {
        let times = [wire.last_timestamp, wire.event_time, wire.first_timestamp];
        let at = times.into_iter().flatten().find_map(|text| text.parse().ok());
        let about = format!("{}/{}", wire.involved_object.kind, wire.involved_object.name);
        Self { at, kind: wire.kind, reason: wire.reason, about, note: wire.message }
    }
}
