//! A position in a template's text.

/// The text that was not read yet.
pub(super) struct Cursor<'t> {
    rest: &'t str,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: text }
    }

    /// The next character, which stays.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Consumes the next character.
    pub(super) fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.skip(character.len_utf8());
        Some(character)
    }

    /// Consumes `prefix` if it comes next, and returns whether it did.
    pub(super) fn take(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Consumes everything before the first character for which `is_end` holds, or the whole rest.
    pub(super) fn until(&mut self, is_end: impl Fn(char) -> bool) -> &'t str {
        let at = self.rest.find(is_end).unwrap_or(self.rest.len());
        self.skip(at)
    }

    /// Consumes a quoted string, quotes included. A quote after a backslash does not end it.
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

    /// Consumes `bytes` bytes, which must end at a character boundary.
    pub(super) fn skip(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// The text that was not read yet.
    pub(super) fn rest(&self) -> &'t str {
        self.rest
    }
}
