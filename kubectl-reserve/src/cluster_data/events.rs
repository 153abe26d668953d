//! Events as the API server returns them, with the fields of core/v1 and of events.k8s.io.

use jiff::Timestamp;
use serde::Deserialize;

/// The fields of an event that the command shows or searches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventSummary {
    pub(crate) kind: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) reason: String,
    pub(crate) message: String,
    /// The component that wrote it.
    pub(crate) component: String,
    /// When it last occurred.
    pub(crate) at: Option<Timestamp>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct EventWire {
    involved_object: Involved,
    reason: String,
    message: Option<String>,
    reporting_component: Option<String>,
    source: Component,
    last_timestamp: Option<String>,
    event_time: Option<String>,
    series: Option<Series>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Involved {
    kind: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Component {
    component: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Series {
    last_observed_time: Option<String>,
}

impl EventSummary {
    /// Decodes an event; `None` if that fails.
    pub(super) fn read(json: &str) -> Option<Self> {
        let wire: EventWire = serde_json::from_str(json).ok()?;
        let component = wire.reporting_component.filter(|name| !name.is_empty());
        let series = wire.series.and_then(|series| series.last_observed_time);
        let at = series.or(wire.last_timestamp).or(wire.event_time);
        Some(Self {
            kind: wire.involved_object.kind,
            namespace: wire.involved_object.namespace,
            name: wire.involved_object.name,
            reason: wire.reason,
            message: wire.message.unwrap_or_default(),
            component: component.unwrap_or(wire.source.component),
            at: at.and_then(|at| at.parse().ok()),
        })
    }
}
