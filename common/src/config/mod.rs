//! The scheduler's configuration file: `KubeSchedulerConfiguration`, read as kube-scheduler 1.37 reads it.
//!
//! Text in, values or errors out; whoever calls has read the file. In the order of the data:
//!
//! ```text
//! text ─yaml▶ tree ─version▶ which kind of file ─settings, extender, draft▶ what is written
//!      ─retired▶ old names read as today's ─merge, args_read▶ what runs ─▶ Configuration ─show▶ text for the log
//! ```
//!
//! Every default, every rule of merging and every check is kube-scheduler's; `common/vectors/config` compares them with
//! its own code. Where we differ, on purpose:
//!
//! - Our own plugins exist, and `Reservation` is the last of the default profile. A profile that takes it out of `filter`
//!   is warned about.
//! - A name that no plugin has is an error also where something is disabled or configured; kube-scheduler passes over it.
//!   A retired name that is disabled is a warning.
//! - A negative weight is always an error; kube-scheduler only refuses one that is followed by another plugin.
//! - All mistakes are reported, not only those of the first stage; arguments of plugins that do not run are checked too.
//! - `nodeAffinityPolicy` and `nodeTaintsPolicy` of default constraints must be `Honor` or `Ignore`.
//! - Several documents in one file are an error; kube-scheduler reads the first. A whole number may be written `16.0` in
//!   JSON too.
//! - An extender whose resources the scheduler ignores does not need NodeResourcesFit to be on.
//! - Feature gates stand at their defaults. Plugins behind gates can be named; DynamicResources is in the list.
//! - Files of `v1beta1` to `v1beta3`, which kube-scheduler no longer reads, are read as `v1`, with a warning for each
//!   thing that changed meaning.

mod affinity_read;
mod args;
mod args_read;
mod base64;
mod catalog;
mod draft;
mod duration;
mod extender;
mod found;
mod merge;
mod names;
pub mod nearest;
mod ours;
mod ours_read;
mod policy;
mod profile;
mod read;
mod retired;
mod settings;
mod show;
mod show_extender;
mod spread_read;
mod value;
mod version;
mod yaml;

#[cfg(test)]
mod tests;

pub use args::{
    AddedAffinity, BalancedAllocationArgs, DefaultPreemptionArgs, DynamicResourcesArgs, InterPodAffinityArgs,
    NodeAffinityArgs, NodeRequirement, NodeResourcesFitArgs, NodeTerm, PluginArgs, PodTopologySpreadArgs,
    RawArgs, ResourceWeight, ScoringStrategy, ShapePoint, SpreadConstraint, VolumeBindingArgs,
};
pub use catalog::{ExtraPlugin, is_built_in};
pub use duration::{parse as parse_duration, print as print_duration};
pub use found::{ConfigError, Note};
pub use ours::{
    BuildImageLocalityArgs, LabelGateArgs, LabelPattern, NodeLabelArgs, NodePreferenceArgs, OurArgs,
    PodLimitArgs, RandomScoreArgs,
};
pub use value::{
    ClientConnection, Configuration, Enabled, Extender, ExtenderTls, LeaderElection, ManagedResource,
    Profile, Secret,
};

use serde_json::{Value, json};

use crate::api::names::DEFAULT_SCHEDULER_NAME;
use catalog::Catalog;
use draft::Draft;
use found::Findings;
use read::{Node, Object};
use settings::Settings;
use version::Version;

/// Fields of the first versions; where to serve is a flag now.
const OLD_FIELDS: [&str; 2] = ["healthzBindAddress", "metricsBindAddress"];

/// A file that can be used, and what is worth a word about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// What the file says, defaults filled in.
    pub configuration: Configuration,
    /// What was read differently than it was written, or does less than it seems to.
    pub warnings: Vec<Note>,
}

