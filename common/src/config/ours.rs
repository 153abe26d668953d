//! What each of our own plugins can be told. Left alone, none of them changes where a pod goes, but for RandomScore.

use std::collections::BTreeMap;
use std::fmt;

use crate::model::Labels;

/// The arguments of our own plugins, whether they run or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OurArgs {
    /// NodeLabel's.
    pub node_label: NodeLabelArgs,
    /// PodLimit's.
    pub pod_limit: PodLimitArgs,
    /// NodePreference's.
    pub node_preference: NodePreferenceArgs,
    /// LabelGate's.
    pub label_gate: LabelGateArgs,
    /// RandomScore's.
    pub random_score: RandomScoreArgs,
    /// BuildImageLocality's.
    pub build_image_locality: BuildImageLocalityArgs,
}

/// The labels that a node must have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeLabelArgs {
    /// Each with its value; an empty value stands for any.
    pub required_labels: BTreeMap<String, String>,
}

/// How many pods a namespace may have on nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodLimitArgs {
    /// Every namespace that is not named; `None`: as many as it likes.
    pub max_pods: Option<i64>,
    /// Those that are named.
    pub namespaces: BTreeMap<String, i64>,
}

/// How well nodes are liked, from 0 to 100.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodePreferenceArgs {
    /// By name, which goes before labels.
    pub nodes: BTreeMap<String, i64>,
    /// By label; of several the highest counts.
    pub labels: Vec<(LabelPattern, i64)>,
}

/// Which pods, and which nodes, are kept out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelGateArgs {
    /// Pods whose labels match.
    pub pod_label: Option<LabelPattern>,
    /// Nodes whose labels match.
    pub node_label: Option<LabelPattern>,
}

/// Which chance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RandomScoreArgs {
    /// Another number, other scores.
    pub seed: i64,
}

/// Where a pod says which image it will build on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildImageLocalityArgs {
    /// The environment variable; empty for none.
    pub env: String,
}

impl Default for BuildImageLocalityArgs {
    fn default() -> Self {
        Self { env: "BUILD_IMAGE".to_owned() }
    }
}

/// One question about labels, written as `kubectl -l` has it: `key`, `!key`, `key=value`, `key!=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelPattern {
    /// The label.
    pub key: String,
    /// Its value; `None` for any.
    pub value: Option<String>,
    /// Whether it is those that do not have it which match.
    pub negated: bool,
}

impl LabelPattern {
    /// Whether these labels match.
    pub fn matches(&self, labels: &Labels) -> bool {
        let has = match &self.value {
            Some(value) => labels.get(&self.key) == Some(value),
            None => labels.has(&self.key),
        };
        has != self.negated
    }

    /// The pattern that is written so; its words are not checked.
    pub fn parse(text: &str) -> Self {
        let (left, value) = match text.split_once('=') {
            Some((left, value)) => (left, Some(value.to_owned())),
            None => (text, None),
        };
        let (key, negated) = match value {
            Some(_) => (left.strip_suffix('!').unwrap_or(left), left.ends_with('!')),
            None => (left.strip_prefix('!').unwrap_or(left), left.starts_with('!')),
        };
        Self { key: key.to_owned(), value, negated }
    }
}

impl fmt::Display for LabelPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = if self.negated { "!" } else { "" };
        match &self.value {
            Some(value) => write!(f, "{}{not}={value}", self.key),
            None => write!(f, "{not}{}", self.key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LabelPattern;
    use crate::model::Labels;

    #[test]
    fn patterns_read_as_they_are_written_and_match_as_kubectl_has_it() {
        let labels = Labels::new([("a", "1"), ("empty", "")]);
        let table = [
            ("a", true),
            ("b", false),
            ("!a", false),
            ("!b", true),
            ("a=1", true),
            ("a=2", false),
            ("b=1", false),
            ("a!=1", false),
            ("a!=2", true),
            ("b!=1", true),
            ("empty", true),
            ("empty=", true),
            ("a=", false),
            ("b!=", true),
        ];
        for (text, matches) in table {
            let pattern = LabelPattern::parse(text);
            assert_eq!(pattern.to_string(), text);
            assert_eq!(pattern.matches(&labels), matches, "{text}");
        }
    }
}
