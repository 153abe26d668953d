//! An error with its causes on one line, none of them said twice.

use std::error::Error;

/// `error` and what caused it, outermost first. Many libraries repeat a cause in the error above it; that one is left
/// out.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
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
