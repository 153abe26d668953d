//! What ends a scheduling cycle: a plugin or an extender failed. The texts are those of kube-scheduler, which writes them into events.

use thiserror::Error;

/// A plugin or an extender failed, and the pod is not placed in this cycle.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CycleError {
    /// A PreFilter plugin failed.
    #[error("running PreFilter plugin \"{plugin}\": {source}")]
    PreFilter { plugin: &'static str, source: PluginError },
    #[error("running \"{plugin}\" filter plugin: {source}")]
    Filter { plugin: &'static str, source: PluginError },
    /// A Score plugin failed when it was prepared, which is the PreScore of kube-scheduler.
    #[error("running PreScore plugin \"{plugin}\": {source}")]
    PreScore { plugin: &'static str, source: PluginError },
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
