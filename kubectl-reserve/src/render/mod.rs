//! Turns values into text and JSON, one module for each kind of output. Pure: nothing here prints, does IO or asks for the time.

pub(crate) mod describe;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod fit;
pub(crate) mod json;
pub(crate) mod list;
pub(crate) mod nodes;
pub(crate) mod pending;
pub(crate) mod picture;
pub(crate) mod recreate;
pub(crate) mod status;
pub(crate) mod table;
pub(crate) mod time;
pub(crate) mod wrap;

/// Text of unknown origin with control characters escaped: they could move the cursor, break a table or hide text.
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

/// Text wrapped at spaces into lines of at most `width` columns, each after `indent`. A longer word stays whole.
pub(crate) fn wrapped(text: &str, indent: &str, width: usize) -> String {
    wrap::wrap(indent, text, indent.len(), width)
}

/// `1 node`, `2 nodes`.
pub(crate) fn plural(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
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
