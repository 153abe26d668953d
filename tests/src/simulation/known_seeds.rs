//! Seeds that once found a bug (docs/track-record.md). They are run every time.

/// A seed that once found a bug.
pub struct KnownSeed {
    /// The name of its tier.
    pub tier: &'static str,
    /// The number of the seed.
    pub seed: u64,
    /// The bug, in the words of docs/track-record.md.
    pub bug: &'static str,
}

/// All known seeds, the oldest first.
pub const KNOWN_SEEDS: [KnownSeed; 29] = [
    known(
        "steps",
        210,
        "two runs of the command recreate the same pod, and one takes back what the other counts on",
    ),
    known("steps", 657, "a wish that is repeated is confirmed by what was said to the first"),
    known("steps", 7808, "a place that is being written down does not count for the limit of its namespace"),
    known("steps", 7836, "the plain form holds more when a pod leaves whose place is kept"),
    known("steps", 7899, "a reservation ends while it is being extended, and is there again"),
    known("steps", 11_271, "a pod that is recreated twice in a row leaves two places for one room"),
    known("steps", 10_455, "a watch that repeats itself brings an earlier pod of the same name back"),
    known("whole", 175, "a replica lists nodes before it has its Lease"),
    known("steps", 17_733, "after a start nobody judges a reservation whose pod was the last that changed"),
    known("steps", 50_891, "what was said to another run is taken for the answer to a wish"),
    known("steps", 92_174, "an eviction without an answer is repeated without another look"),
    known("steps", 63_642, "what is written in the place of a reservation that is over does not count"),
    known("steps", 117_662, "the plain form gives way together with a seat"),
    known("steps", 152_868, "the heir of a seat is released before it"),
    known("steps", 186_145, "a Lease has run out by a clock that is fast"),
    known("steps", 74_681, "a reservation on its way is forgotten because it is no longer wished"),
    known("steps", 193_002, "the command names the node of a replacement that was preempted meanwhile"),
    known("steps", 15_708, "a place that is not written after all leaves room, and nobody is told"),
    known("steps", 109_665, "a sibling that was on its way to its node is taken for the replacement"),
    known("steps", 126_419, "the same"),
    known("steps", 231_223, "a new leader whose watch of pods is late gives away room that is taken"),
    known("steps", 63_613, "the command drops the fields that a newer version had written"),
    known("steps", 188_801, "a record that is too long is tried for ever in the place of one that is over"),
    known("steps", 46_477, "of one room there are two reservations, and the second is held beside its taker"),
    known(
        "whole",
        2891,
        "the Leases of one namespace look expired by the time of the answer about another one",
    ),
    known("whole", 7595, "a reservation ends while the eviction of its pod is under way"),
    known("whole", 361, "the first Lease of a replica whose clock is wrong counts for nobody"),
    known(
        "steps",
        32_319,
        "what was extended is taken for gone, because an older version of its node comes late",
    ),
    known(
        "steps",
        271_413,
        "a nomination stays although the room is taken, because the preemptor is not tried",
    ),
];

const fn known(tier: &'static str, seed: u64, bug: &'static str) -> KnownSeed {
    KnownSeed { tier, seed, bug }
}
