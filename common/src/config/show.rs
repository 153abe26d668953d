//! Prints the effective configuration as a file, for the log. Loaded again, the file gives the same configuration, except secrets.
//! Entry point: [`Configuration::to_yaml`].

use serde_json::{Map, Value, json};

use super::duration;
use super::show_extender::extender;
use super::value::{Configuration, EnabledPlugin, LeaderElection, Profile};
use super::version::{API_VERSION, KIND};
use crate::model::ExtensionPoint;

pub(super) const REDACTED: &str = "REDACTED";

impl Configuration {
    /// The whole configuration as YAML, its fields in alphabetical order, without secrets.
    pub fn to_yaml(&self) -> String {
        yaml(&self.to_value())
    }

    /// The whole configuration as a JSON tree, without secrets.
    pub fn to_value(&self) -> Value {
        let connection = &self.client_connection;
        let file = json!({
            "apiVersion": API_VERSION,
            "kind": KIND,
            "parallelism": self.parallelism,
            "percentageOfNodesToScore": self.percentage_of_nodes_to_score,
            "podInitialBackoffSeconds": self.pod_initial_backoff_seconds,
            "podMaxBackoffSeconds": self.pod_max_backoff_seconds,
            "leaderElection": leader_election(&self.leader_election),
            "clientConnection": {
                "kubeconfig": connection.kubeconfig,
                "acceptContentTypes": connection.accept_content_types,
                "contentType": connection.content_type,
                "qps": number(connection.qps),
                "burst": connection.burst,
            },
            "enableProfiling": self.enable_profiling,
            "enableContentionProfiling": self.enable_contention_profiling,
            "profiles": self.profiles.iter().map(profile).collect::<Vec<_>>(),
        });
        let extenders: Vec<Value> = self.extenders.iter().map(extender).collect();
        with(file, json!({"delayCacheUntilActive": self.delay_cache_until_active, "extenders": extenders}))
    }
}

pub(super) fn yaml(value: &Value) -> String {
    // JSON is valid YAML, so it is the fallback.
    serde_saphyr::to_string(value).unwrap_or_else(|_| value.to_string())
}

/// The object with those of the `optional` fields that have a value: not null, false, an empty text or an empty list.
pub(super) fn with(mut object: Value, optional: Value) -> Value {
    let is_empty = |value: &Value| {
        matches!(value, Value::Null | Value::Bool(false)) || *value == "" || *value == json!([])
    };
    if let (Value::Object(fields), Value::Object(optional)) = (&mut object, optional) {
        fields.extend(optional.into_iter().filter(|(_, value)| !is_empty(value)));
    }
    object
}

pub(super) fn put(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(fields) = object {
        fields.insert(key.to_owned(), value);
    }
}

/// A number without `.0`: `50`, not `50.0`, as kube-scheduler prints it.
fn number(number: f32) -> Value {
    let text = number.to_string();
    text.parse::<i64>().map_or_else(|_| json!(text.parse::<f64>().unwrap_or_default()), |whole| json!(whole))
}

fn leader_election(election: &LeaderElection) -> Value {
    json!({
        "leaderElect": election.leader_elect,
        "leaseDuration": duration::print(election.lease_duration),
        "renewDeadline": duration::print(election.renew_deadline),
        "retryPeriod": duration::print(election.retry_period),
        "resourceLock": election.resource_lock,
        "resourceName": election.resource_name,
        "resourceNamespace": election.resource_namespace,
    })
}

/// A profile that lists the plugins of every extension point and disables the defaults.
fn profile(profile: &Profile) -> Value {
    let all_off = json!([{"name": "*"}]);
    let mut plugins = Map::new();
    plugins.insert("multiPoint".to_owned(), json!({"disabled": all_off}));
    for point in ExtensionPoint::configurable().filter(|point| !profile.at(*point).is_empty()) {
        let enabled: Vec<Value> = profile.at(point).iter().map(plugin).collect();
        plugins.insert(point.field().to_owned(), json!({"enabled": enabled}));
    }
    let shown = profile.plugin_configs.iter();
    let shown = shown.filter(|config| config.is_always_shown || profile.runs(&config.name));
    let config: Vec<Value> = shown.map(|config| json!({"name": config.name, "args": config.args})).collect();
    let shown = json!({"schedulerName": profile.scheduler_name, "plugins": plugins, "pluginConfig": config});
    with(shown, json!({"percentageOfNodesToScore": profile.percentage_of_nodes_to_score}))
}

fn plugin(enabled: &EnabledPlugin) -> Value {
    let weight = Some(enabled.weight).filter(|weight| *weight != 0);
    with(json!({"name": enabled.name}), json!({"weight": weight}))
}
