//! Words for the particulars of a rejection that the scheduler's message lacks: which taint, label, port, volume or pod. The plugin
//! that rejects finds the particulars. Entry point: [`of`].

use super::words;
use common::cluster::{Ledger, PodContext, Snapshot};
use common::framework::{
    Evidence, Reason, RefusalCode, Registry, Rejection, SpreadStatus, UnmetPodAffinity, UnmetRequirement,
};
use common::model::{HostPort, PodKey, Requirement, Text};

/// Whether the particulars depend on the node and the pod alone, so that they are cheap enough to find for every node.
pub(super) fn is_cheap(rejection: &Rejection) -> bool {
    use RefusalCode as Code;
    !matches!(
        rejection.reason.code(),
        Code::Affinity
            | Code::AntiAffinity
            | Code::ExistingAntiAffinity
            | Code::Spread
            | Code::SpreadLabel
            | Code::ClaimInUse
            | Code::DiskInUse
    )
}

/// The particulars of a rejection, if there are any.
pub(super) fn of(
    rejection: &Rejection,
    ledger: &Ledger,
    context: &PodContext<'_>,
    snapshot: &Snapshot<'_>,
    registry: &Registry,
) -> Option<String> {
    if let Reason::Unreadable(problem) = &rejection.reason {
        return Some(problem.to_string());
    }
    let filter = registry.filters.iter().find(|filter| filter.name() == rejection.plugin)?;
    match filter.evidence(Some(&rejection.reason), context, ledger, snapshot)? {
        Evidence::Spread(all) => unmet_spread(&all),
        evidence => Some(describe(&evidence)),
    }
}

fn describe(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Taints(all) => joined(all, ", ", words::taint),
        Evidence::Labels(all) => joined(all, "; ", unmet_requirement),
        Evidence::Ports(all) => joined(all, ", ", port),
        Evidence::Spread(all) => joined(all, "; ", spread),
        Evidence::PodAffinity(all) => joined(all, "; ", pod_affinity),
        Evidence::VolumeZone { volume, key, values, has } => other_place(volume, key, values, has.as_ref()),
        Evidence::VolumeElsewhere { volume, requirement, has } => match requirement {
            Some(Requirement { key, values, .. }) => other_place(volume, key, values, has.as_ref()),
            None => format!("volume {volume} is on another node"),
        },
        Evidence::UnboundClaim { claim, class } => {
            format!("claim {claim} (storage class {})", class.as_deref().unwrap_or("none"))
        }
        Evidence::VolumeLimits(all) => {
            joined(all, ", ", |(driver, limit)| format!("{driver} attaches {limit} at most"))
        }
        Evidence::ClaimInUse { claim, pod } => format!("claim {claim} is used by pod {}", pod.name),
        Evidence::DiskInUse { volume, pod } => format!("volume {volume} is used by pod {pod}"),
    }
}

fn joined<T>(all: &[T], separator: &str, words: impl Fn(&T) -> String) -> String {
    all.iter().map(words).collect::<Vec<_>>().join(separator)
}

/// For example `disktype=hdd, pod wants disktype=ssd`.
fn unmet_requirement(unmet: &UnmetRequirement) -> String {
    let (key, wants) = (&unmet.requirement.key, words::requirement(&unmet.requirement));
    match &unmet.has {
        Some(has) => format!("{key}={has}, pod wants {wants}"),
        None => format!("no label {key}, pod wants {wants}"),
    }
}

fn port((port, user): &(HostPort, Option<PodKey>)) -> String {
    let user = user.as_ref().map_or_else(String::new, |pod| format!(" used by {pod}"));
    format!("{}/{}{user}", port.port, port.protocol())
}

fn unmet_spread(all: &[SpreadStatus]) -> Option<String> {
    let unmet: Vec<String> = all.iter().filter(|one| !one.is_met).map(spread).collect();
    (!unmet.is_empty()).then(|| unmet.join("; "))
}

/// For example `zone eu-1a has its share: eu-1a=2 eu-1b=1; maxSkew 1`.
fn spread(one: &SpreadStatus) -> String {
    match &one.domain {
        Some(domain) => format!("{} {domain} has its share: {}", words::short_key(&one.key), counts(one)),
        None => format!("no label {}", one.key),
    }
}

/// The pods in each domain, for example `eu-1a=2 eu-1b=1; maxSkew 1`.
pub(super) fn counts(one: &SpreadStatus) -> String {
    /// The maximum number of domains that are shown for a constraint.
    const SHOWN: usize = 6;
    let mut counts: Vec<String> =
        one.counts.iter().take(SHOWN).map(|(value, count)| format!("{value}={count}")).collect();
    if one.counts.len() > SHOWN {
        counts.push(format!("+{}", one.counts.len() - SHOWN));
    }
    format!("{}; maxSkew {}", counts.join(" "), one.max_skew)
}

fn pod_affinity(one: &UnmetPodAffinity) -> String {
    match one {
        UnmetPodAffinity::NoMatchingPod { key, selector } => {
            let kind = words::selector(selector.as_ref());
            format!("no pod with {kind} in its {}", words::short_key(key))
        }
        UnmetPodAffinity::AntiAffinity { key, pod, node } => {
            format!("pod {pod} on {node} is in its {}", words::short_key(key))
        }
        UnmetPodAffinity::ExistingAntiAffinity { key, pod, node } => {
            format!("pod {pod} on {node} wants none like it in its {}", words::short_key(key))
        }
    }
}

/// For example `volume pv-1 is in zone eu-1a, the node in eu-1b`.
fn other_place(volume: &str, key: &str, values: &[Text], has: Option<&Text>) -> String {
    let (what, has) = (words::short_key(key), has.map_or("none", |has| has));
    format!("volume {volume} is in {what} {}, the node in {has}", values.join(" or "))
}
