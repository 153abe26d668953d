//! Tests of whole files: against kube-scheduler's own reading, and by the words that a user meets.

mod errors;
mod odd;
mod old;
mod ours;
mod policy;
mod seeds;
mod shown;
mod vectors;

use super::{ConfigError, Configuration, Enabled, Loaded, load};
use crate::model::ExtensionPoint;

const HEAD: &str = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

/// Loads a file of v1 with this body.
fn v1(body: &str) -> Result<Loaded, ConfigError> {
    load("scheduler.yaml", &format!("{HEAD}{body}"), &[])
}

/// The plugins of the first profile at `point`, as `name` or `name=weight`.
fn at(configuration: &Configuration, point: ExtensionPoint) -> Vec<String> {
    configuration.profiles[0].at(point).iter().map(shown).collect()
}

fn shown(enabled: &Enabled) -> String {
    match enabled.weight {
        0 => enabled.name.clone(),
        weight => format!("{}={weight}", enabled.name),
    }
}

fn warnings(loaded: &Loaded) -> Vec<String> {
    loaded.warnings.iter().map(ToString::to_string).collect()
}

/// What is wrong with `text`, as a user reads it.
fn refusal(text: &str) -> String {
    load("scheduler.yaml", text, &[]).expect_err(text).to_string()
}
