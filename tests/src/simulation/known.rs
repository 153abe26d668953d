//! Seeds that once found a bug, and are run every time: what was wrong, and where it is told in docs/track-record.md.

/// One of them.
pub struct Known {
    /// The tier that it belongs to.
    pub tier: &'static str,
    /// The seed.
    pub seed: u64,
    /// The bug, in the words of docs/track-record.md.
    pub bug: &'static str,
}

/// All of them, the oldest first.
pub const KNOWN: [Known; 1] = [Known {
    tier: "steps",
    seed: 210,
    bug: "two runs of the command recreate the same pod, and one takes back what the other counts on",
}];
