//! Quoted strings with Go's escapes.

/// The value of `quoted`, which includes its quotes.
pub(super) fn unquote(quoted: &str) -> Result<String, String> {
    let bad = || format!("unquote string {quoted} error invalid syntax");
    let quote = quoted.chars().next().ok_or_else(bad)?;
    let inside = quoted.strip_prefix(quote).and_then(|text| text.strip_suffix(quote)).ok_or_else(bad)?;
    let mut text = String::new();
    let mut characters = inside.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        let escape = characters.next().ok_or_else(bad)?;
        let plain = match escape {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' => '\\',
            '"' | '\'' if escape == quote => escape,
            'x' => code(&mut characters, 2, 16, "").ok_or_else(bad)?,
            'u' => code(&mut characters, 4, 16, "").ok_or_else(bad)?,
            'U' => code(&mut characters, 8, 16, "").ok_or_else(bad)?,
            first @ '0'..='7' => code(&mut characters, 2, 8, &first.to_string()).ok_or_else(bad)?,
            _ => return Err(bad()),
        };
        text.push(plain);
    }
    Ok(text)
}

/// The character whose code is made of `read` and the next `digits` characters.
fn code(characters: &mut std::str::Chars<'_>, digits: usize, radix: u32, read: &str) -> Option<char> {
    let text: String = read.chars().chain(characters.take(digits)).collect();
    if text.len() != read.len() + digits || !text.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    char::from_u32(u32::from_str_radix(&text, radix).ok()?)
}
