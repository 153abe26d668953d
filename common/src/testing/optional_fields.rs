//! Builder methods for fields that only some tests of pods and nodes need.

use super::{NodeBuilder, PodBuilder, push};
use jiff::Timestamp;
use serde_json::{Value, json};

impl PodBuilder {
    pub(crate) fn labels<'a>(mut self, labels: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        for (key, value) in labels {
            self.0["metadata"]["labels"][key] = json!(value);
        }
        self
    }

    /// Adds a host port, TCP on all addresses.
    pub(crate) fn port(mut self, port: u16) -> Self {
        push(&mut self.0["spec"]["containers"][0]["ports"], json!({ "hostPort": port }));
        self
    }

    /// Sets `spec.affinity`.
    pub(crate) fn affinity(self, affinity: Value) -> Self {
        self.with("/spec/affinity", affinity)
    }

    /// Adds one of `spec.topologySpreadConstraints`.
    pub(crate) fn spread(mut self, constraint: Value) -> Self {
        push(&mut self.0["spec"]["topologySpreadConstraints"], constraint);
        self
    }

    /// Adds one of `spec.volumes`.
    pub(crate) fn volume(mut self, volume: Value) -> Self {
        push(&mut self.0["spec"]["volumes"], volume);
        self
    }

    /// Sets the image of the first container.
    pub(crate) fn image(self, image: &str) -> Self {
        self.with("/spec/containers/0/image", json!(image))
    }

    /// Sets `status.nominatedNodeName`.
    pub(crate) fn nominated(self, node: &str) -> Self {
        self.with("/status/nominatedNodeName", json!(node))
    }

    pub(crate) fn started(self, time: Timestamp) -> Self {
        self.with("/status/startTime", json!(time.to_string()))
    }
}

impl NodeBuilder {
    pub(crate) fn label(mut self, key: &str, value: &str) -> Self {
        self.0["metadata"]["labels"][key] = json!(value);
        self
    }

    pub(crate) fn image(mut self, names: &[&str], size: i64) -> Self {
        push(&mut self.0["status"]["images"], json!({ "names": names, "sizeBytes": size }));
        self
    }

    /// Adds one of `status.declaredFeatures`.
    pub(crate) fn declares(mut self, feature: &str) -> Self {
        push(&mut self.0["status"]["declaredFeatures"], json!(feature));
        self
    }
}
