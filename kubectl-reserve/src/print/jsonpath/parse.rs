//! Parses the text of a template. Entry point: [`template`].

use super::cursor::Cursor;
use super::filter;
use super::quote::unquote;
use super::{End, PathStep, Piece, Slice, Template};
use serde_json::Value;

/// How deep ranges and filters may be nested, since each level is a recursive call.
const DEPTH_MAX: usize = 32;

/// The content of a pair of braces.
enum Action {
    Path(Vec<PathStep>),
    Range(Vec<PathStep>),
    End,
}

pub(super) fn template(text: &str) -> Result<Template, String> {
    let mut cursor = Cursor::new(text);
    let (pieces, is_ended) = pieces(&mut cursor, DEPTH_MAX)?;
    if is_ended {
        return Err("not in range, nothing to end".to_owned());
    }
    Ok(Template { pieces })
}

/// The pieces up to the end of the text or of the range, and whether `{end}` ended them.
fn pieces(cursor: &mut Cursor<'_>, depth: usize) -> Result<(Vec<Piece>, bool), String> {
    let mut pieces = Vec::new();
    loop {
        let text = cursor.until(|character| character == '{');
        if !text.is_empty() {
            pieces.push(Piece::Text(text.to_owned()));
        }
        if !cursor.take("{") {
            return Ok((pieces, false));
        }
        match action(cursor, depth)? {
            Action::Path(steps) => pieces.push(Piece::Path(steps)),
            Action::End => return Ok((pieces, true)),
            Action::Range(steps) => {
                let depth = depth.checked_sub(1).ok_or("ranges are nested too deeply")?;
                let (inside, is_ended) = self::pieces(cursor, depth)?;
                if !is_ended {
                    return Err("unclosed range, expected {end}".to_owned());
                }
                pieces.push(Piece::Range(steps, inside));
            }
        }
    }
}

/// Parses one action, after its opening brace.
fn action(cursor: &mut Cursor<'_>, depth: usize) -> Result<Action, String> {
    let mut steps = Vec::new();
    let mut is_range = false;
    loop {
        match cursor.peek() {
            None | Some('\r' | '\n') => return Err("unclosed action".to_owned()),
            Some('}') => {
                cursor.next();
                return Ok(if is_range { Action::Range(steps) } else { Action::Path(steps) });
            }
            Some('_' | 'a'..='z' | 'A'..='Z') => match word(cursor) {
                "range" => is_range = true,
                "end" => {
                    cursor.until(|character| character == '}');
                    return if cursor.take("}") {
                        Ok(Action::End)
                    } else {
                        Err("unclosed action".to_owned())
                    };
                }
                "true" => steps.push(PathStep::Literal(true.into())),
                "false" => steps.push(PathStep::Literal(false.into())),
                word => return Err(format!("unrecognized identifier {word}")),
            },
            Some(_) => step(cursor, &mut steps, depth)?,
        }
    }
}

/// Parses a path that is part of a filter or union.
pub(super) fn path(text: &str, depth: usize) -> Result<Vec<PathStep>, String> {
    let braced = format!("{text}}}");
    match action(&mut Cursor::new(&braced), depth)? {
        Action::Path(steps) => Ok(steps),
        Action::Range(_) | Action::End => Err(format!("{text:?} is not a path")),
    }
}

fn word<'t>(cursor: &mut Cursor<'t>) -> &'t str {
    cursor.until(is_end)
}

