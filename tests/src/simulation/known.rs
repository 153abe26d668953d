//! Seeds that once found a bug, and are run every time: what was wrong, and where it is told in docs/track-record.md. And
//! seeds that find something that is not understood yet.

/// One of them.
pub struct Known {
    /// The tier that it belongs to.
    pub tier: &'static str,
    /// The seed.
    pub seed: u64,
    /// The bug, in the words of docs/track-record.md.
    pub bug: &'static str,
}

/// Seeds among those of the test command that fail, of which it is not known yet whether the product is wrong or the
/// simulator. They are told with each run; one that no longer fails has to go from here.
pub const OPEN: [Known; 9] = [
    open(
        "steps",
        657,
        "I2: a wish that is repeated after a refusal is confirmed by what was said to the first",
    ),
    open("steps", 7808, "I1: a pod is bound where the binder itself keeps room for another owner"),
    open("steps", 7836, "I1"),
    open("steps", 7899, "I1"),
    open("steps", 11_271, "the promise: a pod of an owner is left without a place"),
    open("steps", 12_404, "I1"),
    open("steps", 12_751, "I2"),
    open("steps", 17_733, "I7: what nobody needs is kept"),
    open(
        "whole",
        175,
        "I4: a pod is evicted before a replica has seen the reservation that has just come up",
    ),
];

const fn open(tier: &'static str, seed: u64, bug: &'static str) -> Known {
    Known { tier, seed, bug }
}

/// All of them, the oldest first.
pub const KNOWN: [Known; 1] = [Known {
    tier: "steps",
    seed: 210,
    bug: "two runs of the command recreate the same pod, and one takes back what the other counts on",
}];
