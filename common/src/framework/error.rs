//! What ends a scheduling cycle: a plugin or an extender failed. The texts are those of kube-scheduler, which writes them into events.

use thiserror::Error;

/// A plugin or an extender failed, and the pod is not placed in this cycle.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CycleError {
    /// A PreFilter plugin failed.
    #[error("running PreFilter plugin \"{plugin}\": {source}")]
    PreFilter {
        /// The name of the plugin.
        plugin: &'static str,
        /// What the plugin says.
        source: PluginError,
    },
    /// A Filter plugin failed.
    #[error("running \"{plugin}\" filter plugin: {source}")]
    Filter {
        /// The name of the plugin.
        plugin: &'static str,
        /// What the plugin says.
        source: PluginError,
    },
    /// A Score plugin failed when it was prepared, which is the PreScore of kube-scheduler.
    #[error("running PreScore plugin \"{plugin}\": {source}")]
    PreScore {
        /// The name of the plugin.
        plugin: &'static str,
        /// What the plugin says.
        source: PluginError,
    },
    /// An extender failed.
    #[error(transparent)]
    Extender(PluginError),
}

/// Why a plugin or an extender failed, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct PluginError(Box<str>);

impl From<&str> for PluginError {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for PluginError {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

/// For callers that only show the text.
impl From<CycleError> for String {
    fn from(error: CycleError) -> Self {
        error.to_string()
    }
}
