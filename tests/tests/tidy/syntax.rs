//! As much of Rust's grammar as the rules need, over text whose comments and literals are blanked: words, brackets,
//! items, and the paths that code names.

use std::ops::Range;

/// The line, from 1, that holds the byte at `at`.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

pub(crate) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Positions of `word` that are not inside a longer word.
pub(crate) fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = text.as_bytes();
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = at.checked_sub(1).and_then(|i| bytes.get(i));
        let after = bytes.get(at + word.len());
        !before.is_some_and(|b| is_word_byte(*b)) && !after.is_some_and(|b| is_word_byte(*b))
    })
}

/// The position just after the bracket that closes the one at `open`, or the end of the text.
pub(crate) fn closing(text: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// Where an item that starts at `start` ends: after its first block, or at its `;`.
pub(crate) fn item_end(text: &str, start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'{' => return closing(text, at),
            b';' => return at + 1,
            b'}' => return at,
            b'(' | b'[' => at = closing(text, at),
            _ => at += 1,
        }
    }
    text.len()
}

/// The items behind `#[cfg(test)]` and its relatives.
pub(crate) fn test_items(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, attribute) in text.match_indices("#[cfg(").chain(text.match_indices("#![cfg(")) {
        let end = closing(text, at + attribute.len() - "[cfg(".len());
        let condition = text.get(at..end).unwrap_or_default();
        if words(condition, "test").next().is_none() || condition.contains("not(") {
            continue;
        }
        // The inner form, `#!`, speaks about the whole file.
        let inner = attribute.starts_with("#!");
        found.push(at..if inner { text.len() } else { item_end(text, after_attributes(text, end)) });
    }
    found
}

/// Further attributes belong to the same item; their brackets are not its body.
fn after_attributes(text: &str, mut at: usize) -> usize {
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let item = rest.trim_start();
        at += rest.len() - item.len();
        if !item.starts_with("#[") {
            return at;
        }
        at = closing(text, at + 1);
    }
}

/// A path as written, groups taken apart: `use a::{b, c::d}` gives `a::b` and `a::c::d`. A lone word is a path too.
#[derive(Debug, PartialEq)]
pub(crate) struct Named<'a> {
    pub(crate) at: usize,
    pub(crate) segments: Vec<&'a str>,
}

impl Named<'_> {
    /// Whether the path has these segments next to each other, anywhere.
    pub(crate) fn contains(&self, wanted: &[&str]) -> bool {
        self.segments.windows(wanted.len()).any(|window| window == wanted)
    }
}

/// Every path in `text`.
pub(crate) fn paths(text: &str) -> Vec<Named<'_>> {
    let mut reader = PathReader { text, at: 0, found: Vec::new() };
    while reader.at < text.len() {
        reader.path_or_byte(&[]);
    }
    reader.found
}

struct PathReader<'a> {
    text: &'a str,
    at: usize,
    found: Vec<Named<'a>>,
}

impl<'a> PathReader<'a> {
    fn word(&mut self) -> Option<&'a str> {
        let rest = self.text.get(self.at..)?;
        let length = rest.bytes().position(|byte| !is_word_byte(byte)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).filter(|word| !word.is_empty())
    }

    /// Skips white space and `token`, or nothing at all.
    fn skip(&mut self, token: &str) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let trimmed = rest.trim_start();
        let found = trimmed.starts_with(token);
        if found {
            self.at += rest.len() - trimmed.len() + token.len();
        }
        found
    }

    /// Reads the path that starts here, as a continuation of `prefix`; or steps over one byte that starts none.
    fn path_or_byte(&mut self, prefix: &[&'a str]) {
        let at = self.at;
        let Some(first) = self.word() else {
            self.at += 1;
            return;
        };
        let mut segments = [prefix, &[first]].concat();
        while self.skip("::") {
            if self.skip("{") {
                while self.at < self.text.len() && !self.skip("}") {
                    self.path_or_byte(&segments);
                    if self.skip("as ") {
                        self.skip("");
                        self.word(); // the new name is not part of any path
                    }
                }
                return;
            }
            self.skip("");
            match self.word() {
                Some(word) => segments.push(word),
                None => break, // `::<` or `::*`
            }
        }
        self.found.push(Named { at, segments });
    }
}

#[cfg(test)]
mod tests {
    use super::{item_end, paths, words};

    #[track_caller]
    fn named(text: &str, expected: &[&str]) {
        let found: Vec<String> = paths(text).iter().map(|path| path.segments.join("::")).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn paths_are_found_and_groups_taken_apart() {
        named("use a::b::C;", &["use", "a::b::C"]);
        named("use a::{b, c::{self, d as e}, *};", &["use", "a::b", "a::c::self", "a::c::d"]);
        named(
            "f(std::\n    fs::read(x), Vec::<u8>::new())",
            &["f", "std::fs::read", "x", "Vec", "u8", "new"],
        );
        named("pub(crate) fn", &["pub", "crate", "fn"]);
        named("use a::{b", &["use", "a::b"]);
    }

    #[test]
    fn a_word_is_not_part_of_a_longer_one() {
        assert_eq!(words("fun fn_ fn refn fn", "fn").collect::<Vec<_>>(), [8, 16]);
    }

    #[test]
    fn an_item_ends_with_its_block_or_its_semicolon() {
        for item in ["fn f(a: [u8; 2]) -> [u8; 2] { { } }", "fn f();", "use a::{b, c}"] {
            assert_eq!(item_end(&format!("{item} rest"), 0), item.len(), "{item}");
        }
    }
}
