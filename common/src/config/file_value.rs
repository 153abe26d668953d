//! Reads single fields of a file's tree. A value of the wrong type is reported with its path and then treated as absent, so that
//! one run finds all errors. A `null` is an absent field, as everywhere in Kubernetes.

use jiff::SignedDuration;
use serde_json::{Map, Value};

use super::base64;
use super::duration;
use super::findings::{Findings, quoted};
use super::nearest::did_you_mean;
use crate::model::excerpt::excerpt;

const KEY_LEN_MAX: usize = 60;

#[derive(Clone, Debug)]
pub(crate) struct FileValue<'a> {
    pub(super) path: String,
    pub(super) value: &'a Value,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FileMap<'a> {
    pub(super) path: String,
    fields: Option<&'a Map<String, Value>>,
}

impl<'a> FileValue<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        Self { path: String::new(), value }
    }

    /// The value as a map; each key that is not in `known` is an error.
    pub(super) fn object(&self, known: &[&str], found: &mut Findings) -> Option<FileMap<'a>> {
        let object = self.any_object(found)?;
        let fields = object.fields.into_iter().flatten();
        for (key, _) in fields.filter(|(key, _)| !known.contains(&key.as_str())) {
            let hint = did_you_mean(key, known.iter().copied());
            found.error(&join(&self.path, key), format!("no such field{hint}"));
        }
        Some(object)
    }

    /// The value as a map with any keys.
    pub(super) fn any_object(&self, found: &mut Findings) -> Option<FileMap<'a>> {
        let fields = match self.value {
            Value::Null => None,
            Value::Object(fields) => Some(fields),
            _ => return self.wrong("a map", found),
        };
        Some(FileMap { path: self.path.clone(), fields })
    }

    fn list(&self, found: &mut Findings) -> Option<Vec<FileValue<'a>>> {
        let Value::Array(items) = self.value else { return self.wrong("a list", found) };
        let item = |(index, value)| FileValue { path: format!("{}[{index}]", self.path), value };
        Some(items.iter().enumerate().map(item).collect())
    }

    pub(super) fn text(&self, found: &mut Findings) -> Option<String> {
        match self.value {
            Value::String(text) => Some(text.clone()),
            Value::Null => Some(String::new()),
            _ => self.wrong("a text", found),
        }
    }

    pub(super) fn integer(&self, min: i64, max: i64, found: &mut Findings) -> Option<i64> {
        let whole = self.value.as_i64().or_else(|| self.value.as_f64().and_then(whole));
        let Some(number) = whole else { return self.wrong("a whole number", found) };
        if (min..=max).contains(&number) {
            return Some(number);
        }
        found.error(&self.path, format!("{number} does not fit; the largest is {max}"));
        None
    }

    fn wrong<T>(&self, expected: &str, found: &mut Findings) -> Option<T> {
        found.error(&self.path, format!("expected {expected}, found {}", shape(self.value)));
        None
    }
}

impl<'a> FileMap<'a> {
    /// The field, unless it is absent or `null`.
    pub(super) fn get(&self, key: &str) -> Option<FileValue<'a>> {
        let value = self.fields?.get(key).filter(|value| !value.is_null())?;
        Some(FileValue { path: self.child(key), value })
    }

    pub(super) fn child(&self, key: &str) -> String {
        join(&self.path, key)
    }

    pub(super) fn object(&self, key: &str, known: &[&str], found: &mut Findings) -> Option<FileMap<'a>> {
        self.get(key)?.object(known, found)
    }

    pub(super) fn list(&self, key: &str, found: &mut Findings) -> Vec<FileValue<'a>> {
        self.get(key).and_then(|node| node.list(found)).unwrap_or_default()
    }

    pub(super) fn text(&self, key: &str, found: &mut Findings) -> Option<String> {
        self.get(key)?.text(found)
    }

    /// The entries of a map whose keys the user chooses, in alphabetical order.
    pub(super) fn entries(&self, key: &str, found: &mut Findings) -> Vec<(&'a str, FileValue<'a>)> {
        let object = self.get(key).and_then(|node| node.any_object(found)).unwrap_or_default();
        let entry = |(key, value): (&'a String, &'a Value)| {
            (key.as_str(), FileValue { path: object.child(key), value })
        };
        object.fields.into_iter().flatten().map(entry).collect()
    }

    pub(super) fn texts(&self, key: &str, found: &mut Findings) -> Vec<String> {
        self.list(key, found).iter().filter_map(|node| node.text(found)).collect()
    }

    pub(super) fn flag(&self, key: &str, found: &mut Findings) -> Option<bool> {
        let node = self.get(key)?;
        node.value.as_bool().or_else(|| node.wrong("true or false", found))
    }

    pub(super) fn int32(&self, key: &str, found: &mut Findings) -> Option<i32> {
        let number = self.get(key)?.integer(i32::MIN.into(), i32::MAX.into(), found)?;
        i32::try_from(number).ok()
    }

    pub(super) fn int64(&self, key: &str, found: &mut Findings) -> Option<i64> {
        self.get(key)?.integer(i64::MIN, i64::MAX, found)
    }

    pub(super) fn float(&self, key: &str, found: &mut Findings) -> Option<f32> {
        let node = self.get(key)?;
        let number: Option<f32> = match node.value {
            Value::Number(number) => number.to_string().parse().ok(),
            _ => None,
        };
        number.filter(|number| number.is_finite()).or_else(|| node.wrong("a number", found))
    }

    pub(super) fn duration(&self, key: &str, found: &mut Findings) -> Option<SignedDuration> {
        let node = self.get(key)?;
        let text = node.value.as_str();
        let parsed = text.and_then(duration::parse);
        parsed.or_else(|| node.wrong("a duration such as \"15s\" or \"1m30s\"", found))
    }

    pub(super) fn bytes(&self, key: &str, found: &mut Findings) -> Vec<u8> {
        let Some(node) = self.get(key) else { return Vec::new() };
        let decoded = node.value.as_str().and_then(base64::decode);
        // The value may be a private key, so it is not shown.
        if decoded.is_none() {
            found.error(&node.path, "expected base64");
        }
        decoded.unwrap_or_default()
    }
}

/// `path.key`. The key comes from the file, so it is shortened and escaped.
pub(super) fn join(path: &str, key: &str) -> String {
    let key = excerpt(key, KEY_LEN_MAX);
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

/// `16.0` is 16, as it is for kube-scheduler.
fn whole(number: f64) -> Option<i64> {
    // A float beyond 2^53 does not represent every whole number.
    let exact = number.abs() <= 9_007_199_254_740_992.0 && number.trunc() == number;
    exact.then(|| format!("{number:.0}").parse().ok()).flatten()
}

fn shape(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text {}", quoted(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map".to_owned(),
    }
}
