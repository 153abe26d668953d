//! Label selectors in kubectl's syntax: `a=b,c!=d,e in (f,g),h notin (i),j,!k`. Entry point: [`parse`].

use super::{Operator, Requirement};
use crate::model::ids::Text;

/// Parses the requirements of a selector; none if the text is empty. An error says which part is wrong, and why.
pub fn parse(text: &str) -> Result<Vec<Requirement>, String> {
    let parts = parts(text).into_iter().filter(|_| !text.trim().is_empty());
    parts
        .map(|part| {
            let wrong = |why: &str| format!("{:?}: {why}", part.trim());
            let requirement = requirement(part.trim()).ok_or_else(|| wrong("this is no requirement"))?;
            match requirement.problems("").first() {
                Some(problem) => Err(wrong(problem)),
                None => Ok(requirement),
            }
        })
        .collect()
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
