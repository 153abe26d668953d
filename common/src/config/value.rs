//! A configuration as plain values: every default filled in, nothing left to look up.

use std::collections::BTreeMap;
use std::fmt;

use jiff::SignedDuration;

use super::args::PluginArgs;
use crate::model::ExtensionPoint;

/// What a scheduler is told to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// One for each scheduler name that is served; never empty.
    pub profiles: Vec<Profile>,
    /// How many threads work on one pod.
    pub parallelism: i32,
    /// Percentage of the nodes to find before the search ends; 0 lets the scheduler choose.
    pub percentage_of_nodes_to_score: i32,
    /// Seconds that a pod waits after its first failure.
    pub pod_initial_backoff_seconds: i64,
    /// Seconds that a pod waits at most.
    pub pod_max_backoff_seconds: i64,
    /// Which of several replicas works.
    pub leader_election: LeaderElection,
    /// How the API server is reached.
    pub client_connection: ClientConnection,
    /// Others that are asked over HTTP, in the order of the file.
    pub extenders: Vec<Extender>,
    /// Whether profiles of the program can be had over HTTP.
    pub enable_profiling: bool,
    /// Whether they include waiting for locks.
    pub enable_contention_profiling: bool,
    /// Whether a replica that waits keeps no state.
    pub delay_cache_until_active: bool,
}

/// What happens to the pods of one scheduler name.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The `spec.schedulerName` of its pods.
    pub scheduler_name: String,
    /// Overrides the configuration's.
    pub percentage_of_nodes_to_score: Option<i32>,
    /// What runs at each extension point, in order; a point without plugins is absent.
    pub plugins: BTreeMap<ExtensionPoint, Vec<Enabled>>,
    /// What the plugins were told.
    pub args: PluginArgs,
}

/// A plugin at an extension point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enabled {
    /// Its name.
    pub name: String,
    /// What its score is multiplied with; 0 where nothing is scored.
    pub weight: i32,
}

impl Profile {
    /// What runs at `point`, in order.
    pub fn at(&self, point: ExtensionPoint) -> &[Enabled] {
        self.plugins.get(&point).map_or(&[], Vec::as_slice)
    }

    /// The same with a plugin switched off everywhere.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.plugins.values_mut().for_each(|enabled| enabled.retain(|plugin| plugin.name != name));
        self
    }

    /// Whether the plugin runs at any extension point.
    pub fn runs(&self, name: &str) -> bool {
        self.plugins.values().flatten().any(|enabled| enabled.name == name)
    }
}

/// How replicas agree on which of them works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderElection {
    /// Whether they do.
    pub leader_elect: bool,
    /// How long others wait after the leader's last word.
    pub lease_duration: SignedDuration,
    /// How long the leader tries to renew before it gives up.
    pub renew_deadline: SignedDuration,
    /// How long to wait between tries.
    pub retry_period: SignedDuration,
    /// `leases`.
    pub resource_lock: String,
    /// The Lease's name.
    pub resource_name: String,
    /// The Lease's namespace.
    pub resource_namespace: String,
}

/// How the API server is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientConnection {
    /// A kubeconfig file; empty inside a cluster.
    pub kubeconfig: String,
    /// The Accept header; empty for the client's own.
    pub accept_content_types: String,
    /// The Content-Type of what is sent.
    pub content_type: String,
    /// Requests for each second.
    pub qps: f32,
    /// Requests at once.
    pub burst: i32,
}

/// Somebody who is asked over HTTP. A verb that is empty is not asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extender {
    /// What each verb is appended to.
    pub url_prefix: String,
    /// The verb of the filter call.
    pub filter_verb: String,
    /// The verb of the preemption call.
    pub preempt_verb: String,
    /// The verb of the score call.
    pub prioritize_verb: String,
    /// What its scores are multiplied with.
    pub weight: i64,
    /// The verb of the binding call.
    pub bind_verb: String,
    /// Whether to speak TLS.
    pub enable_https: bool,
    /// How to speak TLS.
    pub tls: Option<ExtenderTls>,
    /// How long a call may take.
    pub http_timeout: SignedDuration,
    /// Whether it knows the nodes, so that names are enough.
    pub node_cache_capable: bool,
    /// Only pods that ask for one of these concern it; empty: all pods.
    pub managed_resources: Vec<ManagedResource>,
    /// Whether its failures are passed over.
    pub ignorable: bool,
}

/// A resource that an extender looks after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedResource {
    /// The resource's name.
    pub name: String,
    /// Whether the scheduler leaves it to the extender.
    pub ignored_by_scheduler: bool,
}

/// How to speak TLS with an extender. Data goes before files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtenderTls {
    /// Whether any certificate will do.
    pub insecure: bool,
    /// The name that its certificate must have; empty: that of its URL.
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

/// Bytes that no log shows.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// Hides `bytes`.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes, for whoever opens the connection.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.0.len())
    }
}
