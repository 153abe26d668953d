//! One requirement of a label selector or node selector: whether labels meet it, and Kubernetes' messages about an invalid one.

mod parse;

pub use parse::parse;

use super::ids::Text;
use super::label_syntax::{key_problem, value_problem};
use super::labels::Labels;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Requirement {
    pub key: Text,
    pub operator: Operator,
    pub values: Box<[Text]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// The label has one of the values.
    In,
    /// The label has none of the values, or is missing.
    NotIn,
    Exists,
    DoesNotExist,
    /// The label is an integer above the value. Only in node selectors.
    Gt,
    /// The label is an integer below the value. Only in node selectors.
    Lt,
    /// An operator of a newer API.
    Other,
}

impl Requirement {
    /// Whether `labels` meet the requirement. Meaningful only without [problems](Self::problems): callers check these first.
    pub fn matches(&self, labels: &Labels) -> bool {
        self.allows(labels.get(&self.key))
    }

    /// Whether the label may have this value; `None`: whether it may be missing.
    pub fn allows(&self, found: Option<&str>) -> bool {
        match self.operator {
            Operator::In => found.is_some_and(|value| self.lists(value)),
            Operator::NotIn => found.is_none_or(|value| !self.lists(value)),
            Operator::Exists => found.is_some(),
            Operator::DoesNotExist => found.is_none(),
            Operator::Gt => found.and_then(integer).zip(self.limit()).is_some_and(|(own, limit)| own > limit),
            Operator::Lt => found.and_then(integer).zip(self.limit()).is_some_and(|(own, limit)| own < limit),
            Operator::Other => false,
        }
    }

    /// Why the requirement is invalid, in Kubernetes' words. `path` is its place in the object, and may be empty.
    pub fn problems(&self, path: &str) -> Vec<String> {
        let at = |field: &str| if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") };
        if self.operator == Operator::Other {
            return vec![unsupported(&at("operator"), self.operator, &Operator::ALL)];
        }
        let mut problems = Vec::new();
        if let Some(problem) = key_problem(&self.key) {
            problems.push(invalid(&at("key"), &quoted(&self.key), &problem));
        }
        if let Some(problem) = self.count_problem() {
            problems.push(invalid(&at("values"), &list(&self.values), problem));
        }
        for (index, value) in self.values.iter().enumerate().filter(|_| self.operator.compares_integers()) {
            if integer(value).is_none() {
                let place = format!("{}[{index}]", at("values"));
                let rule = "for 'Gt', 'Lt' operators, the value must be an integer";
                problems.push(invalid(&place, &quoted(value), rule));
            }
        }
        for (index, value) in self.values.iter().enumerate() {
            if let Some(problem) = value_problem(value) {
                let place = format!("{}[{index}][{}]", at("values"), self.key);
                problems.push(invalid(&place, &quoted(value), &problem));
            }
        }
        problems
    }

    fn lists(&self, value: &str) -> bool {
        self.values.iter().any(|listed| **listed == *value)
    }

    fn limit(&self) -> Option<i64> {
        match &*self.values {
            [value] => integer(value),
            _ => None,
        }
    }

    /// What is wrong with the number of values.
    fn count_problem(&self) -> Option<&'static str> {
        let (is_wrong, rule) = match self.operator {
            Operator::In | Operator::NotIn => {
                (self.values.is_empty(), "for 'in', 'notin' operators, values set can't be empty")
            }
            Operator::Exists | Operator::DoesNotExist => {
                (!self.values.is_empty(), "values set must be empty for exists and does not exist")
            }
            Operator::Gt | Operator::Lt => {
                (self.values.len() != 1, "for 'Gt', 'Lt' operators, exactly one value is required")
            }
            Operator::Other => (false, ""),
        };
        is_wrong.then_some(rule)
    }
}

impl Operator {
    const ALL: [Operator; 6] = [Self::In, Self::NotIn, Self::Exists, Self::DoesNotExist, Self::Gt, Self::Lt];

    pub fn from_name(name: &str) -> Self {
        Self::ALL.into_iter().find(|operator| operator.as_str() == name).unwrap_or(Self::Other)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::In => "In",
            Self::NotIn => "NotIn",
            Self::Exists => "Exists",
            Self::DoesNotExist => "DoesNotExist",
            Self::Gt => "Gt",
            Self::Lt => "Lt",
            Self::Other => "unknown operator",
        }
    }

    /// Whether label selectors have this operator. `Gt` and `Lt` are only in node selectors.
    pub fn is_for_labels(self) -> bool {
        matches!(self, Self::In | Self::NotIn | Self::Exists | Self::DoesNotExist)
    }

    fn compares_integers(self) -> bool {
        matches!(self, Self::Gt | Self::Lt)
    }
}

/// `place: Unsupported value: …` in Kubernetes' words.
pub(super) fn unsupported(place: &str, operator: Operator, supported: &[Operator]) -> String {
    let words: Vec<String> = supported.iter().map(|word| quoted(word.as_str())).collect();
    let list = words.join(", ");
    format!("{place}: Unsupported value: {}: supported values: {list}", quoted(operator.as_str()))
}

/// `place: Invalid value: …` in Kubernetes' words.
pub(super) fn invalid(place: &str, value: &str, problem: &str) -> String {
    format!("{place}: Invalid value: {value}: {problem}")
}

/// Values as Kubernetes shows them in messages: as JSON.
pub(super) fn list(values: &[Text]) -> String {
    if values.is_empty() {
        return "null".to_owned();
    }
    format!("[{}]", values.iter().map(|value| quoted(value)).collect::<Vec<_>>().join(","))
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

/// Reads an integer as Go does: an optional sign and decimal digits, nothing else.
fn integer(text: &str) -> Option<i64> {
    text.parse().ok()
}

#[cfg(test)]
mod tests;
