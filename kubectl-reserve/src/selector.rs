//! Label selectors in kubectl's syntax, for snapshots, which no server filters: `a=b,c!=d,e in (f,g),h notin (i),j,!k`.

use crate::error::Failure;
use common::model::ids::Text;
use common::model::requirement::{Operator, Requirement};
use common::model::selector::Selector;

/// Parses a selector. An empty text selects everything.
pub(crate) fn parse(text: &str) -> Result<Selector, Failure> {
    let wrong = |part: &str, why: &str| {
        Failure::usage(format!("unable to parse the selector {text:?}: {:?}: {why}", part.trim()))
            .hint("a selector looks like app=web,tier!=cache, or app in (web,api)")
    };
    let mut requirements = Vec::new();
    for part in parts(text).into_iter().filter(|_| !text.trim().is_empty()) {
        let requirement = requirement(part.trim()).ok_or_else(|| wrong(part, "this is no requirement"))?;
        if let Some(problem) = requirement.problems("").first() {
            return Err(wrong(part, problem));
        }
        requirements.push(requirement);
    }
    Ok(Selector::new(requirements))
}

/// Splits at the commas between requirements, not at those inside parentheses.
fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let is_end = |one: char| {
        match one {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        one == ',' && depth == 0
    };
    text.split(is_end).collect()
}

fn requirement(part: &str) -> Option<Requirement> {
    let made = |key: &str, operator, values: &[&str]| Requirement {
        key: key.trim().into(),
        operator,
        values: values.iter().map(|value| Text::from(value.trim())).collect(),
    };
    if let Some((before, values)) = part.strip_suffix(')').and_then(|part| part.split_once('(')) {
        let (key, word) = before.trim().rsplit_once(char::is_whitespace)?;
        let operator = match word {
            "in" => Operator::In,
            "notin" => Operator::NotIn,
            _ => return None,
        };
        return Some(made(key, operator, &values.split(',').collect::<Vec<_>>()));
    }
    // Longer operators first: each of them contains a shorter one.
    let signs = [
        ("!=", Operator::NotIn),
        ("==", Operator::In),
        ("=", Operator::In),
        (">", Operator::Gt),
        ("<", Operator::Lt),
    ];
    for (sign, operator) in signs {
        if let Some((key, value)) = part.split_once(sign) {
            return Some(made(key, operator, &[value]));
        }
    }
    match part.strip_prefix('!') {
        Some(key) => Some(made(key, Operator::DoesNotExist, &[])),
        None => Some(made(part, Operator::Exists, &[])),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use common::model::labels::Labels;

    #[test]
    fn selectors_mean_what_kubectl_means() {
        let labels = Labels::new([("app", "web"), ("tier", "front"), ("rank", "7")]);
        let cases = [
            ("", true),
            ("app=web", true),
            ("app==web", true),
            ("app = web , tier != cache", true),
            ("app!=web", false),
            ("other!=web", true),
            ("app in (api, web)", true),
            ("app in (api),tier", false),
            ("app notin (api,cache)", true),
            ("tier", true),
            ("!tier", false),
            ("!other", true),
            ("rank>6", true),
            ("rank<6", false),
            ("app=", false),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).unwrap().matches(&labels), expected, "{text:?}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_said_so() {
        for text in ["app=web,", "=web", "app within (a)", "a b", "app in ()x", "app=a b", ",", "app>x"] {
            let refused = parse(text).map(|_| ()).unwrap_err();
            assert!(refused.message.unwrap().starts_with("unable to parse the selector"), "{text:?}");
        }
    }
}
