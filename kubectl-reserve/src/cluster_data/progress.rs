//! The progress message while the cluster is listed: "reading 216 nodes, 9,431 pods".

pub(super) fn line(nodes: usize, pods: usize) -> String {
    format!("reading {} nodes, {} pods", grouped(nodes), grouped(pods))
}

/// A number with commas between groups of three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(line(216, 9431), "reading 216 nodes, 9,431 pods");
        assert_eq!(line(1_000_000, 0), "reading 1,000,000 nodes, 0 pods");
    }
}
