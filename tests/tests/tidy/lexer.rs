//! Where a Rust file has comments and literals, so that a word in a sentence is not taken for code.

use std::ops::Range;

use crate::syntax::{is_word_byte, test_items};

/// A source text with its comments and the insides of its literals blanked out. Every byte keeps its place, so
/// positions and line numbers are those of the original.
pub(crate) struct Code<'a> {
    source: &'a str,
    /// The text, blanked.
    pub(crate) text: String,
    /// Where the content of each string literal stands.
    literals: Vec<Range<usize>>,
    /// Items that are compiled for tests only.
    tests: Vec<Range<usize>>,
}

impl<'a> Code<'a> {
    pub(crate) fn new(source: &'a str) -> Code<'a> {
        let mut blanker =
            Blanker { source: source.as_bytes(), text: source.into(), at: 0, literals: Vec::new() };
        blanker.run();
        let text = String::from_utf8_lossy(&blanker.text).into_owned();
        let tests = test_items(&text);
        Code { source, text, literals: blanker.literals, tests }
    }

    pub(crate) fn is_test(&self, at: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&at))
    }

    /// Position and content of each string literal, escapes as written.
    pub(crate) fn literals(&self) -> impl Iterator<Item = (usize, &'a str)> {
        self.literals.iter().filter_map(|range| Some((range.start, self.source.get(range.clone())?)))
    }
}

struct Blanker<'a> {
    source: &'a [u8],
    text: Vec<u8>,
    at: usize,
    literals: Vec<Range<usize>>,
}

impl Blanker<'_> {
    fn run(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'/' if self.peek(1) == Some(b'/') => self.line_comment(),
                b'/' if self.peek(1) == Some(b'*') => self.block_comment(),
                b'"' => self.string(),
                b'\'' => self.character(),
                _ if is_word_byte(byte) => self.word(),
                _ => self.at += 1,
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.source.get(self.at + ahead).copied()
    }

    fn blank(&mut self, range: Range<usize>) {
        for byte in self.text.get_mut(range).into_iter().flatten() {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }

    fn line_comment(&mut self) {
        let start = self.at;
        while self.peek(0).is_some_and(|byte| byte != b'\n') {
            self.at += 1;
        }
        self.blank(start..self.at);
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let mut depth = 0_usize;
        while self.at < self.source.len() {
            match (self.peek(0), self.peek(1)) {
                (Some(b'/'), Some(b'*')) => depth += 1,
                (Some(b'*'), Some(b'/')) => depth -= 1,
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            self.at += 2;
            if depth == 0 {
                break;
            }
        }
        self.blank(start..self.at);
    }

    fn literal(&mut self, content: Range<usize>) {
        self.blank(content.clone());
        self.literals.push(content);
    }

    fn string(&mut self) {
        self.at += 1;
        let start = self.at;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => self.at += 2,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        self.literal(start..self.at.min(self.source.len()));
        self.at += 1;
    }

    /// A quote begins a character, or a lifetime: `'a'` and `'\n'` have an end, `'a` has none.
    fn character(&mut self) {
        let start = self.at + 1;
        let rest = self.source.get(start..).unwrap_or_default();
        let length = if rest.first() == Some(&b'\\') {
            rest.iter().skip(2).position(|byte| *byte == b'\'').map(|after| after + 2)
        } else {
            // One character, of up to four bytes.
            let first = rest.first().map_or(1, |byte| byte.leading_ones().max(1) as usize);
            (rest.get(first) == Some(&b'\'')).then_some(first)
        };
        self.at = match length {
            Some(length) => {
                self.blank(start..start + length);
                start + length + 1
            }
            None => start,
        };
    }

    /// A word may be the prefix of a raw string: `r"…"`, `br#"…"#`. Other prefixes do not change how a string ends.
    fn word(&mut self) {
        let start = self.at;
        while self.peek(0).is_some_and(is_word_byte) {
            self.at += 1;
        }
        if !matches!(self.source.get(start..self.at), Some(b"r" | b"br" | b"cr")) {
            return;
        }
        let hashes =
            self.source.get(self.at..).unwrap_or_default().iter().take_while(|byte| **byte == b'#').count();
        if self.peek(hashes) != Some(b'"') {
            return;
        }
        let content = self.at + hashes + 1;
        let end: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
        let rest = self.source.get(content..).unwrap_or_default();
        let length = rest.windows(end.len()).position(|window| window == end).unwrap_or(rest.len());
        self.literal(content..content + length);
        self.at = content + length + end.len();
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[track_caller]
    fn blanked(source: &str, expected: &str) {
        assert_eq!(Code::new(source).text, expected);
    }

    #[test]
    fn comments_and_the_insides_of_literals_are_blanked() {
        blanked("a // b\nc", "a     \nc");
        blanked("a /* b /* c */ d */ e", "a                   e");
        blanked(r#"f("a\"b", x)"#, r#"f("    ", x)"#);
        blanked(r###"f(r#"a"b"#, br"c\")"###, r###"f(r#"   "#, br"  ")"###);
        blanked(r"g('\'', 'é', b'\n', 'x')", r"g('  ', '  ', b'  ', ' ')");
        blanked("fn f<'a>(x: &'a str, r#type: u8) {} // '", "fn f<'a>(x: &'a str, r#type: u8) {}     ");
        blanked("\"// not a comment\" /* \"not a literal */", "\"                \"                     ");
    }

    #[test]
    fn what_never_ends_runs_to_the_end() {
        blanked("a \"b", "a \" ");
        blanked("a r#\"b", "a r#\" ");
        blanked("a /* b", "a     ");
        blanked("a \"b\\", "a \"  ");
        blanked("a '", "a '");
    }

    #[test]
    fn literals_are_listed_with_their_place() {
        let code = Code::new("x(\"a\");\ny(b\"c\", r\"d\")");
        assert_eq!(code.literals().collect::<Vec<_>>(), [(3, "a"), (12, "c"), (18, "d")]);
    }

    #[test]
    fn items_for_tests_are_known() {
        let source = "fn a() {}\n#[cfg(test)]\n#[path = \"x\"]\nmod b { fn c() { d } }\nfn e() {}\n#[cfg(not(test))] fn f() {}";
        let code = Code::new(source);
        let is_test = |word: &str| code.is_test(source.find(word).unwrap());
        assert!(is_test("mod b") && is_test("d }"));
        assert!(!is_test("fn a") && !is_test("fn e") && !is_test("fn f"));
        assert!(Code::new("#![cfg(test)]\nfn a() {}").is_test(17));
    }
}
