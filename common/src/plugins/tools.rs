//! What a caller of the library adds: plugins of its own, and the sink of the plugin Trace.
//!
//! ```text
//! let tools = Tools::default().plugin("Even", &[ExtensionPoint::Filter], |_args| {
//!     Ok(Kit { filter: Some(Arc::new(Even)), ..Kit::default() })
//! });
//! let loaded = config::load("scheduler.yaml", text, &tools.plugins())?;
//! let registry = registry_with(&loaded.configuration.profiles[0], &tools)?;
//! ```

use super::kit::Kit;
use super::trace::{NoSink, Sink};
use crate::config::{ExtraPlugin, RawArgs};
use crate::model::ExtensionPoint;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Creates a plugin from its arguments in the configuration file; without arguments from `null`.
pub type PluginFactory = Arc<dyn Fn(&RawArgs) -> Result<Kit, String> + Send + Sync>;

/// The plugins and the trace sink of the caller.
#[derive(Clone)]
pub struct Tools {
    pub(super) sink: Arc<dyn Sink>,
    pub(super) extra: BTreeMap<String, CustomPlugin>,
}

/// A plugin of the caller.
#[derive(Clone)]
pub(super) struct CustomPlugin {
    points: Vec<ExtensionPoint>,
    pub(super) make: PluginFactory,
}

impl Default for Tools {
    fn default() -> Self {
        Self { sink: Arc::new(NoSink), extra: BTreeMap::new() }
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").field("extra", &self.plugins()).finish_non_exhaustive()
    }
}

impl Tools {
    /// Sets the sink of the plugin Trace.
    #[must_use]
    pub fn trace(mut self, sink: impl Sink + 'static) -> Self {
        self.sink = Arc::new(sink);
        self
    }

    /// Adds a plugin that configuration files can name at `points`. `make` is called once for each profile that names it; its error
    /// means that the arguments are wrong. The plugin replaces a built-in one of the same name.
    #[must_use]
    pub fn plugin(
        mut self,
        name: &str,
        points: &[ExtensionPoint],
        make: impl Fn(&RawArgs) -> Result<Kit, String> + Send + Sync + 'static,
    ) -> Self {
        self.extra.insert(name.to_owned(), CustomPlugin { points: points.to_vec(), make: Arc::new(make) });
        self
    }

    /// The plugins of the caller, for [`crate::config::load`].
    pub fn plugins(&self) -> Vec<ExtraPlugin> {
        let plugin = |(name, extra): (&String, &CustomPlugin)| ExtraPlugin {
            name: name.clone(),
            points: extra.points.clone(),
        };
        self.extra.iter().map(plugin).collect()
    }
}
