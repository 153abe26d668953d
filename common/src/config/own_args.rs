//! The arguments of our own plugins. With the defaults, no plugin but RandomScore changes where a pod goes.

use std::collections::BTreeMap;
use std::fmt;

use crate::model::Labels;

/// Arguments of NodeLabel: the labels that a node must have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeLabelArgs {
    /// The labels with their values; an empty value stands for any value.
    pub required_labels: BTreeMap<String, String>,
}

/// Arguments of PodLimit: how many pods a namespace may have on nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodLimitArgs {
    /// The limit of namespaces that are not in `namespaces`; `None`: no limit.
    pub max_pods: Option<i64>,
    pub namespaces: BTreeMap<String, i64>,
}

/// Arguments of NodePreference: scores of nodes, from 0 to 100.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodePreferenceArgs {
    /// Scores by node name; they go before those by label.
    pub nodes: BTreeMap<String, i64>,
    /// Scores by label; if several match, the highest counts.
    pub labels: Vec<(LabelPattern, i64)>,
}

/// Arguments of LabelGate: which pods and which nodes are rejected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelGateArgs {
    /// Pods whose labels match are rejected.
    pub pod_label: Option<LabelPattern>,
    pub node_label: Option<LabelPattern>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RandomScoreArgs {
    pub seed: i64,
}

/// Arguments of BuildImageLocality: where a pod names the image that it builds on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildImageLocalityArgs {
    /// The name of the environment variable; empty for none.
    pub env: String,
}

impl Default for BuildImageLocalityArgs {
    fn default() -> Self {
        Self { env: "BUILD_IMAGE".to_owned() }
    }
}

/// One requirement about labels in the syntax of `kubectl -l`: `key`, `!key`, `key=value`, `key!=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelPattern {
    pub key: String,
    /// The value of the label; `None` for any.
    pub value: Option<String>,
    /// Whether labels match that do not have this key and value.
    pub negated: bool,
}

impl LabelPattern {
    pub fn matches(&self, labels: &Labels) -> bool {
        let has = match &self.value {
            Some(value) => labels.get(&self.key) == Some(value),
            None => labels.has(&self.key),
        };
        has != self.negated
    }

    /// Parses a pattern; key and value are not checked.
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
