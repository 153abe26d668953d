//! Finds the known word that is most similar to a misspelt one. Entry point: [`nearest`].

use super::findings::quoted;

/// Longer words are not compared: no known word is that long, and the time grows with both lengths.
const WORD_LEN_MAX: usize = 64;

/// The word of `known` that is most similar to `word`, if at most a third of `word` differs. Upper and lower case count as the
/// same; of two equally similar words the first is returned.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > WORD_LEN_MAX {
        return None;
    }
    let word = word.to_ascii_lowercase();
    let far = (word.chars().count() / 3).min(3);
    let close = known.map(|known| (distance(&word, &known.to_ascii_lowercase()), known));
    close
        .filter(|(distance, _)| *distance <= far)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// `; did you mean "…"?`, or an empty text.
pub(super) fn did_you_mean<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |known| format!("; did you mean \"{known}\"?"))
}

/// `"x" is not one of a, b; did you mean "a"?`
pub(super) fn not_one_of(word: &str, known: &[&str]) -> String {
    let hint = did_you_mean(word, known.iter().copied());
    format!("{} is not one of {}{hint}", quoted(word), known.join(", "))
}

/// How many characters to insert, remove, replace or swap with their neighbour to turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut a_before = None;
    for (row, in_a) in a.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, in_b) in b.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX - 1);
            let replaced = at(&last, column) + usize::from(in_a != *in_b);
            let mut best = replaced.min(at(&last, column + 1) + 1).min(at(&current, column) + 1);
            let b_before = column.checked_sub(1).and_then(|index| b.get(index));
            if b_before == Some(&in_a) && a_before == Some(*in_b) {
                best = best.min(at(&before_last, column - 1) + 1);
            }
            current.push(best);
        }
        before_last = std::mem::replace(&mut last, current);
        a_before = Some(in_a);
    }
    last.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn distances() {
        let table = [("", "", 0), ("a", "", 1), ("", "ab", 2), ("abc", "abc", 0), ("abc", "axc", 1)];
        let swaps = [("defalut", "default", 1), ("ca", "abc", 3), ("randscore", "randomscore", 2)];
        for (a, b, expected) in table.into_iter().chain(swaps) {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn only_what_is_close_is_suggested() {
        let known = ["NodeName", "NodePorts", "RandomScore", "a"];
        let near = |word: &str| nearest(word, known.into_iter());
        assert_eq!(near("nodename"), Some("NodeName"));
        assert_eq!(near("NodePort"), Some("NodePorts"));
        assert_eq!(near("randScore"), Some("RandomScore"));
        assert_eq!(near("filteringNode"), None);
        assert_eq!(near("b"), None, "of a single letter everything differs");
        assert_eq!(near(&"NodeName".repeat(100)), None);
        assert_eq!(near("NodeNorts"), Some("NodePorts"));
        assert_eq!(near("NodePxxxx"), None, "more than a third differs");
    }
}
