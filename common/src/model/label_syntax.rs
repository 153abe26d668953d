//! The syntax of label keys and label values, with the error messages of Kubernetes.

const NAME_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or \
    '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex \
    used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const PREFIX_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
    '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const NAME_LEN_MAX: usize = 63;
const PREFIX_LEN_MAX: usize = 253;

/// Whether `text` is the key of a label: `name` or `prefix/name`.
pub fn is_key(text: &str) -> bool {
    key_problem(text).is_none()
}

/// Whether `text` is the value of a label: a name, or empty.
pub fn is_value(text: &str) -> bool {
    value_problem(text).is_none()
}

/// What is wrong with `key` as the key of a label.
pub fn key_problem(key: &str) -> Option<String> {
    let mut problems = Vec::new();
    let name = match key.split('/').collect::<Vec<_>>()[..] {
        [name] => name,
        [prefix, name] => {
            prefix_problems(prefix, &mut problems);
            name
        }
        _ => {
            return Some(format!(
                "a valid label key {NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')"
            ));
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > NAME_LEN_MAX {
        problems.push(format!("name part must be no more than {NAME_LEN_MAX} bytes"));
    }
    if !is_name(name) {
        problems.push(format!("name part {NAME_RULE}"));
    }
    (!problems.is_empty()).then(|| problems.join("; "))
}

pub fn value_problem(value: &str) -> Option<String> {
    let mut problems = Vec::new();
    if value.len() > NAME_LEN_MAX {
        problems.push(format!("must be no more than {NAME_LEN_MAX} bytes"));
    }
    if !value.is_empty() && !is_name(value) {
        problems.push(VALUE_RULE.to_owned());
    }
    (!problems.is_empty()).then(|| problems.join("; "))
}

fn prefix_problems(prefix: &str, problems: &mut Vec<String>) {
    if prefix.is_empty() {
        problems.push("prefix part must be non-empty".to_owned());
        return;
    }
    if prefix.len() > PREFIX_LEN_MAX {
        problems.push(format!("prefix part must be no more than {PREFIX_LEN_MAX} bytes"));
    }
    let is_part = |part: &str| {
        let is_edge = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        is_framed(part, is_edge, |byte| is_edge(byte) || byte == b'-')
    };
    if !prefix.split('.').all(is_part) {
        problems.push(format!("prefix part {PREFIX_RULE}"));
    }
}

fn is_name(name: &str) -> bool {
    is_framed(
        name,
        |byte| byte.is_ascii_alphanumeric(),
        |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
    )
}

/// Whether the first and the last byte satisfy `edge`, and all bytes satisfy `inner`.
fn is_framed(text: &str, edge: impl Fn(u8) -> bool, inner: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| edge(*byte))
        && bytes.last().is_some_and(|byte| edge(*byte))
        && bytes.iter().all(|byte| inner(*byte))
}

#[cfg(test)]
mod tests {
    use super::{key_problem, value_problem};

    #[test]
    fn keys_have_a_name_and_maybe_a_prefix() {
        for fine in ["a", "app", "A-b_c.d", "0", "example.com/app", "a/b", &"x".repeat(63)] {
            assert_eq!(key_problem(fine), None, "{fine}");
        }
        let odd = [
            ("", "name part must be non-empty; name part must consist of"),
            ("-a", "name part must consist of"),
            ("a.", "name part must consist of"),
            ("ä", "name part must consist of"),
            ("/a", "prefix part must be non-empty"),
            ("A/a", "prefix part a lowercase RFC 1123 subdomain"),
            ("a..b/a", "prefix part a lowercase RFC 1123 subdomain"),
            ("a/", "name part must be non-empty"),
            ("a/b/c", "a valid label key must consist of"),
        ];
        for (key, says) in odd {
            let problem = key_problem(key).unwrap();
            assert!(problem.starts_with(says), "{key}: {problem}");
        }
        let long = key_problem(&"x".repeat(64));
        assert_eq!(long.as_deref(), Some("name part must be no more than 63 bytes"));
        let prefix = key_problem(&format!("{}/a", "x".repeat(254)));
        assert_eq!(prefix.as_deref(), Some("prefix part must be no more than 253 bytes"));
    }

    #[test]
    fn values_may_be_empty() {
        for fine in ["", "a", "A-b_c.d", "0", &"x".repeat(63)] {
            assert_eq!(value_problem(fine), None, "{fine}");
        }
        for odd in ["-", "a b", "a/b", "a-", ".a", "ä"] {
            assert!(value_problem(odd).unwrap().starts_with("a valid label must be"), "{odd}");
        }
        assert_eq!(value_problem(&"x".repeat(64)).as_deref(), Some("must be no more than 63 bytes"));
    }
}
