//! A profile as it is written: what is enabled and disabled where, and where each word of it stands.

use std::collections::BTreeMap;

use super::found::Findings;
use super::read::{Node, Object};
use super::settings::percentage;
use crate::model::ExtensionPoint;

const PROFILE: [&str; 4] = ["schedulerName", "percentageOfNodesToScore", "plugins", "pluginConfig"];
const MULTI_POINT: &str = "multiPoint";

/// The name that disables every plugin.
pub(super) const ALL: &str = "*";

/// A profile of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft<'a> {
    pub(super) path: String,
    pub(super) scheduler_name: Option<String>,
    pub(super) percentage: Option<i32>,
    pub(super) multi_point: Set,
    pub(super) points: BTreeMap<ExtensionPoint, Set>,
    pub(super) args: Vec<Args<'a>>,
}

/// What is enabled and disabled at one place.
#[derive(Clone, Debug, Default)]
pub(super) struct Set {
    pub(super) enabled: Vec<Mention>,
    pub(super) disabled: Vec<Mention>,
}

impl Set {
    pub(super) fn enables(&self, name: &str) -> bool {
        self.enabled.iter().any(|mention| mention.name == name)
    }

    pub(super) fn disables(&self, name: &str) -> bool {
        self.disabled.iter().any(|mention| mention.name == name || mention.name == ALL)
    }
}

/// The name of a plugin, where it stands, and its weight.
#[derive(Clone, Debug)]
pub(super) struct Mention {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) weight: i32,
}

/// The arguments of a plugin, not yet read.
#[derive(Clone, Debug)]
pub(super) struct Args<'a> {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) args: Option<Node<'a>>,
}

impl<'a> Draft<'a> {
    pub(super) fn read(node: &Node<'a>, found: &mut Findings) -> Self {
        let mut draft = Self { path: node.path.clone(), ..Self::default() };
        let Some(profile) = node.object(&PROFILE, found) else { return draft };
        draft.scheduler_name = profile.text("schedulerName", found);
        draft.percentage = percentage(&profile, found);
        let known: Vec<&str> =
            ExtensionPoint::CONFIGURABLE.iter().map(|point| point.field()).chain([MULTI_POINT]).collect();
        if let Some(plugins) = profile.object("plugins", &known, found) {
            draft.multi_point = set(&plugins, MULTI_POINT, found);
            let points = ExtensionPoint::CONFIGURABLE
                .into_iter()
                .map(|point| (point, set(&plugins, point.field(), found)));
            draft.points = points.collect();
        }
        draft.args =
            profile.list("pluginConfig", found).iter().filter_map(|node| args(node, found)).collect();
        draft
    }

    /// Every set of the profile.
    pub(super) fn sets_mut(&mut self) -> impl Iterator<Item = (Option<ExtensionPoint>, &mut Set)> {
        let points = self.points.iter_mut().map(|(point, set)| (Some(*point), set));
        points.chain([(None, &mut self.multi_point)])
    }

    pub(super) fn set(&self, point: ExtensionPoint) -> Set {
        self.points.get(&point).cloned().unwrap_or_default()
    }
}

fn set(plugins: &Object<'_>, key: &str, found: &mut Findings) -> Set {
    let Some(set) = plugins.object(key, &["enabled", "disabled"], found) else { return Set::default() };
    let mut mentions = |key: &str| -> Vec<Mention> {
        let list = set.list(key, found);
        list.iter().filter_map(|node| mention(node, found)).collect()
    };
    Set { enabled: mentions("enabled"), disabled: mentions("disabled") }
}

fn mention(node: &Node<'_>, found: &mut Findings) -> Option<Mention> {
    let plugin = node.object(&["name", "weight"], found)?;
    let weight = plugin.int32("weight", found).unwrap_or(0);
    if weight < 0 {
        found.error(&plugin.child("weight"), format!("{weight} is negative"));
    }
    let name = name(&plugin, found)?;
    Some(Mention { path: plugin.child("name"), name, weight })
}

fn args<'a>(node: &Node<'a>, found: &mut Findings) -> Option<Args<'a>> {
    let config = node.object(&["name", "args"], found)?;
    let name = name(&config, found)?;
    Some(Args { path: config.child("name"), name, args: config.get("args") })
}

fn name(object: &Object<'_>, found: &mut Findings) -> Option<String> {
    let given = object.get("name").is_some();
    let name = object.text("name", found).filter(|name| !name.is_empty());
    if name.is_none() && (!given || object.get("name").is_some_and(|node| node.value == "")) {
        found.error(&object.child("name"), "is missing");
    }
    name
}
