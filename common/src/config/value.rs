//! The configuration as plain values, with all defaults.

use std::collections::BTreeMap;
use std::fmt;

use jiff::SignedDuration;

use super::args::RawArgs;
use crate::model::ExtensionPoint;

/// The configuration of a scheduler: a `KubeSchedulerConfiguration` with all defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// One profile for each scheduler name; never empty.
    pub profiles: Vec<Profile>,
    pub parallelism: i32,
    /// The percentage of the nodes to find before the search ends; 0 lets the scheduler choose.
    pub percentage_of_nodes_to_score: i32,
    /// The seconds that a pod waits after its first failure.
    pub pod_initial_backoff_seconds: i64,
    pub pod_max_backoff_seconds: i64,
    pub leader_election: LeaderElection,
    pub client_connection: ClientConnection,
    /// The extenders, in the order of the file.
    pub extenders: Vec<Extender>,
    /// Whether the program serves profiles over HTTP.
    pub enable_profiling: bool,
    pub enable_contention_profiling: bool,
    /// Whether a replica keeps no cache before it leads.
    pub delay_cache_until_active: bool,
}

/// The plugins and arguments for the pods of one scheduler name.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    pub scheduler_name: String,
    /// Overrides the value of the configuration.
    pub percentage_of_nodes_to_score: Option<i32>,
    /// The plugins at each extension point, in order; a point without plugins is absent.
    pub plugins: BTreeMap<ExtensionPoint, Vec<EnabledPlugin>>,
    /// The arguments of the plugins that have any, whether they run or not.
    pub plugin_configs: Vec<PluginConfig>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PluginConfig {
    pub name: String,
    /// The arguments as a file has them, with all defaults.
    pub args: RawArgs,
    /// Whether the effective configuration shows them even if the plugin does not run.
    pub is_always_shown: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnabledPlugin {
    pub name: String,
    /// The factor for its score; 0 at extension points without scores.
    pub weight: i32,
}

impl Profile {
    pub fn at(&self, point: ExtensionPoint) -> &[EnabledPlugin] {
        self.plugins.get(&point).map_or(&[], Vec::as_slice)
    }

    /// The arguments of the plugin `name`; `null` if it has none.
    pub fn args(&self, name: &str) -> &RawArgs {
        const NONE: &RawArgs = &RawArgs::Null;
        self.plugin_configs.iter().find(|config| config.name == name).map_or(NONE, |config| &config.args)
    }

    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.plugins.values_mut().for_each(|enabled| enabled.retain(|plugin| plugin.name != name));
        self
    }

    pub fn runs(&self, name: &str) -> bool {
        self.plugins.values().flatten().any(|enabled| enabled.name == name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderElection {
    pub leader_elect: bool,
    /// How long other replicas wait after the last renewal of the leader.
    pub lease_duration: SignedDuration,
    /// How long the leader tries to renew before it gives up.
    pub renew_deadline: SignedDuration,
    /// How long to wait between tries.
    pub retry_period: SignedDuration,
    /// The kind of the lock: always `leases`.
    pub resource_lock: String,
    /// The name of the Lease.
    pub resource_name: String,
    /// The namespace of the Lease.
    pub resource_namespace: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ClientConnection {
    /// A kubeconfig file; empty inside a cluster.
    pub kubeconfig: String,
    /// The Accept header; empty for the default of the client.
    pub accept_content_types: String,
    pub content_type: String,
    /// The maximum number of requests per second.
    pub qps: f32,
    /// The maximum number of requests in a burst.
    pub burst: i32,
}

/// An extender, which the scheduler calls over HTTP. A verb that is empty is not called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extender {
    /// The URL to which each verb is appended.
    pub url_prefix: String,
    pub filter_verb: String,
    pub preempt_verb: String,
    pub prioritize_verb: String,
    pub weight: i64,
    pub bind_verb: String,
    pub enable_https: bool,
    pub tls: Option<ExtenderTls>,
    pub http_timeout: SignedDuration,
    /// Whether the extender has a cache of nodes, so that node names are enough.
    pub node_cache_capable: bool,
    /// The extender is called only for pods that request one of these; empty: for all pods.
    pub managed_resources: Vec<ManagedResource>,
    pub ignorable: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedResource {
    pub name: String,
    pub ignored_by_scheduler: bool,
}

/// The settings of TLS with an extender. Data goes before files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtenderTls {
    /// Whether any certificate is accepted.
    pub insecure: bool,
    /// The name that the extender's certificate must have; empty: the host of the URL.
    pub server_name: String,
    /// A file with our certificate.
    pub cert_file: String,
    /// A file with our key.
    pub key_file: String,
    /// A file with the roots that are trusted.
    pub ca_file: String,
    /// Our certificate, PEM.
    pub cert_data: Secret,
    /// Our key, PEM.
    pub key_data: Secret,
    /// The roots that are trusted, PEM.
    pub ca_data: Secret,
}

#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.0.len())
    }
}
