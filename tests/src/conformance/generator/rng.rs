//! A random number generator that always gives the same numbers for a seed: splitmix64.

/// A stream of random numbers.
pub(super) struct Rng(u64);

impl Rng {
    /// The stream number `stream` of `seed`.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut rng = Self(seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // After one step, seeds that differ in one bit give unrelated numbers.
        Self(rng.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to below `end`. The bias of the modulo is negligible here.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// A number from `first` to `last`.
    pub(super) fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    /// true with a chance of `percent` in a hundred.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`, which are not empty.
    pub(super) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let index = self.index(choices.len());
        &choices[index]
    }

    /// A random index of a list of length `len`.
    pub(super) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or(0)
    }

    /// A UID.
    pub(super) fn uid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        let bytes = format!("{a:016x}{b:016x}");
        let part = |from: usize, to: usize| bytes.get(from..to).unwrap_or_default();
        format!("{}-{}-4{}-a{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
    }
}
