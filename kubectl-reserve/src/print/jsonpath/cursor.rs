//! A place in a template's text.

/// Where the reader is.
pub(super) struct Cursor<'t> {
    rest: &'t str,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: text }
    }

    /// The character that comes next.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Takes the next character.
    pub(super) fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.skip(character.len_utf8());
        Some(character)
    }

    /// Takes `prefix` if it comes next.
    pub(super) fn take(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes everything up to the first character for which `is_end` holds; all the rest if there is none.
    pub(super) fn until(&mut self, is_end: impl Fn(char) -> bool) -> &'t str {
        let at = self.rest.find(is_end).unwrap_or(self.rest.len());
        self.skip(at)
    }

    /// Takes a string in quotes, quotes included. A backslash before the quote keeps it open.
    pub(super) fn quoted(&mut self, quote: char) -> Result<&'t str, String> {
        let mut before = None;
        for (at, character) in self.rest.char_indices() {
            match character {
                '\n' => break,
                _ if character == quote && at > 0 && before != Some('\\') => return Ok(self.skip(at + 1)),
                _ => before = Some(character),
            }
        }
        Err("unterminated quoted string".to_owned())
    }

    /// Takes `bytes`, which must end where a character does.
    pub(super) fn skip(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// What has not been read yet.
    pub(super) fn rest(&self) -> &'t str {
        self.rest
    }
}
