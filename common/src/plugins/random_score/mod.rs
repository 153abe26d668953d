//! RandomScore: pseudo-random scores, always the same for one pod and one node.
//!
//! ```yaml
//! plugins:
//!   score: {enabled: [{name: RandomScore, weight: 300}]}   # more than all others together: chance alone decides
//! pluginConfig:
//! - name: RandomScore
//!   args: {seed: 7}      # another number, other scores; 0 if left out
//! ```
//!
//! The score is a number from 0 to 100, computed from the seed, the pod's UID and the node's name, so that a decision can be
//! repeated and explained. It is computed anew for every node and every pod.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{Ledger, NodeId, PerNode, PodContext, Snapshot};
use crate::config::RandomScoreArgs;
use crate::framework::{NodeScore, Normalise, Plugin, PluginError, SCORE_MAX, Score, Scorer};
use crate::model::ExtensionPoint;
use std::sync::Arc;

pub struct RandomScore {
    seed: i64,
}

pub(super) fn descriptor() -> Descriptor {
    Descriptor::with_args("RandomScore", &[ExtensionPoint::Score], |args: RandomScoreArgs| {
        let plugin = Arc::new(RandomScore { seed: args.seed });
        Implementations { score: Some(plugin), ..Implementations::default() }
    })
}

impl Plugin for RandomScore {
    fn name(&self) -> &'static str {
        "RandomScore"
    }
}

impl Score for RandomScore {
    fn prepare<'c>(
        &'c self,
        context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, PluginError> {
        let pod = mix(self.seed.cast_unsigned() ^ hash(&context.pod.uid.to_string()));
        let names = world.column(&NameHash);
        let score = move |id| score(pod, names.get(id).copied().unwrap_or_default());
        Ok(Some(Scorer { score: NodeScore::Each(Box::new(score)), normalise: Normalise::NotNeeded }))
    }
}

/// The column of the hashes of the nodes' names.
#[derive(Clone, PartialEq, Eq, Hash)]
struct NameHash;

impl PerNode for NameHash {
    type Value = u64;

    fn read(&self, ledger: &Ledger) -> u64 {
        hash(ledger.node.name.as_str())
    }
}

fn score(pod: u64, node: u64) -> i64 {
    i64::try_from(mix(pod ^ node) % SCORE_MAX.unsigned_abs().saturating_add(1)).unwrap_or(0)
}

/// FNV-1a: the same on every machine and in every version, which the hasher of the standard library does not guarantee.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Mixes the bits, so that every input bit affects all output bits (the last steps of SplitMix64).
fn mix(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
