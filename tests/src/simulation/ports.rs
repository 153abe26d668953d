//! Host ports of pods in simulations: a few, many, or just about as many as a record can hold.

/// A number from here on means many host ports, and one from `FULL` on a record that just fits, or just does not.
const MANY: u16 = 25;
const FULL: u16 = 40;
/// How many bytes the ports take in a record that is about to be too long.
const BYTES: u16 = 3_560;
/// What a port takes in a record, and what it takes more with an address, the address aside.
const PORT: u16 = 32;
const ADDRESS: u16 = 8;

/// The ports and their addresses that a number below 60 stands for.
pub(super) fn ports(drawn: u16) -> Vec<(u16, String)> {
    let (count, rest) = match drawn {
        0..MANY => (drawn, 0),
        MANY..FULL => (60 + (drawn - MANY) * 16 / 3, 0),
        _ => {
            let bytes = BYTES + (drawn - FULL) * 7;
            (bytes / PORT, bytes % PORT)
        }
    };
    // The last one has an address which fills up what is left; of the others some have one where it does not matter.
    let address = |index: u16| match index + 1 == count {
        true => address(rest.saturating_sub(ADDRESS)),
        false if drawn < FULL && drawn.is_multiple_of(2) && index.is_multiple_of(3) => address(8),
        false => String::new(),
    };
    (0..count).map(|index| (20_000 + index, address(index))).collect()
}

/// An address of so many letters, or one fewer.
fn address(length: u16) -> String {
    let mut text = if length < 3 { String::new() } else { "::".to_owned() };
    let mut digits = 0;
    while length >= 3 && text.len() < usize::from(length) {
        let is_last = text.len() + 1 == usize::from(length);
        match digits {
            4 if is_last => break,
            4 => (digits, text) = (0, text + ":"),
            _ => (digits, text) = (digits + 1, text + "1"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{address, ports};
    use std::net::Ipv6Addr;

    #[test]
    fn some_are_about_as_many_as_fit() {
        let counts: Vec<usize> = [5, 24, 25, 39, 40, 59].map(|drawn| ports(drawn).len()).into();
        assert_eq!(counts, [5, 24, 60, 134, 111, 115]);
        for length in 3..24 {
            let text = address(length);
            assert!(text.parse::<Ipv6Addr>().is_ok(), "{text}");
            assert!((usize::from(length) - text.len()) < 2, "{text}");
        }
    }
}
