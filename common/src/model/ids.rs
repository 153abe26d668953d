//! Names and UIDs of objects. Each kind of name is its own type, so that it cannot be passed in place of another. Cheap to clone.

use std::fmt;
use std::sync::Arc;

/// A string whose clones share its memory.
pub type Text = Arc<str>;

/// The UID that the API server gave an object.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(UidRepr);

/// A canonical UUID as its bytes, which sort like its text and need no memory of their own. Any other UID as text, which is rare.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum UidRepr {
    Canonical([u8; 16]),
    Other(Text),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeName(Text);

/// A pod by namespace and name. A recreated pod may have the same key and another [`Uid`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodKey {
    pub namespace: Text,
    pub name: Text,
}

impl Uid {
    /// Whether this is a UUID as the API server writes it: lower case, with dashes.
    ///
    /// An ownerReference may contain any other text, since the API server does not check it. As a part of an annotation key such a
    /// text would be ambiguous.
    pub fn is_canonical(&self) -> bool {
        matches!(self.0, UidRepr::Canonical(_))
    }
}

fn canonical(text: &str) -> Option<[u8; 16]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; 16];
    let mut digits = 0;
    for (at, byte) in text.bytes().enumerate() {
        if matches!(at, 8 | 13 | 18 | 23) {
            (byte == b'-').then_some(())?;
            continue;
        }
        let byte_of = bytes.get_mut(digits / 2)?;
        *byte_of = *byte_of << 4 | digit(byte)?;
        digits += 1;
    }
    (digits == 32).then_some(bytes)
}

impl NodeName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PodKey {
    pub fn new(namespace: impl Into<Text>, name: impl Into<Text>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

impl<T: AsRef<str>> From<T> for Uid {
    fn from(text: T) -> Self {
        let text = text.as_ref();
        Self(canonical(text).map_or_else(|| UidRepr::Other(text.into()), UidRepr::Canonical))
    }
}

impl<T: Into<Text>> From<T> for NodeName {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            UidRepr::Other(text) => f.write_str(text),
            UidRepr::Canonical(bytes) => {
                for (at, byte) in bytes.iter().enumerate() {
                    let dash = if matches!(at, 4 | 6 | 8 | 10) { "-" } else { "" };
                    write!(f, "{dash}{byte:02x}")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uid({self})")
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
    fn a_uid_reads_as_it_was_written_and_sorts_like_its_text() {
        let texts = [
            "00000000-0000-0000-0000-00000000000a",
            "0a000000-0000-0000-0000-000000000000",
            "a8f6f901-47c9-4475-b1f4-cac44597e173",
        ];
        for text in texts.into_iter().chain(["", "node-1", "A8F6F901-47C9-4475-B1F4-CAC44597E173"]) {
            assert_eq!(Uid::from(text).to_string(), text);
        }
        assert!(texts.map(Uid::from).is_sorted());
    }

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
