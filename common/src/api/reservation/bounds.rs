//! The limits for reservations on one node. Entry point: [`check`].
//!
//! The API server accepts at most 256 KiB of annotations on an object, counting those of all programs, and above that refuses every
//! write to them. So our own limit is much lower.

use super::{PER_NODE_MAX, parse};
use crate::api::names;
use crate::model::reservation::{ANNOTATIONS_MAX, BYTES_MAX, KEYS_MAX};
use std::collections::BTreeMap;

/// Why a node cannot have one more reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// Too many reservations: the number there would be.
    #[error("the node would have {0} reservations, and at most {PER_NODE_MAX} are read")]
    Reservations(usize),
    /// Too many annotations of ours: the number there would be.
    #[error("the node would have {0} reserve.* annotations, and at most {KEYS_MAX} are allowed")]
    Keys(usize),
    /// Too many bytes in our annotations.
    #[error("the node's reserve.* annotations would have {0} bytes, and at most {BYTES_MAX} are allowed")]
    Bytes(usize),
    /// Too many bytes in all annotations of the node.
    #[error("the node's annotations would have {0} bytes, and more than {ANNOTATIONS_MAX} are not added to")]
    Annotations(usize),
}

/// Checks whether the `new` annotations can be added to these `annotations` of a node. New annotations may replace existing ones.
pub fn check(annotations: &BTreeMap<String, String>, new: &[(String, String)]) -> Result<(), LimitError> {
    let mut after: BTreeMap<&str, &str> =
        annotations.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    after.extend(new.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    let size = |entries: &mut dyn Iterator<Item = (&&str, &&str)>| -> usize {
        entries.map(|(key, value)| key.len() + value.len()).sum()
    };
    let is_ours = |key: &str| key.starts_with(names::NODE_PREFIX);
    let keys = after.keys().filter(|key| is_ours(key)).count();
    let bytes = size(&mut after.iter().filter(|(key, _)| is_ours(key)));
    let all = size(&mut after.iter());
    // Only well-formed reservations count towards the limit of reservations.
    let mut groups: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (key, value) in after.iter().filter(|(key, _)| is_ours(key)) {
        if let Some((_, name)) = key.split_once('/') {
            groups.entry(name).or_default().push((*key, *value));
        }
    }
    let is_valid = |fields: &&Vec<(&str, &str)>| {
        parse(fields.iter().copied()).iter().any(|parsed| parsed.valid().is_some())
    };
    let reservations = groups.values().filter(is_valid).count();
    match () {
        () if reservations > PER_NODE_MAX => Err(LimitError::Reservations(reservations)),
        () if keys > KEYS_MAX => Err(LimitError::Keys(keys)),
        () if bytes > BYTES_MAX => Err(LimitError::Bytes(bytes)),
        () if all > ANNOTATIONS_MAX => Err(LimitError::Annotations(all)),
        () => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{ANNOTATIONS_MAX, BYTES_MAX, KEYS_MAX, LimitError, check};
    use std::collections::BTreeMap;

    fn key(resource: &str, number: usize) -> String {
        format!("reserve.{resource}/11111111-0000-4000-8000-{number:012}")
    }

    fn new() -> Vec<(String, String)> {
        vec![(key("cpu", 999), "1".to_owned())]
    }

    #[test]
    fn each_bound_is_told_with_its_number() {
        let plain = |count: usize| -> BTreeMap<String, String> {
            (0..count).map(|number| (key("cpu", number), "1".to_owned())).collect()
        };
        assert_eq!(check(&BTreeMap::new(), &new()), Ok(()));
        assert_eq!(check(&plain(127), &new()), Ok(()));
        assert_eq!(check(&plain(128), &new()), Err(LimitError::Reservations(129)));
        let malformed: BTreeMap<String, String> =
            (0..KEYS_MAX).map(|number| (format!("reserve.odd/{number}"), String::new())).collect();
        assert_eq!(check(&malformed, &new()), Err(LimitError::Keys(KEYS_MAX + 1)));
        let long = |key: &str, bytes: usize| BTreeMap::from([(key.to_owned(), "x".repeat(bytes))]);
        assert!(matches!(check(&long("reserve.odd/x", BYTES_MAX), &new()), Err(LimitError::Bytes(_))));
        assert!(matches!(check(&long("foreign", ANNOTATIONS_MAX), &new()), Err(LimitError::Annotations(_))));
        assert_eq!(check(&long("foreign", ANNOTATIONS_MAX - 100), &new()), Ok(()));
    }

    #[test]
    fn what_is_replaced_does_not_count_twice() {
        let full: BTreeMap<String, String> =
            (0..128).map(|number| (key("cpu", number), "1".to_owned())).collect();
        assert_eq!(check(&full, &[(key("cpu", 5), "2".to_owned())]), Ok(()));
    }
}