/// Parses the next part of an action that is no word.
fn step(cursor: &mut Cursor<'_>, steps: &mut Vec<PathStep>, depth: usize) -> Result<(), String> {
    if cursor.take("[?(") {
        let depth = depth.checked_sub(1).ok_or("filters are nested too deeply")?;
        steps.push(PathStep::Filter(filter::read(cursor, depth)?));
        return Ok(());
    }
    if cursor.take("..") {
        return descend(cursor, steps);
    }
    match cursor.peek() {
        // `@` and `$` need no step: a path always starts at the current value.
        Some(' ' | '@' | '$') => drop(cursor.next()),
        Some('[') => brackets(cursor, steps, depth)?,
        Some(quote @ ('"' | '\'')) => {
            steps.push(PathStep::Literal(unquote(cursor.quoted(quote)?)?.into()));
        }
        Some('.') => {
            cursor.next();
            steps.push(field(cursor));
        }
        Some('+' | '-' | '0'..='9') => steps.push(PathStep::Literal(number(cursor)?)),
        Some(other) => return Err(format!("unrecognized character in action: {other:?}")),
        None => return Err("unclosed action".to_owned()),
    }
    Ok(())
}

fn descend(cursor: &mut Cursor<'_>, steps: &mut Vec<PathStep>) -> Result<(), String> {
    if steps.last() == Some(&PathStep::Descend) {
        return Err("invalid multiple recursive descent".to_owned());
    }
    steps.push(PathStep::Descend);
    if cursor.peek().is_some_and(|next| next == '_' || next.is_alphanumeric()) {
        steps.push(field(cursor));
    }
    Ok(())
}

/// Parses a name, up to a character that cannot be part of one. A backslash makes the next character part of the name.
fn field(cursor: &mut Cursor<'_>) -> PathStep {
    let mut name = String::new();
    while let Some(character) = cursor.peek() {
        if character != '\\' && is_end(character) {
            break;
        }
        cursor.next();
        if character == '\\' {
            name.extend(cursor.next());
        } else {
            name.push(character);
        }
    }
    if name == "*" { PathStep::All } else { PathStep::Field(name) }
}

fn is_end(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

fn number(cursor: &mut Cursor<'_>) -> Result<Value, String> {
    let text = cursor.until(|character| !matches!(character, '+' | '-' | '.' | '0'..='9'));
    if let Ok(whole) = text.parse::<i64>() {
        return Ok(whole.into());
    }
    text.parse::<f64>().map(Value::from).map_err(|_| format!("cannot parse number {text}"))
}

/// Parses brackets: an index, a slice, a quoted name, or a union of them.
fn brackets(cursor: &mut Cursor<'_>, steps: &mut Vec<PathStep>, depth: usize) -> Result<(), String> {
    cursor.take("[");
    let text = cursor.until(|character| matches!(character, ']' | '\n'));
    if !cursor.take("]") {
        return Err("unterminated array".to_owned());
    }
    if text.contains(',') {
        let depth = depth.checked_sub(1).ok_or("unions are nested too deeply")?;
        let part = |part: &str| path(&format!("[{}]", part.trim_matches(' ')), depth);
        steps.push(PathStep::Union(text.split(',').map(part).collect::<Result<_, _>>()?));
        return Ok(());
    }
    let quoted = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    match quoted.filter(|name| !name.contains('\'')) {
        // As in kubectl, a quoted name is parsed as if it followed a dot, so dots in it need a backslash.
        Some(name) => steps.extend(path(&format!(".{name}"), depth)?),
        None => steps.push(PathStep::Slice(slice(if text == "*" { ":" } else { text })?)),
    }
    Ok(())
}

fn slice(text: &str) -> Result<Slice, String> {
    let bad = || format!("invalid array index {text}");
    let mut parts = text.split(':');
    let mut part = || match parts.next() {
        None => Ok(None),
        Some("") => Ok(Some(None)),
        Some(number) => number.parse::<i64>().map(|number| Some(Some(number))).map_err(|_| bad()),
    };
    let (from, to, by) = (part()?, part()?, part()?);
    if parts.next().is_some() || text.contains('+') {
        return Err(bad());
    }
    let to = match to {
        None => End::First,
        Some(None) => End::Last,
        Some(Some(index)) => End::Before(index),
    };
    Ok(Slice { from: from.flatten(), to, by: by.flatten() })
}