/// Reads a configuration. `extra` are plugins that the caller brings along, besides kube-scheduler's and ours.
///
/// # Errors
///
/// Everything that is wrong with the text, up to a limit, each with its path and the nearest known word.
pub fn load(file_name: &str, text: &str, extra: &[ExtraPlugin]) -> Result<Loaded, ConfigError> {
    let mut found = Findings::default();
    let Some(tree) = yaml::parse(text, &mut found) else { return refuse(found, file_name, None) };
    let (version, instead) = version::of(&tree, &mut found);
    let Some(version) = version else { return refuse(found, file_name, instead) };
    let configuration = read(&tree, version, Catalog::new(extra), &mut found);
    match (configuration, found.finish(file_name, None)) {
        (Some(configuration), Ok(warnings)) => Ok(Loaded { configuration, warnings }),
        (_, Err(error)) => Err(error),
        (None, Ok(_)) => refuse(Findings::default(), file_name, None),
    }
}

impl Configuration {
    /// What runs without a file: the default profile under this name.
    pub fn default_for(scheduler_name: &str) -> Self {
        let tree = json!({"profiles": [{"schedulerName": scheduler_name}]});
        let mut unheard = Findings::default();
        let file = Node::root(&tree).any_object(&mut unheard).unwrap_or_default();
        assemble(&file, Version::V1, Catalog::new(&[]), &mut unheard)
    }
}

fn refuse(mut found: Findings, file_name: &str, instead: Option<String>) -> Result<Loaded, ConfigError> {
    // Whoever gets here has said why; a refusal without a reason must not pass for success.
    if !found.has_errors() {
        found.error("", "cannot be read");
    }
    let errors = found.finish(file_name, instead);
    let none = |_| ConfigError { file: file_name.to_owned(), errors: Vec::new(), left_off: 0, instead: None };
    Err(errors.map(none).unwrap_or_else(|error| error))
}

fn read(tree: &Value, version: Version, catalog: Catalog<'_>, found: &mut Findings) -> Option<Configuration> {
    let known: Vec<&str> =
        settings::FIELDS.into_iter().chain(OLD_FIELDS.into_iter().filter(|_| version.is_old())).collect();
    let file = Node::root(tree).object(&known, found)?;
    for key in OLD_FIELDS {
        if file.text(key, found).is_some_and(|address| !address.is_empty()) {
            found.warn(key, "is no longer read; where to serve is a flag");
        }
    }
    Some(assemble(&file, version, catalog, found))
}

fn assemble(
    file: &Object<'_>,
    version: Version,
    catalog: Catalog<'_>,
    found: &mut Findings,
) -> Configuration {
    let settings = Settings::read(file, found);
    let leader_election = settings::leader_election(file, version, found);
    let client_connection = settings::client_connection(file, found);
    let profiles = profiles(file, version, catalog, found);
    let extenders = extender::read_all(file, found);
    let mut configuration = Configuration {
        profiles,
        parallelism: settings.parallelism,
        percentage_of_nodes_to_score: settings.percentage_of_nodes_to_score,
        pod_initial_backoff_seconds: settings.pod_initial_backoff_seconds,
        pod_max_backoff_seconds: settings.pod_max_backoff_seconds,
        leader_election,
        client_connection,
        extenders,
        enable_profiling: settings.enable_profiling,
        enable_contention_profiling: settings.enable_contention_profiling,
        delay_cache_until_active: settings.delay_cache_until_active,
    };
    let ignored = extender::ignored_resources(&configuration.extenders);
    if !ignored.is_empty() {
        for profile in &mut configuration.profiles {
            profile.args.node_resources_fit.ignored_resources.clone_from(&ignored);
        }
    }
    configuration
}

fn profiles(file: &Object<'_>, version: Version, catalog: Catalog<'_>, found: &mut Findings) -> Vec<Profile> {
    let mut drafts: Vec<Draft<'_>> =
        file.list("profiles", found).iter().map(|node| Draft::read(node, found)).collect();
    if drafts.is_empty() {
        drafts.push(Draft { path: "profiles[0]".to_owned(), ..Draft::default() });
    }
    // Only a profile that is alone may leave its name out.
    if let [only] = &mut drafts[..] {
        only.scheduler_name.get_or_insert_with(|| DEFAULT_SCHEDULER_NAME.to_owned());
    }
    profile::check_together(&drafts, found);
    drafts.into_iter().map(|draft| profile::build(draft, version, catalog, found)).collect()
}
