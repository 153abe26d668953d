//! Where the plugin Trace writes: a line of the log for each extension point that a pod passes.

use common::model::{NodeName, PodKey};
use common::plugins::Tools;
use common::plugins::trace::Sink;

/// The log.
#[derive(Clone, Copy, Debug)]
pub struct Log;

impl Sink for Log {
    fn passed(&self, point: &'static str, pod: &PodKey, node: Option<&NodeName>) {
        match node {
            Some(node) => tracing::info!(%pod, %node, "{point}"),
            None => tracing::info!(%pod, "{point}"),
        }
    }
}

/// What the daemon brings along. Whoever has plugins of its own adds them: `tools().plugin(…)`.
pub fn tools() -> Tools {
    Tools::default().trace(Log)
}
