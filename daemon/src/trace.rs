//! Connects the plugin Trace to the log: one line for each extension point that a pod passes.

use common::model::{NodeName, PodKey};
use common::plugins::Tools;
use common::plugins::trace::Sink;

/// Writes what the plugin Trace reports to the log.
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

/// The default tools of the daemon. A program with plugins of its own adds them: `tools().plugin(…)`.
pub fn tools() -> Tools {
    Tools::default().trace(LogSink)
}
