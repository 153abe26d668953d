//! What the caller of the library brings along: somebody who listens to Trace, and plugins of its own.
//!
//! ```text
//! let tools = Tools::default().plugin("Even", &[ExtensionPoint::Filter], |_args| {
//!     Ok(Kit { filter: Some(Arc::new(Even)), ..Kit::default() })
//! });
//! let loaded = config::load("scheduler.yaml", text, &tools.plugins())?;
//! let registry = registry_with(&loaded.configuration.profiles[0], &tools)?;
//! ```

use super::kit::Kit;
use super::trace::{Nobody, Sink};
use crate::config::{ExtraPlugin, RawArgs};
use crate::model::ExtensionPoint;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Makes a plugin from its arguments as they were written; of no arguments `null`.
pub type Maker = Arc<dyn Fn(&RawArgs) -> Result<Kit, String> + Send + Sync>;

/// What the caller brings along.
#[derive(Clone)]
pub struct Tools {
    pub(super) sink: Arc<dyn Sink>,
    pub(super) extra: BTreeMap<String, Extra>,
}

/// A plugin of the caller's.
#[derive(Clone)]
pub(super) struct Extra {
    points: Vec<ExtensionPoint>,
    pub(super) make: Maker,
}

impl Default for Tools {
    fn default() -> Self {
        Self { sink: Arc::new(Nobody), extra: BTreeMap::new() }
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").field("extra", &self.plugins()).finish_non_exhaustive()
    }
}

impl Tools {
    /// Trace tells `sink`.
    #[must_use]
    pub fn trace(mut self, sink: impl Sink + 'static) -> Self {
        self.sink = Arc::new(sink);
        self
    }

    /// A plugin that files can name at `points`. `make` is called once for each profile that does; an error is one of
    /// the plugin's arguments. It goes before a plugin of ours or upstream's that has the same name.
    #[must_use]
    pub fn plugin(
        mut self,
        name: &str,
        points: &[ExtensionPoint],
        make: impl Fn(&RawArgs) -> Result<Kit, String> + Send + Sync + 'static,
    ) -> Self {
        self.extra.insert(name.to_owned(), Extra { points: points.to_vec(), make: Arc::new(make) });
        self
    }

    /// The plugins that were brought along, for [`crate::config::load`].
    pub fn plugins(&self) -> Vec<ExtraPlugin> {
        let plugin = |(name, extra): (&String, &Extra)| ExtraPlugin {
            name: name.clone(),
            points: extra.points.clone(),
        };
        self.extra.iter().map(plugin).collect()
    }
}
