//! The suffix of a generated ConfigMap's name: a hash of its content, computed as kustomize does. So `kubectl apply -k` and
//! `install` create the same object, and a changed configuration rolls the daemon out again.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The length of the suffix.
const LEN: usize = 10;

pub(super) fn suffix(data: &Value) -> String {
    // JSON as Go writes it: keys are sorted, and HTML characters are escaped.
    let text = json!({ "data": data, "kind": "ConfigMap", "name": "" }).to_string();
    let text = text.replace('<', r"\u003c").replace('>', r"\u003e").replace('&', r"\u0026");
    let text = text.replace('\u{2028}', r"\u2028").replace('\u{2029}', r"\u2029");
    let digest = Sha256::digest(text.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    hex.chars().take(LEN).map(encode).collect()
}

/// Replaces digits and vowels, as kustomize does, so that the suffix does not form words.
fn encode(character: char) -> char {
    match character {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        other => other,
    }
}
