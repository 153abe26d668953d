//! The syntax of names in Kubernetes: label keys, label values, extended resources.

/// Whether `text` is a qualified name, `name` or `prefix/name`, as label keys are.
pub(super) fn is_qualified(text: &str) -> bool {
    match text.split_once('/') {
        None => is_name(text),
        Some((prefix, name)) => is_subdomain(prefix) && is_name(name),
    }
}

/// Whether `text` is a label value: a name, or empty.
pub(super) fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_name(text)
}

/// Whether `text` is the name of an extended resource, which is not one of Kubernetes' own.
pub(super) fn is_extended_resource(text: &str) -> bool {
    let native = !text.contains('/') || text.contains("kubernetes.io/") || text.starts_with("requests.");
    // Quotas add the prefix `requests.`, and the result must be a valid name, too.
    is_qualified(text) && !native && is_qualified(&format!("requests.{text}"))
}

/// At most 63 letters, digits, `-`, `_` and `.`; the first and last is a letter or digit.
fn is_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.len() <= 63 && text.bytes().all(inner) && ends_well(text, |byte| byte.is_ascii_alphanumeric())
}

/// At most 253 characters: labels of lower-case letters, digits and `-`, joined by `.`.
fn is_subdomain(text: &str) -> bool {
    let end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let label = |label: &str| label.bytes().all(|byte| end(byte) || byte == b'-') && ends_well(label, end);
    text.len() <= 253 && text.split('.').all(label)
}

fn ends_well(text: &str, end: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| end(*byte)) && bytes.last().is_some_and(|byte| end(*byte))
}

#[cfg(test)]
mod tests {
    use super::{is_extended_resource, is_label_value, is_qualified};

    #[test]
    fn names() {
        let long = "a".repeat(63);
        for good in ["a", "A_b.c-9", "example.com/a", "a.b-c/d", &long, &format!("{long}/{long}")] {
            assert!(is_qualified(good), "{good}");
        }
        let too_long = [format!("{long}a"), format!("{}a/b", "a.".repeat(127))];
        for bad in ["", "-a", "a-", "a b", "/a", "a/", "a/b/c", "A/b", ".a/b", "a..b/c", "ä"] {
            assert!(!is_qualified(bad), "{bad}");
        }
        too_long.iter().for_each(|bad| assert!(!is_qualified(bad), "{bad}"));
        assert!(is_label_value("") && is_label_value("a_b") && !is_label_value("a/b"));
    }

    #[test]
    fn extended_resources() {
        assert!(is_extended_resource("example.com/gpu"));
        for bad in ["cpu", "kubernetes.io/x", "x.kubernetes.io/y", "requests.example.com/x", "example.com/"] {
            assert!(!is_extended_resource(bad), "{bad}");
        }
        assert!(!is_extended_resource(&format!("{}/x", "a".repeat(250))), "too long for a quota");
    }
}
