//! Names of things, each its own type so that one is never passed for another. Cheap to clone.

use std::fmt;
use std::sync::Arc;

/// A string that is shared rather than copied.
pub type Text = Arc<str>;

/// The UID that the API server gave an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(Text);

/// The name of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeName(Text);

/// A pod by namespace and name. A recreated pod may have the same key and another [`Uid`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodKey {
    /// The pod's namespace.
    pub namespace: Text,
    /// The pod's name.
    pub name: Text,
}

impl Uid {
    /// The UID as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is a UUID as the API server writes them: lower case, with dashes.
    ///
    /// Any other text may come in an ownerReference, which the API server does not check; as a part of an
    /// annotation key it would be at best ambiguous.
    pub fn is_canonical(&self) -> bool {
        self.0.len() == 36
            && self.0.bytes().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            })
    }
}

impl NodeName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PodKey {
    /// The pod called `name` in `namespace`.
    pub fn new(namespace: impl Into<Text>, name: impl Into<Text>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

impl<T: Into<Text>> From<T> for Uid {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl<T: Into<Text>> From<T> for NodeName {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Display for PodKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::Uid;

    #[test]
    fn only_a_lower_case_uuid_is_canonical() {
        let canonical = |text: &str| Uid::from(text).is_canonical();
        assert!(canonical("a8f6f901-47c9-4475-b1f4-cac44597e173"));
        for odd in [
            "",
            "A8F6F901-47C9-4475-B1F4-CAC44597E173",
            "a8f6f90147c94475b1f4cac44597e173",
            "a8f6f901-47c9-4475-b1f4-cac44597e17",
            "a8f6f901-47c9-4475-b1f4-cac44597e1733",
            "a8f6f901-47c9-4475-b1f4-cac44597e17g",
            "a8f6f901_47c9_4475_b1f4_cac44597e173",
            "a/b~1c ..",
            "a8f6f901-47c9-4475-b1f4-cac44597e17\0",
        ] {
            assert!(!canonical(odd), "{odd:?}");
        }
    }
}
