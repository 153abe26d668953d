//! `kubectl reserve demo` and `kubectl reserve sandbox`: a cluster in this process, with the daemon in it. The only module of the
//! command that knows the crates `sandbox` and `daemon`. Entry point: [`run`].
//!
//! `cluster` is the cluster, `objects` are its nodes and workloads. `script` is the demo as data, and `runner` runs it: verbs of
//! the command are parsed and run as if they were typed, and `kubectl` imitates the few kubectl commands of the script.
//! `kubeconfig` is the file that real kubectl uses for the cluster of `kubectl reserve sandbox`.

pub(crate) mod cluster;
pub(crate) mod kubeconfig;
mod kubectl;
pub(crate) mod objects;
mod runner;
mod script;

#[cfg(test)]
mod tests;

use crate::error::Failure;
use crate::ui::Ui;

/// Runs the demo; `is_paced`: with pauses for the reader.
pub(crate) async fn run(ui: Ui, is_paced: bool) -> Result<(), Failure> {
    runner::run(script::SCRIPT, ui, is_paced).await
}
