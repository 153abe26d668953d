//! How much one node can hold of reservations. The API server takes no more than 256 KiB of annotations, whoever wrote
//! them, and then refuses every write to the node's annotations; so we stop well before.

use super::{PER_NODE_MAX, parse};
use crate::api::names;
use crate::model::reservation::{ANNOTATIONS_MAX, BYTES_MAX, KEYS_MAX};
use std::collections::BTreeMap;

/// Why a node cannot have one more reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Full {
    /// Of these there is a most.
    #[error("the node would have {0} reservations, and at most {PER_NODE_MAX} are read")]
    Reservations(usize),
    /// So many keys of ours.
    #[error("the node would have {0} reserve.* annotations, and at most {KEYS_MAX} are allowed")]
    Keys(usize),
    /// So many bytes of ours.
    #[error("the node's reserve.* annotations would have {0} bytes, and at most {BYTES_MAX} are allowed")]
    Bytes(usize),
    /// So many bytes in all.
    #[error("the node's annotations would have {0} bytes, and more than {ANNOTATIONS_MAX} are not added to")]
    Annotations(usize),
}

/// Whether a node with these annotations can have `new` ones, which may replace some.
///
/// # Errors
/// Which bound would be passed, and by how much.
pub fn check(annotations: &BTreeMap<String, String>, new: &[(String, String)]) -> Result<(), Full> {
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
    // Those beyond the most that are read come back as one that is malformed.
    let named: std::collections::BTreeSet<&str> =
        after.keys().filter(|key| is_ours(key)).filter_map(|key| Some(key.split_once('/')?.1)).collect();
    let is_over = || {
        let parsed = parse(after.iter().map(|(key, value)| (*key, *value)));
        parsed.iter().any(|one| one.invalid().is_some_and(|invalid| &*invalid.key == names::NODE_PREFIX))
    };
    match () {
        () if named.len() > PER_NODE_MAX && is_over() => Err(Full::Reservations(named.len())),
        () if keys > KEYS_MAX => Err(Full::Keys(keys)),
        () if bytes > BYTES_MAX => Err(Full::Bytes(bytes)),
        () if all > ANNOTATIONS_MAX => Err(Full::Annotations(all)),
        () => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{ANNOTATIONS_MAX, BYTES_MAX, Full, KEYS_MAX, check};
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
        assert_eq!(check(&plain(128), &new()), Err(Full::Reservations(129)));
        let malformed: BTreeMap<String, String> =
            (0..KEYS_MAX).map(|number| (format!("reserve.odd/{number}"), String::new())).collect();
        assert_eq!(check(&malformed, &new()), Err(Full::Keys(KEYS_MAX + 1)));
        let long = |key: &str, bytes: usize| BTreeMap::from([(key.to_owned(), "x".repeat(bytes))]);
        assert!(matches!(check(&long("reserve.odd/x", BYTES_MAX), &new()), Err(Full::Bytes(_))));
        assert!(matches!(check(&long("foreign", ANNOTATIONS_MAX), &new()), Err(Full::Annotations(_))));
        assert_eq!(check(&long("foreign", ANNOTATIONS_MAX - 100), &new()), Ok(()));
    }

    #[test]
    fn what_is_replaced_does_not_count_twice() {
        let full: BTreeMap<String, String> =
            (0..128).map(|number| (key("cpu", number), "1".to_owned())).collect();
        assert_eq!(check(&full, &[(key("cpu", 5), "2".to_owned())]), Ok(()));
    }
}
