//! An error and its causes as one line of text, without repetition.

use std::error::Error;

/// `error` and its sources, outermost first. A source whose text is already part of the line is left out: many libraries repeat it
/// in the error above.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::chain;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Layer(&'static str, #[source] Option<Box<Layer>>);

    #[test]
    fn causes_follow_and_are_said_once() {
        let refused = Layer("connection refused", None);
        let connect = Layer("connect: connection refused", Some(Box::new(refused)));
        let list = Layer("list nodes", Some(Box::new(connect)));
        assert_eq!(chain(&list), "list nodes: connect: connection refused");
        assert_eq!(chain(&Layer("alone", None)), "alone");
    }
}
