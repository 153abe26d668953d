//! Wraps text at spaces, so that it fits a terminal. [`wrap`] is for sentences, [`fold`] for text that already has lines.

/// The width that text for people is wrapped at if no terminal says otherwise.
pub(crate) const WIDTH: usize = 80;

/// Labels at the start of a line end before this column; the text beside a label is wrapped under itself.
const LABEL_MAX: usize = 30;

/// `text` after `lead`, wrapped so that no line is wider than `width` where spaces allow it. All lines but the first begin with
/// `indent` spaces. Ends with a newline.
pub(crate) fn wrap(lead: &str, text: &str, indent: usize, width: usize) -> String {
    let mut lines = Vec::new();
    let mut line = lead.to_owned();
    let mut is_empty = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let space = usize::from(!is_empty);
        if !is_empty && columns(&line) + space + columns(word) > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// `text` as one line of at most `width` columns; `...` stands for what does not fit.
pub(crate) fn clipped(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return format!("{text}\n");
    }
    let kept: String = text.chars().take(width.saturating_sub(3)).collect();
    format!("{}...\n", kept.trim_end())
}

/// Wraps only the lines that are wider than `width`. A command at the end of a line gets a line of its own; other text continues
/// under its beginning. Commands, and lines with a word that is too long anyway, stay as they are, so that they can be copied.
pub(crate) fn fold(text: &str, width: usize) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| fold_line(line, width)).collect();
    lines.join("\n")
}

fn fold_line(line: &str, width: usize) -> String {
    let is_too_long = |word: &str| columns(word) > width;
    let is_command = line.trim_start().starts_with("kubectl ");
    if columns(line) <= width || is_command || line.split(' ').any(is_too_long) {
        return line.to_owned();
    }
    let indent = hanging(line);
    let begins = [": kubectl ", "; kubectl "].iter().filter_map(|lead| line.find(lead)).min();
    if let Some((before, command)) = begins.and_then(|at| line.split_at_checked(at + 1)).filter(is_long) {
        return format!("{}\n{}{}", fold_line(before, width), " ".repeat(indent), command.trim_start());
    }
    let (mut lines, mut rest) = (Vec::new(), line.to_owned());
    while let Some(at) = breaking(&rest, indent, width) {
        let (head, tail) = rest.split_at(at);
        lines.push(head.trim_end().to_owned());
        rest = format!("{}{}", " ".repeat(indent), tail.trim_start());
    }
    lines.push(rest);
    lines.join("\n")
}

/// Whether there is more text before the command than a word such as `hint:`.
fn is_long((before, _): &(&str, &str)) -> bool {
    before.contains(' ')
}

/// The index where a line that is too wide is broken: the last space that still fits, or else the first space.
fn breaking(line: &str, indent: usize, width: usize) -> Option<usize> {
    if columns(line) <= width {
        return None;
    }
    let spaces =
        || line.char_indices().enumerate().filter(|(column, (_, one))| *one == ' ' && *column > indent);
    let last = spaces().take_while(|(column, _)| *column <= width).last();
    last.or_else(|| spaces().next()).map(|(_, (at, _))| at)
}

/// The indentation of continuation lines: under the text beside a label, or two columns more than the line.
fn hanging(line: &str) -> usize {
    let letters: Vec<char> = line.chars().collect();
    let lead = letters.iter().take_while(|one| **one == ' ').count();
    let begins = |column: &usize| {
        let before = column.checked_sub(2).and_then(|from| letters.get(from..*column));
        before == Some(&[' ', ' ']) && letters.get(*column).is_some_and(|one| *one != ' ')
    };
    (lead + 1..=LABEL_MAX).rfind(begins).unwrap_or(lead + 2)
}

/// The width of a text in columns. One for each character is enough for the characters that Kubernetes allows in names.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::{clipped, fold, wrap};

    #[test]
    fn text_is_broken_at_spaces_and_never_inside_a_word() {
        assert_eq!(wrap("A  ", "one two three", 3, 11), "A  one two\n   three\n");
        assert_eq!(wrap("A  ", "averylongword b", 3, 8), "A  averylongword\n   b\n");
        assert_eq!(wrap("A", "", 3, 8), "A\n");
    }

    #[test]
    fn what_does_not_fit_is_cut_off() {
        assert_eq!(clipped("one two", 7), "one two\n");
        assert_eq!(clipped("one two three", 8), "one t...\n");
    }

    #[test]
    fn only_lines_that_are_too_wide_are_broken() {
        assert_eq!(fold("short\none two three four", 9), "short\none two\n  three\n  four");
        assert_eq!(fold("Label:  one two three", 14), "Label:  one\n        two\n        three");
        assert_eq!(fold("  a  one  two three", 16), "  a  one  two\n          three");
        assert_eq!(fold("hint: kubectl get pods lists them", 20), "hint: kubectl get\n  pods lists them");
    }

    #[test]
    fn what_is_to_be_copied_stays_whole() {
        let told = "Warning: the owner was not found; free it with: kubectl reserve release n/x";
        let expected = "Warning: the owner was not found;\n  free it with:\n  kubectl reserve release n/x";
        assert_eq!(fold(told, 34), expected);
        let command = "    kubectl reserve release node-1/7f3a0c  # somebody may lose a place";
        assert_eq!(fold(command, 40), command);
        let long = format!("  key: {}", "x".repeat(50));
        assert_eq!(fold(&long, 40), long);
    }
}
