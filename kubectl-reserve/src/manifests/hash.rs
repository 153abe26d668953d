//! The end of a generated ConfigMap's name, which follows from its content, as kustomize works it out: so that `kubectl
//! apply -k` and `install` make the same object, and a changed configuration rolls the daemon.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Characters of the end.
const LEN: usize = 10;

/// The end for a ConfigMap with this `data`.
pub(super) fn suffix(data: &Value) -> String {
    // As Go writes JSON: keys sorted, and what could end a script escaped.
    let text = json!({ "data": data, "kind": "ConfigMap", "name": "" }).to_string();
    let text = text.replace('<', r"\u003c").replace('>', r"\u003e").replace('&', r"\u0026");
    let text = text.replace('\u{2028}', r"\u2028").replace('\u{2029}', r"\u2029");
    let digest = Sha256::digest(text.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    hex.chars().take(LEN).map(harmless).collect()
}

/// Digits and vowels that could make up a word are exchanged.
fn harmless(character: char) -> char {
    match character {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        other => other,
    }
}
