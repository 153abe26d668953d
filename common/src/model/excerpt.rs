//! The beginning of a text from an untrusted source, safe to show in events, conditions and terminals.

use std::fmt::Write as _;

/// The beginning of `text`, at most `len_max` characters long. Every character except printable ASCII is escaped.
pub fn excerpt(text: &str, len_max: usize) -> String {
    let mut shown = String::new();
    for character in text.chars() {
        let printable = character.is_ascii_graphic() || character == ' ';
        let width = if printable { 1 } else { character.escape_default().len() };
        if shown.len() + width > len_max {
            shown.push('…');
            return shown;
        }
        if printable {
            shown.push(character);
        } else {
            // Writing to a String cannot fail.
            let _ = write!(shown, "{}", character.escape_default());
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn foreign_text_is_cut_and_escaped() {
        assert_eq!(excerpt("a\0b\u{202e}", 40), r"a\u{0}b\u{202e}");
        assert_eq!(excerpt(&"x".repeat(40), 40), "x".repeat(40));
        assert_eq!(excerpt(&"x".repeat(41), 40), "x".repeat(40) + "…");
    }
}
