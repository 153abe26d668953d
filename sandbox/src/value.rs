//! Reads fields of JSON objects. A field that is missing or of another type reads as empty.

use jiff::Timestamp;
use serde_json::Value;

pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or("")
}

pub(crate) fn number(value: &Value, pointer: &str) -> Option<i64> {
    value.pointer(pointer).and_then(Value::as_i64)
}

pub(crate) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(crate) fn is_true(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_bool).unwrap_or(false)
}

pub(crate) fn name(object: &Value) -> &str {
    text(object, "/metadata/name")
}

/// The namespace of an object; empty if it has none.
pub(crate) fn namespace(object: &Value) -> &str {
    text(object, "/metadata/namespace")
}

pub(crate) fn uid(object: &Value) -> &str {
    text(object, "/metadata/uid")
}

pub(crate) fn is_deleting(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some()
}

pub(crate) fn time(value: &Value, pointer: &str) -> Option<Timestamp> {
    text(value, pointer).parse().ok()
}

/// A time in the format of Kubernetes objects, in whole seconds.
pub(crate) fn second(time: Timestamp) -> Value {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into()
}

pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> &'a str {
    let conditions = list(object, "/status/conditions").iter();
    conditions.filter(|one| text(one, "/type") == kind).map(|one| text(one, "/status")).next().unwrap_or("")
}

/// Sets a condition. `lastTransitionTime` stays unless the status of the condition changes.
pub(crate) fn set_condition(status: &mut Value, mut wanted: Value, now: Timestamp) {
    let mut conditions = list(status, "/conditions").to_vec();
    let at = conditions.iter().position(|one| text(one, "/type") == text(&wanted, "/type"));
    let since = at.and_then(|at| conditions.get(at)).filter(|old| old["status"] == wanted["status"]);
    wanted["lastTransitionTime"] = since.map_or_else(|| second(now), |old| old["lastTransitionTime"].clone());
    match at.and_then(|at| conditions.get_mut(at)) {
        Some(old) => *old = wanted,
        None => conditions.push(wanted),
    }
    status["conditions"] = conditions.into();
}

pub(crate) fn controller(object: &Value) -> Option<&Value> {
    list(object, "/metadata/ownerReferences").iter().find(|owner| is_true(owner, "/controller"))
}

pub(crate) fn is_controlled_by(object: &Value, owner: &Value) -> bool {
    controller(object).is_some_and(|one| text(one, "/uid") == uid(owner))
}

/// A hash that is the same in each run, as ten letters and digits that are valid in names.
pub(crate) fn hash(value: &Value) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let mut left = value.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, step);
    let letters = b"bcdfghjklmnpqrstvwxz2456789";
    let mut word = String::new();
    for _ in 0..10 {
        word.push(char::from(letters[usize::try_from(left % 27).unwrap_or(0)]));
        left /= 27;
    }
    word
}

/// The first non-empty text at these JSON pointers.
pub(crate) fn first<'a>(value: &'a Value, pointers: &[&str]) -> &'a str {
    pointers.iter().map(|pointer| text(value, pointer)).find(|text| !text.is_empty()).unwrap_or("")
}

/// A map as `key=value,…`.
pub(crate) fn pairs(map: &Value) -> String {
    let pair = |(key, value): (&String, &Value)| format!("{key}={}", value.as_str().unwrap_or(""));
    map.as_object().into_iter().flatten().map(pair).collect::<Vec<_>>().join(",")
}
