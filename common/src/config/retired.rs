//! Plugins that kube-scheduler once had: what they became, and what a file of their time is read as.

use super::args::{ResourceWeight, ScoringStrategy, default_resources};
use super::args_read::{checked_shape, scored_resources};
use super::catalog::Catalog;
use super::draft::{Args, Draft, Mention, Set};
use super::found::{Findings, quoted};
use super::version::Version;
use crate::model::ExtensionPoint;

const FIT: &str = "NodeResourcesFit";
const LEAST: &str = "NodeResourcesLeastAllocated";
const MOST: &str = "NodeResourcesMostAllocated";
const RATIO: &str = "RequestedToCapacityRatio";

/// The scorers that are now strategies of NodeResourcesFit.
const SCORERS: [&str; 3] = [LEAST, MOST, RATIO];

/// What the old NodeLabel was told; ours takes other arguments.
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

/// A plugin that is no longer there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retired {
    /// Now a strategy of NodeResourcesFit.
    Scorer(&'static str),
    /// Gone, and what does its work.
    Gone(&'static str),
}

impl Retired {
    /// The plugin of this name, unless there is one of this name today.
    pub(super) fn find(name: &str, catalog: Catalog<'_>) -> Option<Self> {
        if catalog.points(name).is_some() {
            return None;
        }
        let scorer = SCORERS.iter().find(|scorer| **scorer == name).map(|scorer| Retired::Scorer(scorer));
        scorer.or_else(|| {
            GONE.iter().find(|(gone, _)| *gone == name).map(|(_, instead)| Retired::Gone(instead))
        })
    }

    /// What to write instead.
    pub(super) fn advice(self) -> String {
        match self {
            Retired::Gone(instead) => instead.to_owned(),
            Retired::Scorer(name) => {
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

type Strategy = (ScoringStrategy, Vec<ResourceWeight>);

/// Reads a profile of an old file as one of today: what was retired is replaced or left out, each with a warning. The
/// strategy is for NodeResourcesFit.
pub(super) fn convert(
    draft: &mut Draft<'_>,
    version: Version,
    catalog: Catalog<'_>,
    found: &mut Findings,
) -> Option<Strategy> {
    drop_old_node_label(draft, version, found);
    warn_of_weights(draft, version, found);
    let strategy = convert_scorer(draft, catalog, found);
    for (_, set) in draft.sets_mut() {
        set.enabled.retain(|mention| keep(&mention.path, &mention.name, catalog, found));
    }
    draft.args.retain(|args| keep(&args.path, &args.name, catalog, found));
    strategy
}

/// Whether it is a plugin of today; says so if it is not.
fn keep(path: &str, name: &str, catalog: Catalog<'_>, found: &mut Findings) -> bool {
    let retired = Retired::find(name, catalog);
    if let Some(retired) = retired {
        found.warn(path, format!("{} was retired and is left out; {}", quoted(name), retired.advice()));
    }
    retired.is_none()
}

/// The scorer that becomes NodeResourcesFit's strategy.
fn convert_scorer(draft: &mut Draft<'_>, catalog: Catalog<'_>, found: &mut Findings) -> Option<Strategy> {
    let is_scorer = |name: &str| matches!(Retired::find(name, catalog), Some(Retired::Scorer(_)));
    let score = draft.points.get_mut(&ExtensionPoint::Score)?;
    let fit_is_there = score.enables(FIT);
    let Some(index) = score.enabled.iter().position(|mention| is_scorer(&mention.name)) else {
        if score.disabled.iter().any(|off| off.name == LEAST && is_scorer(LEAST)) && !fit_is_there {
            disable_fit(score, found);
        }
        return None;
    };
    if fit_is_there {
        return None;
    }
    let mention = score.enabled.get_mut(index)?;
    let scorer = std::mem::replace(&mut mention.name, FIT.to_owned());
    let strategy = strategy_name(&scorer);
    found.warn(&mention.path, format!("{} is now {FIT} with the strategy {strategy}", quoted(&scorer)));
    let config = draft.args.iter().position(|args| args.name == scorer);
    let config = config.map(|index| draft.args.remove(index));
    Some(read_strategy(&scorer, config.as_ref(), &draft.path, found))
}

fn disable_fit(score: &mut Set, found: &mut Findings) {
    for off in score.disabled.iter_mut().filter(|off| off.name == LEAST) {
        found.warn(&off.path, format!("{} is now part of {FIT}, which is disabled here", quoted(&off.name)));
        *off = Mention { name: FIT.to_owned(), ..off.clone() };
    }
}

fn read_strategy(scorer: &str, config: Option<&Args<'_>>, profile: &str, found: &mut Findings) -> Strategy {
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
    (strategy, resources)
}

/// In v1beta1 NodeLabel was kube-scheduler's, with other arguments than ours.
fn drop_old_node_label(draft: &mut Draft<'_>, version: Version, found: &mut Findings) {
    let name = "NodeLabel";
    let is_old = |args: &&Args<'_>| {
        let keys = args.args.as_ref().and_then(|node| node.value.as_object());
        args.name == name
            && keys.is_some_and(|keys| keys.keys().any(|key| OLD_NODE_LABEL.contains(&key.as_str())))
    };
    let Some(path) = draft.args.iter().find(is_old).map(|args| args.path.clone()) else { return };
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
    draft.args.retain(|args| args.name != name);
    for (_, set) in draft.sets_mut() {
        set.enabled.retain(|mention| mention.name != name);
    }
}

/// Until v1beta2 every default weight but one was 1.
fn warn_of_weights(draft: &Draft<'_>, version: Version, found: &mut Findings) {
    if !matches!(version, Version::Beta(1 | 2)) {
        return;
    }
    let score = draft.set(ExtensionPoint::Score);
    let changed = ["TaintToleration 3", "NodeAffinity 2", "InterPodAffinity 2"];
    let silent = changed.into_iter().filter(|changed| {
        let name = changed.split(' ').next().unwrap_or_default();
        !score.enables(name) && !score.disables(name)
    });
    let silent: Vec<&str> = silent.collect();
    if !silent.is_empty() {
        let what = format!("the default weights are those of v1, where they were 1: {}", silent.join(", "));
        found.warn(&format!("{}.plugins.score", draft.path), what);
    }
}
