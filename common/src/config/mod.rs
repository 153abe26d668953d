//! The scheduler's configuration file: `KubeSchedulerConfiguration`, read as kube-scheduler 1.37 reads it.
//!
//! Entry point: [`load`], from text to values or errors; the caller reads the file. The steps and their modules:
//!
//! ```text
//! text ─yaml▶ tree ─version▶ version of the file ─settings, extender, raw_profile▶ what is written
//!      ─retired_plugins▶ old names as today's ─merge, read_args▶ what runs ─▶ Configuration ─show▶ text for the log
//! ```
//!
//! Every default, every rule of merging and every check is kube-scheduler's; `common/vectors/config` compares them with its code.
//! Intended differences:
//!
//! - There are our own plugins, and `Reservation` is the last one of the default profile. A profile without it at `filter` gets a
//!   warning.
//! - An unknown plugin name is an error also where a plugin is disabled or configured; kube-scheduler ignores it. A retired name
//!   that is disabled is a warning.
//! - A negative weight is always an error; kube-scheduler refuses it only if another plugin follows.
//! - All errors are reported, not only those of the first step; arguments of plugins that do not run are checked, too.
//! - `nodeAffinityPolicy` and `nodeTaintsPolicy` of default constraints must be `Honor` or `Ignore`.
//! - Several documents in one file are an error; kube-scheduler reads the first. A whole number may be written `16.0` in
//!   JSON too.
//! - An extender whose resources the scheduler ignores does not need NodeResourcesFit to be on.
//! - Feature gates have their default values. Plugins behind gates can be named; DynamicResources is in the default profile.
//! - Files of `v1beta1` to `v1beta3`, which kube-scheduler no longer reads, are read as `v1`, with a warning for each field that
//!   changed its meaning.

mod args;
mod base64;
mod duration;
mod extender;
mod file_value;
mod findings;
mod merge;
pub mod nearest;
mod own_args;
mod plugin_catalog;
mod policy;
mod profile;
mod raw_profile;
mod read_affinity;
mod read_args;
mod read_own_args;
mod read_resources;
mod read_spread;
mod retired_plugins;
mod settings;
mod show;
mod show_extender;
mod value;
mod version;
mod yaml;

#[cfg(test)]
mod tests;

pub use args::{
    BalancedAllocationArgs, DefaultPreemptionArgs, DynamicResourcesArgs, InterPodAffinityArgs,
    NodeAffinityArgs, NodeResourcesFitArgs, PodTopologySpreadArgs, RawArgs, ResourceWeight, ScoringStrategy,
    ShapePoint, SpreadConstraint, VolumeBindingArgs,
};
pub use duration::{parse as parse_duration, print as print_duration};
pub use findings::{ConfigError, Finding};
pub use own_args::{
    BuildImageLocalityArgs, LabelGateArgs, LabelPattern, NodeLabelArgs, NodePreferenceArgs, PodLimitArgs,
    RandomScoreArgs,
};
pub use plugin_catalog::PluginDeclaration;
pub use value::{
    ClientConnection, Configuration, EnabledPlugin, Extender, ExtenderTls, LeaderElection, ManagedResource,
    PluginConfig, Profile, Secret,
};

pub(crate) use args::PluginArgs;
pub(crate) use plugin_catalog::ArgsFormat;

use serde_json::{Value, json};

use crate::api::names::DEFAULT_SCHEDULER_NAME;
use file_value::{FileMap, FileValue};
use findings::Findings;
use plugin_catalog::PluginCatalog;
use raw_profile::RawProfile;
use version::Version;

/// Fields of old versions; the addresses are flags now.
const OLD_FIELDS: [&str; 2] = ["healthzBindAddress", "metricsBindAddress"];

#[derive(Clone, Debug, PartialEq)]
pub struct LoadedConfiguration {
    pub configuration: Configuration,
    /// Fields that were read differently than written, or that have less effect than they seem to.
    pub warnings: Vec<Finding>,
}

