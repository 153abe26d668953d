//! Host ports of pods in simulations: a few, many, or about as many as fit into a record.

/// Numbers from `MANY` on stand for many host ports, numbers from `FULL` on for a record that just fits or is just too long.
const MANY: u16 = 25;
const FULL: u16 = 40;
/// The bytes of the ports in a record that is nearly too long.
const BYTES: u16 = 3_560;
/// The bytes of a port in a record, and the additional bytes of a port with an address, without the address itself.
const PORT: u16 = 32;
const ADDRESS: u16 = 8;

/// The ports with their addresses that a random number below 60 stands for.
pub(super) fn ports(drawn: u16) -> Vec<(u16, String)> {
    let (count, rest) = match drawn {
        0..MANY => (drawn, 0),
        MANY..FULL => (60 + (drawn - MANY) * 16 / 3, 0),
        _ => {
            let bytes = BYTES + (drawn - FULL) * 7;
            (bytes / PORT, bytes % PORT)
        }
    };
    // The address of the last port has the length of the remaining bytes. Where the length does not matter, some others have one.
    let address = |index: u16| match index + 1 == count {
        true => address(rest.saturating_sub(ADDRESS)),
        false if drawn < FULL && drawn.is_multiple_of(2) && index.is_multiple_of(3) => address(8),
        false => String::new(),
    };
    (0..count).map(|index| (20_000 + index, address(index))).collect()
}

/// An address of `length` characters, or one fewer.
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
