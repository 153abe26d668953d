//! Generates quantities, each in one of the spellings that the API server accepts.

use super::rng::Rng;

/// A quantity in milli-units: `250m`, `0.25`, `250000u`.
pub(super) fn milli(rng: &mut Rng, odd: u64, milli: u64) -> String {
    if !rng.chance(odd) {
        return if milli.is_multiple_of(1000) { (milli / 1000).to_string() } else { format!("{milli}m") };
    }
    match rng.below(6) {
        0 => format!("{}.{:03}", milli / 1000, milli % 1000),
        1 => format!("{milli}000u"),
        2 => format!("{milli}000000n"),
        3 => format!("{milli}e-3"),
        // A fraction of a milli-unit is rounded up.
        4 => format!("{milli}.1m"),
        _ => format!("+{milli}m"),
    }
}

/// A quantity in bytes: `128Mi`, `134217728`, `134.2M`.
pub(super) fn bytes(rng: &mut Rng, odd: u64, bytes: u64) -> String {
    if !rng.chance(odd) {
        return [(1_u64 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki"), (1, "")]
            .iter()
            .find(|(unit, _)| bytes.is_multiple_of(*unit))
            .map_or_else(|| bytes.to_string(), |(unit, suffix)| format!("{}{suffix}", bytes / unit));
    }
    match rng.below(8) {
        0 => bytes.to_string(),
        // A fraction of a byte is rounded up.
        7 => format!("{bytes}.5"),
        1 => format!("{bytes}000m"),
        2 => format!("{}M", bytes / 1_000_000),
        3 => format!("{}e3", bytes / 1000),
        4 => format!("{}.5Ki", bytes >> 10),
        5 => format!("{}.25Mi", bytes >> 20),
        _ => format!("{}.001G", bytes / 1_000_000_000),
    }
}

/// A whole number: `3`, sometimes `3e0` or `3000m`.
pub(super) fn whole(rng: &mut Rng, odd: u64, number: u64) -> String {
    match rng.below(4) {
        0 if rng.chance(odd) => format!("{number}e0"),
        1 if rng.chance(odd) => format!("{number}000m"),
        _ => number.to_string(),
    }
}
