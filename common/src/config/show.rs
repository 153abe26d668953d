//! Prints the effective configuration as a file, for the log. Loaded again, the file gives the same configuration, except secrets.
//! Entry point: [`Configuration::to_yaml`].

use serde_json::{Map, Value, json};

use super::args::{
    AddedAffinity, NodeRequirement, NodeTerm, PluginArgs, PodTopologySpreadArgs, ResourceWeight,
    ScoringStrategy, ShapePoint, SpreadConstraint,
};
use super::duration;
use super::read_own_args;
use super::show_extender::extender;
use super::value::{Configuration, EnabledPlugin, LeaderElection, Profile};
use super::version::{API_VERSION, KIND};
use crate::model::ExtensionPoint;

pub(super) const REDACTED: &str = "REDACTED";

/// Plugins of kube-scheduler whose arguments have a type.
pub(super) const WITH_ARGS: [&str; 8] = [
    "DefaultPreemption",
    "DynamicResources",
    "InterPodAffinity",
    "NodeAffinity",
    "NodeResourcesBalancedAllocation",
    "NodeResourcesFit",
    "PodTopologySpread",
    "VolumeBinding",
];

impl Configuration {
    /// The whole configuration as YAML, its fields in alphabetical order, without secrets.
    pub fn to_yaml(&self) -> String {
        yaml(&self.to_value())
    }

