//! Text broken at spaces, so that it fits a terminal.

/// `text` after `lead`, broken so that no line is wider than `width` where spaces allow it; all lines but the first begin with
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

/// How many columns a text takes; good enough for what Kubernetes lets into names.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn text_is_broken_at_spaces_and_never_inside_a_word() {
        assert_eq!(wrap("A  ", "one two three", 3, 11), "A  one two\n   three\n");
        assert_eq!(wrap("A  ", "averylongword b", 3, 8), "A  averylongword\n   b\n");
        assert_eq!(wrap("A", "", 3, 8), "A\n");
    }
}
