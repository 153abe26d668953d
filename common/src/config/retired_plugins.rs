//! Plugins that kube-scheduler no longer has: what replaces them, and how a file of an old version is converted. Entry points:
//! [`RetiredPlugin::find`] and [`convert`].

use super::args::{RawArgs, ScoringStrategy, default_resources};
use super::findings::{Findings, quoted};
use super::plugin_catalog::PluginCatalog;
use super::raw_profile::{PluginEntry, PluginSet, RawPluginConfig, RawProfile};
use super::read_resources::{checked_shape, scored_resources, strategy_value};
use super::version::Version;
use crate::model::ExtensionPoint;

const FIT: &str = "NodeResourcesFit";
const LEAST: &str = "NodeResourcesLeastAllocated";
const MOST: &str = "NodeResourcesMostAllocated";
const RATIO: &str = "RequestedToCapacityRatio";

/// Score plugins that are now strategies of NodeResourcesFit.
const SCORERS: [&str; 3] = [LEAST, MOST, RATIO];

/// The arguments of kube-scheduler's old NodeLabel; ours has other arguments.
const OLD_NODE_LABEL: [&str; 4] =
    ["presentLabels", "absentLabels", "presentLabelsPreference", "absentLabelsPreference"];

const GONE: [(&str, &str); 7] = [
    ("NodePreferAvoidPods", "nothing replaces it"),
    ("SelectorSpread", "PodTopologySpread spreads pods by default"),
    ("ServiceAffinity", "nothing replaces it; pod affinity can say the same"),
    ("EBSLimits", "NodeVolumeLimits counts all volumes"),
    ("GCEPDLimits", "NodeVolumeLimits counts all volumes"),
    ("AzureDiskLimits", "NodeVolumeLimits counts all volumes"),
    ("CinderLimits", "NodeVolumeLimits counts all volumes"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetiredPlugin {
    /// A score plugin that is now a strategy of NodeResourcesFit; its name.
    Scorer(&'static str),
    /// A plugin without a successor; the advice for users.
    Gone(&'static str),
}

impl RetiredPlugin {
    /// The retired plugin of this name, unless a plugin of today has this name.
    pub(super) fn find(name: &str, catalog: PluginCatalog<'_>) -> Option<Self> {
        if catalog.find(name).is_some() {
            return None;
        }
        let scorer =
            SCORERS.iter().find(|scorer| **scorer == name).map(|scorer| RetiredPlugin::Scorer(scorer));
        scorer.or_else(|| {
            GONE.iter().find(|(gone, _)| *gone == name).map(|(_, advice)| RetiredPlugin::Gone(advice))
        })
    }

    /// What users should write instead.
    pub(super) fn advice(self) -> String {
        match self {
            RetiredPlugin::Gone(advice) => advice.to_owned(),
            RetiredPlugin::Scorer(name) => {
                format!(
                    "write {FIT} at score, and scoringStrategy.type {} in its arguments",
                    strategy_name(name)
                )
            }
        }
    }
}

fn strategy_name(scorer: &str) -> &str {
    scorer.strip_prefix("NodeResources").unwrap_or(scorer)
}

/// Converts a profile of an old version: retired plugins are replaced or left out, each with a warning. Returns the `scoringStrategy`
/// of NodeResourcesFit, if a score plugin became one.
pub(super) fn convert(
    raw_profile: &mut RawProfile<'_>,
    version: Version,
    catalog: PluginCatalog<'_>,
    found: &mut Findings,
) -> Option<RawArgs> {
    drop_old_node_label(raw_profile, version, found);
    warn_of_weights(raw_profile, version, found);
    let strategy = convert_scorer(raw_profile, catalog, found);
    for (_, set) in raw_profile.sets_mut() {
        set.enabled.retain(|entry| is_current(&entry.path, &entry.name, catalog, found));
    }
    raw_profile.plugin_configs.retain(|config| is_current(&config.path, &config.name, catalog, found));
    strategy
}

/// Whether `name` is not retired; warns if it is.
fn is_current(path: &str, name: &str, catalog: PluginCatalog<'_>, found: &mut Findings) -> bool {
    let retired = RetiredPlugin::find(name, catalog);
    if let Some(retired) = retired {
        found.warn(path, format!("{} was retired and is left out; {}", quoted(name), retired.advice()));
    }
    retired.is_none()
}

/// Replaces the first retired score plugin by NodeResourcesFit with its strategy.
fn convert_scorer(
    raw_profile: &mut RawProfile<'_>,
    catalog: PluginCatalog<'_>,
    found: &mut Findings,
) -> Option<RawArgs> {
    let is_scorer = |name: &str| matches!(RetiredPlugin::find(name, catalog), Some(RetiredPlugin::Scorer(_)));
    let score = raw_profile.points.get_mut(&ExtensionPoint::Score)?;
    let fit_is_there = score.enables(FIT);
    let Some(index) = score.enabled.iter().position(|entry| is_scorer(&entry.name)) else {
        if score.disabled.iter().any(|off| off.name == LEAST && is_scorer(LEAST)) && !fit_is_there {
            disable_fit(score, found);
        }
        return None;
    };
    if fit_is_there {
        return None;
    }
    let entry = score.enabled.get_mut(index)?;
    let scorer = std::mem::replace(&mut entry.name, FIT.to_owned());
    let strategy = strategy_name(&scorer);
    found.warn(&entry.path, format!("{} is now {FIT} with the strategy {strategy}", quoted(&scorer)));
    let config = raw_profile.plugin_configs.iter().position(|config| config.name == scorer);
    let config = config.map(|index| raw_profile.plugin_configs.remove(index));
    Some(read_strategy(&scorer, config.as_ref(), &raw_profile.path, found))
}

fn disable_fit(score: &mut PluginSet, found: &mut Findings) {
    for off in score.disabled.iter_mut().filter(|off| off.name == LEAST) {
        found.warn(&off.path, format!("{} is now part of {FIT}, which is disabled here", quoted(&off.name)));
        *off = PluginEntry { name: FIT.to_owned(), ..off.clone() };
    }
}

fn read_strategy(
    scorer: &str,
    config: Option<&RawPluginConfig<'_>>,
    profile: &str,
    found: &mut Findings,
) -> RawArgs {
    let fields = ["apiVersion", "kind", "resources", "shape"];
    let known = if scorer == RATIO { &fields[..] } else { &fields[..3] };
    let args = config.and_then(|config| config.args.as_ref()?.object(known, found));
    let resources = args.as_ref().map_or_else(default_resources, |args| scored_resources(args, found));
    let strategy = match (scorer, &args) {
        (LEAST, _) => ScoringStrategy::LeastAllocated,
        (MOST, _) => ScoringStrategy::MostAllocated,
        (_, Some(args)) => ScoringStrategy::RequestedToCapacityRatio(checked_shape(args, found)),
        (_, None) => {
            found
                .error(&format!("{profile}.pluginConfig"), format!("{RATIO} needs arguments with its shape"));
            ScoringStrategy::LeastAllocated
        }
    };
    strategy_value(&strategy, &resources)
}

/// Removes NodeLabel if its arguments are those of kube-scheduler's plugin of v1beta1, which is not ours.
fn drop_old_node_label(raw_profile: &mut RawProfile<'_>, version: Version, found: &mut Findings) {
    let name = "NodeLabel";
    let is_old = |config: &&RawPluginConfig<'_>| {
        let keys = config.args.as_ref().and_then(|node| node.value.as_object());
        config.name == name
            && keys.is_some_and(|keys| keys.keys().any(|key| OLD_NODE_LABEL.contains(&key.as_str())))
    };
    let Some(path) = raw_profile.plugin_configs.iter().find(is_old).map(|config| config.path.clone()) else {
        return;
    };
    if version != Version::Beta(1) {
        return;
    }
    found.warn(
        &path,
        format!(
            "{} is kube-scheduler's old plugin and is left out; ours takes other arguments",
            quoted(name)
        ),
    );
    raw_profile.plugin_configs.retain(|config| config.name != name);
    for (_, set) in raw_profile.sets_mut() {
        set.enabled.retain(|entry| entry.name != name);
    }
}

/// Warns about default weights that changed after v1beta2: until then all but one were 1.
fn warn_of_weights(raw_profile: &RawProfile<'_>, version: Version, found: &mut Findings) {
    if !matches!(version, Version::Beta(1 | 2)) {
        return;
    }
    let score = raw_profile.set(ExtensionPoint::Score);
    let changed = ["TaintToleration 3", "NodeAffinity 2", "InterPodAffinity 2"];
    let silent = changed.into_iter().filter(|changed| {
        let name = changed.split(' ').next().unwrap_or_default();
        !score.enables(name) && !score.disables(name)
    });
    let silent: Vec<&str> = silent.collect();
    if !silent.is_empty() {
        let what = format!("the default weights are those of v1, where they were 1: {}", silent.join(", "));
        found.warn(&format!("{}.plugins.score", raw_profile.path), what);
    }
}
