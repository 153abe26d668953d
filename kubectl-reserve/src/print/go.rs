//! Formats values as Go does, so that the output equals kubectl's.

use serde_json::Value;

/// A value as a JSONPath template prints it: plain values as they are, lists and objects as JSON.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => json(value),
    }
}

/// A value as Go's `fmt.Sprint` prints it, which custom columns use: `map[a:1 b:2]`, `[x y]`, `<nil>`.
pub(super) fn sprint(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(elements) => {
            let texts: Vec<String> = elements.iter().map(sprint).collect();
            format!("[{}]", texts.join(" "))
        }
        Value::Object(fields) => {
            let mut texts: Vec<String> =
                fields.iter().map(|(key, value)| format!("{key}:{}", sprint(value))).collect();
            texts.sort();
            format!("map[{}]", texts.join(" "))
        }
    }
}

/// JSON on one line. Go escapes HTML characters and line separators.
fn json(value: &Value) -> String {
    let text = value.to_string();
    text.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}
