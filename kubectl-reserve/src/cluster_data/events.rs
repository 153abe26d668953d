//! Events as the API server returns them, with the fields of core/v1 and of events.k8s.io.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{EventSeries, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, Time};
use serde::Deserialize;

/// The fields of an event that the command shows or searches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventSummary {
    pub(crate) kind: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) component: String,
    /// When it last occurred.
    pub(crate) at: Option<Timestamp>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct EventWire {
    involved_object: ObjectReference,
    reason: String,
    message: Option<String>,
    reporting_component: Option<String>,
    source: Option<EventSource>,
    last_timestamp: Option<Time>,
    event_time: Option<MicroTime>,
    series: Option<EventSeries>,
}

impl EventSummary {
    /// Decodes an event; `None` if that fails.
    pub(super) fn read(json: &str) -> Option<Self> {
        let wire: EventWire = serde_json::from_str(json).ok()?;
        let component = wire.reporting_component.filter(|name| !name.is_empty());
        let source = || wire.source?.component;
        let series = wire.series.and_then(|series| series.last_observed_time);
        let last = wire.last_timestamp.map(|time| time.0);
        let involved = wire.involved_object;
        Some(Self {
            kind: involved.kind.unwrap_or_default(),
            namespace: involved.namespace.unwrap_or_default(),
            name: involved.name.unwrap_or_default(),
            reason: wire.reason,
            message: wire.message.unwrap_or_default(),
            component: component.or_else(source).unwrap_or_default(),
            at: series.map(|time| time.0).or(last).or(wire.event_time.map(|time| time.0)),
        })
    }
}
