//! Base64 for certificates in a configuration: the standard alphabet, padded; line breaks are ignored.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let symbols: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
    let mut bytes = Vec::with_capacity(symbols.len() / 4 * 3);
    let groups = symbols.chunks(4);
    let last = groups.len().checked_sub(1);
    for (index, group) in groups.enumerate() {
        let padding = group.iter().rev().take_while(|symbol| **symbol == b'=').count();
        if group.len() != 4 || padding > 2 || (padding > 0 && Some(index) != last) {
            return None;
        }
        let digits = group.iter().take(4 - padding);
        let mut bits = digits.map(|symbol| ALPHABET.iter().position(|known| known == symbol));
        let bits = bits.try_fold(0u32, |bits, digit| Some(bits << 6 | u32::try_from(digit?).ok()?))?;
        let three = (bits << (6 * padding)).to_be_bytes();
        bytes.extend(three.iter().skip(1).take(3 - padding));
    }
    Some(bytes)
}

#[cfg(test)]
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let index = usize::try_from(bits >> (18 - 6 * digit) & 63).expect("six bits");
            text.push(if digit > group.len() { '=' } else { char::from(ALPHABET[index]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn every_length_of_the_last_group() {
        let table = [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9v\nYg==\r\n", "foob")];
        for (text, expected) in table {
            assert_eq!(decode(text).as_deref(), Some(expected.as_bytes()), "{text}");
        }
        for bad in ["Z", "Zg", "Zg=", "Zg==Zg==", "====", "Z===", "Zm9v!", "Zm 9v", "=Zm9", "Zm8=Zm9v"] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }

    #[test]
    fn there_and_back() {
        for length in 0..40u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(37)).collect();
            assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
    }
}