    /// The whole configuration as a JSON tree, without secrets.
    pub fn to_value(&self) -> Value {
        let connection = &self.client_connection;
        let mut file = json!({
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
        if self.delay_cache_until_active {
            put(&mut file, "delayCacheUntilActive", json!(true));
        }
        if !self.extenders.is_empty() {
            put(&mut file, "extenders", self.extenders.iter().map(extender).collect());
        }
        file
    }
}

/// A tree as YAML.
pub(super) fn yaml(value: &Value) -> String {
    // JSON is valid YAML, so it is the fallback.
    serde_saphyr::to_string(value).unwrap_or_else(|_| value.to_string())
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
    for point in ExtensionPoint::CONFIGURABLE.into_iter().filter(|point| !profile.at(*point).is_empty()) {
        let enabled: Vec<Value> = profile.at(point).iter().map(plugin).collect();
        plugins.insert(point.field().to_owned(), json!({"enabled": enabled}));
    }
    let configured = WITH_ARGS.iter().filter(|name| profile.runs(name));
    let configured = configured.filter_map(|name| Some(((*name).to_owned(), args(&profile.args, name)?)));
    let ours = read_own_args::show(&profile.args.own, |name| profile.runs(name));
    let ours = ours.into_iter().map(|(name, args)| (name.to_owned(), args));
    let others = profile.args.extra.iter().map(|(name, args)| (name.clone(), args.clone()));
    let config: Vec<Value> = configured
        .chain(ours)
        .chain(others)
        .map(|(name, args)| json!({"name": name, "args": args}))
        .collect();
    let mut shown =
        json!({"schedulerName": profile.scheduler_name, "plugins": plugins, "pluginConfig": config});
    if let Some(percentage) = profile.percentage_of_nodes_to_score {
        put(&mut shown, "percentageOfNodesToScore", json!(percentage));
    }
    shown
}

fn plugin(enabled: &EnabledPlugin) -> Value {
    match enabled.weight {
        0 => json!({"name": enabled.name}),
        weight => json!({"name": enabled.name, "weight": weight}),
    }
}

/// The arguments of a plugin of kube-scheduler.
pub(super) fn args(args: &PluginArgs, name: &str) -> Option<Value> {
    let mut shown = match name {
        "DefaultPreemption" => json!({
            "minCandidateNodesPercentage": args.default_preemption.min_candidate_nodes_percentage,
            "minCandidateNodesAbsolute": args.default_preemption.min_candidate_nodes_absolute,
        }),
        "DynamicResources" => json!({
            "filterTimeout": duration::print(args.dynamic_resources.filter_timeout),
            "bindingTimeout": duration::print(args.dynamic_resources.binding_timeout),
        }),
        "InterPodAffinity" => json!({
            "hardPodAffinityWeight": args.inter_pod_affinity.hard_pod_affinity_weight,
            "ignorePreferredTermsOfExistingPods": args.inter_pod_affinity.ignore_preferred_terms_of_existing_pods,
        }),
        "NodeAffinity" => match &args.node_affinity.added_affinity {
            Some(added) => json!({"addedAffinity": affinity(added)}),
            None => json!({}),
        },
        "NodeResourcesBalancedAllocation" => {
            json!({"resources": resources(&args.balanced_allocation.resources)})
        }
        "NodeResourcesFit" => node_resources_fit(args),
        "PodTopologySpread" => match &args.pod_topology_spread {
            PodTopologySpreadArgs::System => json!({"defaultingType": "System"}),
            PodTopologySpreadArgs::List(list) if list.is_empty() => json!({"defaultingType": "List"}),
            PodTopologySpreadArgs::List(list) => json!({
                "defaultingType": "List",
                "defaultConstraints": list.iter().map(constraint).collect::<Vec<_>>(),
            }),
        },
        "VolumeBinding" => json!({
            "bindTimeoutSeconds": args.volume_binding.bind_timeout_seconds,
            "shape": shape(&args.volume_binding.shape),
        }),
        _ => return None,
    };
    put(&mut shown, "apiVersion", json!(API_VERSION));
    put(&mut shown, "kind", json!(format!("{name}Args")));
    Some(shown)
}

fn node_resources_fit(args: &PluginArgs) -> Value {
    let fit = &args.node_resources_fit;
    let (kind, ratio) = match &fit.strategy {
        ScoringStrategy::LeastAllocated => ("LeastAllocated", None),
        ScoringStrategy::MostAllocated => ("MostAllocated", None),
        ScoringStrategy::RequestedToCapacityRatio(points) => ("RequestedToCapacityRatio", Some(points)),
    };
    let mut strategy = json!({"type": kind, "resources": resources(&fit.resources)});
    if let Some(points) = ratio {
        put(&mut strategy, "requestedToCapacityRatio", json!({"shape": shape(points)}));
    }
    let mut shown = json!({"scoringStrategy": strategy});
    let lists = [
        ("ignoredResources", &fit.ignored_resources),
        ("ignoredResourceGroups", &fit.ignored_resource_groups),
    ];
    for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        put(&mut shown, key, json!(list));
    }
    shown
}

fn resources(resources: &[ResourceWeight]) -> Vec<Value> {
    resources.iter().map(|resource| json!({"name": resource.name, "weight": resource.weight})).collect()
}

fn shape(points: &[ShapePoint]) -> Vec<Value> {
    points.iter().map(|point| json!({"utilization": point.utilization, "score": point.score})).collect()
}

fn affinity(added: &AddedAffinity) -> Value {
    let mut shown = json!({});
    if let Some(terms) = &added.required {
        let terms: Vec<Value> = terms.iter().map(term).collect();
        let selector = json!({"nodeSelectorTerms": terms});
        put(&mut shown, "requiredDuringSchedulingIgnoredDuringExecution", selector);
    }
    if !added.preferred.is_empty() {
        let preferred = added.preferred.iter();
        let preferred =
            preferred.map(|(weight, preference)| json!({"weight": weight, "preference": term(preference)}));
        put(&mut shown, "preferredDuringSchedulingIgnoredDuringExecution", preferred.collect());
    }
    shown
}

fn term(term: &NodeTerm) -> Value {
    let mut shown = json!({});
    let lists = [("matchExpressions", &term.match_expressions), ("matchFields", &term.match_fields)];
    for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        put(&mut shown, key, list.iter().map(requirement).collect());
    }
    shown
}

fn requirement(requirement: &NodeRequirement) -> Value {
    let mut shown = json!({"key": requirement.key, "operator": requirement.operator});
    if !requirement.values.is_empty() {
        put(&mut shown, "values", json!(requirement.values));
    }
    shown
}

fn constraint(constraint: &SpreadConstraint) -> Value {
    let action = if constraint.do_not_schedule { "DoNotSchedule" } else { "ScheduleAnyway" };
    let mut shown = json!({
        "maxSkew": constraint.max_skew,
        "topologyKey": constraint.topology_key,
        "whenUnsatisfiable": action,
    });
    let optional = [
        ("minDomains", constraint.min_domains.map(|count| json!(count))),
        ("nodeAffinityPolicy", constraint.node_affinity_policy.as_ref().map(|policy| json!(policy))),
        ("nodeTaintsPolicy", constraint.node_taints_policy.as_ref().map(|policy| json!(policy))),
        ("matchLabelKeys", Some(json!(constraint.match_label_keys)).filter(|keys| *keys != json!([]))),
    ];
    for (key, value) in optional {
        value.into_iter().for_each(|value| put(&mut shown, key, value));
    }
    shown
}
