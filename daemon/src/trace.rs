//! Connects the plugin Trace to the log: one line for each extension point that a pod passes.

use common::model::{NodeName, PodKey};
use common::plugins::PluginList;
use common::plugins::trace::{self, Sink};

#[derive(Clone, Copy, Debug)]
pub struct LogSink;

impl Sink for LogSink {
    fn record(&self, point: &'static str, pod: &PodKey, node: Option<&NodeName>) {
        match node {
            Some(node) => tracing::info!(%pod, %node, "{point}"),
            None => tracing::info!(%pod, "{point}"),
        }
    }
}

/// The plugins of the daemon. A program adds plugins of its own: `plugins().with(…)`.
pub fn plugins() -> PluginList {
    PluginList::built_in().with(trace::descriptor(LogSink))
}