/// Reads a configuration, which may name these plugins.
///
/// # Errors
///
/// All errors in the text, up to a limit, each with its path and the most similar known word.
pub fn load(
    file_name: &str,
    text: &str,
    plugins: &[PluginDeclaration],
) -> Result<LoadedConfiguration, ConfigError> {
    let (mut found, catalog) = (Findings::default(), PluginCatalog::new(plugins));
    let Some(tree) = yaml::parse(text, &mut found) else { return config_error(found, file_name, None) };
    let (version, replacement) = version::of(&tree, catalog, &mut found);
    let Some(version) = version else { return config_error(found, file_name, replacement) };
    let configuration = read(&tree, version, catalog, &mut found);
    match (configuration, found.finish(file_name, None)) {
        (Some(configuration), Ok(warnings)) => Ok(LoadedConfiguration { configuration, warnings }),
        (_, Err(error)) => Err(error),
        (None, Ok(_)) => config_error(Findings::default(), file_name, None),
    }
}

impl Configuration {
    /// The configuration without a file: the default profile of these plugins under this name.
    pub fn default_for(scheduler_name: &str, plugins: &[PluginDeclaration]) -> Self {
        let tree = json!({"profiles": [{"schedulerName": scheduler_name}]});
        let mut ignored_findings = Findings::default();
        let file = FileValue::root(&tree).any_object(&mut ignored_findings).unwrap_or_default();
        assemble(&file, Version::V1, PluginCatalog::new(plugins), &mut ignored_findings)
    }
}

fn config_error(
    mut found: Findings,
    file_name: &str,
    replacement: Option<String>,
) -> Result<LoadedConfiguration, ConfigError> {
    // The caller has reported an error. If not, the file must still not count as valid.
    if !found.has_errors() {
        found.error("", "cannot be read");
    }
    let errors = found.finish(file_name, replacement);
    let none =
        |_| ConfigError { file: file_name.to_owned(), errors: Vec::new(), left_off: 0, replacement: None };
    Err(errors.map(none).unwrap_or_else(|error| error))
}

fn read(
    tree: &Value,
    version: Version,
    catalog: PluginCatalog<'_>,
    found: &mut Findings,
) -> Option<Configuration> {
    let known: Vec<&str> =
        settings::FIELDS.into_iter().chain(OLD_FIELDS.into_iter().filter(|_| version.is_old())).collect();
    let file = FileValue::root(tree).object(&known, found)?;
    for key in OLD_FIELDS {
        if file.text(key, found).is_some_and(|address| !address.is_empty()) {
            found.warn(key, "is no longer read; where to serve is a flag");
        }
    }
    Some(assemble(&file, version, catalog, found))
}

fn assemble(
    file: &FileMap<'_>,
    version: Version,
    catalog: PluginCatalog<'_>,
    found: &mut Findings,
) -> Configuration {
    let mut configuration = settings::read(file, version, found);
    configuration.profiles = profiles(file, version, catalog, found);
    configuration.extenders = extender::read_all(file, found);
    let ignored = extender::ignored_resources(&configuration.extenders);
    if !ignored.is_empty() {
        for profile in &mut configuration.profiles {
            profile::set_fit_argument(profile, "ignoredResources", &json!(ignored));
        }
    }
    configuration
}

fn profiles(
    file: &FileMap<'_>,
    version: Version,
    catalog: PluginCatalog<'_>,
    found: &mut Findings,
) -> Vec<Profile> {
    let mut raw_profiles: Vec<RawProfile<'_>> =
        file.list("profiles", found).iter().map(|node| RawProfile::read(node, found)).collect();
    if raw_profiles.is_empty() {
        raw_profiles.push(RawProfile { path: "profiles[0]".to_owned(), ..RawProfile::default() });
    }
    // Only a single profile may omit its name.
    if let [only] = &mut raw_profiles[..] {
        only.scheduler_name.get_or_insert_with(|| DEFAULT_SCHEDULER_NAME.to_owned());
    }
    profile::check_together(&raw_profiles, found);
    raw_profiles.into_iter().map(|raw_profile| profile::build(raw_profile, version, catalog, found)).collect()
}
