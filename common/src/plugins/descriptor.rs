//! A plugin as one value: what a configuration file may say about it, what it reads, and how it is made.

use super::implementations::Implementations;
use crate::config::{ArgsFormat, PluginArgs, PluginDeclaration, RawArgs};
use crate::model::{CatalogKind, ExtensionPoint};
use std::fmt;
use std::sync::Arc;

/// Makes a plugin from its arguments in a profile; without arguments from `null`.
type Constructor = Arc<dyn Fn(&RawArgs) -> Result<Implementations, String> + Send + Sync>;

/// A plugin: its name, extension points, default weight and arguments; the kinds of objects that it reads; its constructor.
#[derive(Clone)]
pub struct Descriptor {
    pub(super) declaration: PluginDeclaration,
    pub(super) watches: &'static [CatalogKind],
    /// `None`: the plugin is known and not supported.
    make: Option<Constructor>,
}

impl Descriptor {
    /// A plugin that files can name at `points`. `make` runs once for each profile that names it; its error means that the
    /// arguments are wrong. Objects of all kinds are watched for it.
    pub fn new(
        name: &str,
        points: &[ExtensionPoint],
        make: impl Fn(&RawArgs) -> Result<Implementations, String> + Send + Sync + 'static,
    ) -> Self {
        Self::of(name, points, ArgsFormat::Unchecked, Some(Arc::new(make))).watches(&CatalogKind::ALL)
    }

    /// A plugin that takes no arguments.
    pub(super) fn built_in(
        name: &str,
        points: &[ExtensionPoint],
        make: impl Fn() -> Implementations + Send + Sync + 'static,
    ) -> Self {
        Self::of(name, points, ArgsFormat::None, Some(Arc::new(move |_| Ok(make()))))
    }

    pub(super) fn with_args<A: PluginArgs>(
        name: &str,
        points: &[ExtensionPoint],
        make: impl Fn(A) -> Implementations + Send + Sync + 'static,
    ) -> Self {
        let make = move |args: &RawArgs| Ok(make(A::from_value(args)));
        Self::of(name, points, ArgsFormat::typed::<A>(), Some(Arc::new(make)))
    }

    /// A plugin of kube-scheduler that a file can name and that does not exist here.
    pub(super) fn unsupported(name: &str, points: &[ExtensionPoint]) -> Self {
        Self::of(name, points, ArgsFormat::None, None).upstream()
    }

    fn of(name: &str, points: &[ExtensionPoint], args: ArgsFormat, make: Option<Constructor>) -> Self {
        let (name, points) = (name.to_owned(), points.to_vec());
        let declaration = PluginDeclaration { name, points, is_upstream: false, default_weight: None, args };
        Self { declaration, watches: &[], make }
    }

    /// One of kube-scheduler's plugins.
    pub(super) fn upstream(mut self) -> Self {
        self.declaration.is_upstream = true;
        self
    }

    /// Part of the default profile with this weight; 0 for a plugin without scores.
    pub(super) fn by_default(mut self, weight: i32) -> Self {
        self.declaration.default_weight = Some(weight);
        self
    }

    /// Sets the kinds that the plugin reads from the catalog. Of other kinds it may find no objects.
    #[must_use]
    pub fn watches(mut self, kinds: &'static [CatalogKind]) -> Self {
        self.watches = kinds;
        self
    }

    pub fn name(&self) -> &str {
        &self.declaration.name
    }

    pub(super) fn is_supported(&self) -> bool {
        self.make.is_some()
    }

    /// The plugin with these arguments.
    pub fn make(&self, args: &RawArgs) -> Result<Implementations, String> {
        self.make.as_ref().map_or_else(|| Ok(Implementations::default()), |make| make(args))
    }
}

impl fmt::Debug for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Descriptor").field("declaration", &self.declaration).finish_non_exhaustive()
    }
}
