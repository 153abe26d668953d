//! Tests of whole files: against kube-scheduler's own results, and of the texts that users see.

mod errors;
mod malformed;
mod old_versions;
mod own_args;
mod policy;
mod show;
mod user_files;
mod vectors;

use super::args::PluginArgs;
use super::{ConfigError, Configuration, EnabledPlugin, LoadedConfiguration};
use crate::model::ExtensionPoint;
use crate::plugins::{Descriptor, PluginList};

const HEAD: &str = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

/// Loads a file that may name the built-in plugins and these.
fn load(name: &str, text: &str, plugins: &[Descriptor]) -> Result<LoadedConfiguration, ConfigError> {
    let all = plugins.iter().cloned().fold(PluginList::built_in(), PluginList::with);
    super::load(name, text, &all.declarations())
}

/// Loads a file of v1 with this body.
fn v1(body: &str) -> Result<LoadedConfiguration, ConfigError> {
    load("scheduler.yaml", &format!("{HEAD}{body}"), &[])
}

/// The plugins of the first profile at `point`, as `name` or `name=weight`.
fn at(configuration: &Configuration, point: ExtensionPoint) -> Vec<String> {
    configuration.profiles[0].at(point).iter().map(shown).collect()
}

/// The arguments of a plugin in the first profile.
fn arguments<A: PluginArgs>(configuration: &Configuration, plugin: &str) -> A {
    A::from_value(configuration.profiles[0].args(plugin))
}

fn shown(enabled: &EnabledPlugin) -> String {
    match enabled.weight {
        0 => enabled.name.clone(),
        weight => format!("{}={weight}", enabled.name),
    }
}

fn warnings(loaded: &LoadedConfiguration) -> Vec<String> {
    loaded.warnings.iter().map(ToString::to_string).collect()
}

/// The error about `text`, as a user sees it.
fn refusal(text: &str) -> String {
    load("scheduler.yaml", text, &[]).expect_err(text).to_string()
}
