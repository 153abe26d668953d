//! Values to text. Nothing here prints, reads or asks the time.

pub(crate) mod explain;
pub(crate) mod json;
pub(crate) mod list;
pub(crate) mod recreate;
pub(crate) mod table;
pub(crate) mod time;
pub(crate) mod wrap;

/// Foreign text without anything that could move the cursor, break a table or hide what follows.
pub(crate) fn printable(text: &str) -> String {
    let is_odd = |character: char| {
        character.is_control()
            || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars()
        .flat_map(|character| {
            let shown: Vec<char> =
                if is_odd(character) { character.escape_default().collect() } else { vec![character] };
            shown
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn foreign_text_cannot_repaint_the_screen() {
        assert_eq!(printable("ä b"), "ä b");
        assert_eq!(printable("a\u{1b}[2J\nb\u{202e}"), r"a\u{1b}[2J\nb\u{202e}");
    }
}
