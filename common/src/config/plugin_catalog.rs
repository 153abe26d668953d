//! The plugins that a file may name, as their callers declare them: names, extension points, weights, arguments.

use super::args::{PluginArgs, RawArgs};
use super::file_value::FileMap;
use super::findings::Findings;
use super::nearest::did_you_mean;
use crate::model::ExtensionPoint;

#[derive(Clone, Debug)]
pub struct PluginDeclaration {
    pub name: String,
    pub points: Vec<ExtensionPoint>,
    /// Whether the plugin is one of kube-scheduler's.
    pub is_upstream: bool,
    /// The weight in the default profile, 0 for a plugin without scores; `None` for a plugin that is off by default.
    pub default_weight: Option<i32>,
    pub(crate) args: ArgsFormat,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ArgsFormat {
    None,
    Typed {
        fields: &'static [&'static str],
        /// Checks the arguments and fills in the defaults.
        read: fn(&FileMap<'_>, &mut Findings) -> RawArgs,
    },
    /// The plugin itself checks them when it is made.
    Unchecked,
}

impl ArgsFormat {
    pub(crate) fn typed<A: PluginArgs>() -> Self {
        Self::Typed { fields: A::FIELDS, read: |object, found| A::read(object, found).to_value() }
    }
}

/// The plugin that enforces reservations.
pub(super) const RESERVATION: &str = "Reservation";

#[derive(Clone, Copy, Debug)]
pub(super) struct PluginCatalog<'a> {
    plugins: &'a [PluginDeclaration],
}

impl<'a> PluginCatalog<'a> {
    pub(super) fn new(plugins: &'a [PluginDeclaration]) -> Self {
        Self { plugins }
    }

    pub(super) fn find(&self, name: &str) -> Option<&'a PluginDeclaration> {
        self.plugins.iter().find(|plugin| plugin.name == name)
    }

    pub(super) fn has(&self, name: &str, point: ExtensionPoint) -> bool {
        self.find(name).is_some_and(|plugin| plugin.points.contains(&point))
    }

    /// The plugins of the default profile with their weights, in order, all of them by `multiPoint`.
    pub(super) fn defaults(&self) -> impl Iterator<Item = (&'a str, i32)> {
        self.plugins.iter().filter_map(|plugin| Some((plugin.name.as_str(), plugin.default_weight?)))
    }

    /// The plugins in the order in which the effective configuration shows their arguments: kube-scheduler's by name, then ours,
    /// then the caller's by name.
    pub(super) fn in_order_of_arguments(&self) -> Vec<&'a PluginDeclaration> {
        let mut plugins: Vec<&PluginDeclaration> = self.plugins.iter().collect();
        plugins.sort_by_key(|plugin| match plugin.args {
            ArgsFormat::Unchecked => (2, plugin.name.as_str()),
            _ if plugin.is_upstream => (0, plugin.name.as_str()),
            _ => (1, ""),
        });
        plugins
    }

    pub(super) fn suggestion(&self, name: &str) -> String {
        did_you_mean(name, self.plugins.iter().map(|plugin| plugin.name.as_str()))
    }
}
