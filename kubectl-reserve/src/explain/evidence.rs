//! The particulars of a rejection that the scheduler's message lacks: which taint, label, port, volume or pod. Entry point: [`of`].

use super::words;
use common::cluster::{Ledger, PodContext, Snapshot};
use common::framework::{Reason, Rejection};
use common::model::Pod;
use common::model::storage::PersistentVolume;
use common::plugins::inter_pod_affinity::{UnmetPodAffinity, unmet_pod_affinity};
use common::plugins::pod_topology_spread::{SpreadStatus, spread_status};

/// Whether the particulars depend on the node and the pod alone, so that they are cheap enough to find for every node.
pub(super) fn is_cheap(rejection: &Rejection) -> bool {
    !matches!(rejection.plugin, "InterPodAffinity" | "PodTopologySpread" | "VolumeRestrictions")
}

/// The particulars of a rejection, if there are any.
pub(super) fn of(
    rejection: &Rejection,
    ledger: &Ledger,
    pod_context: &PodContext<'_>,
    snapshot: &Snapshot<'_>,
) -> Option<String> {
    let pod = pod_context.pod;
    match &rejection.reason {
        Reason::Taint(_) => {
            let all = words::untolerated_taints(pod, &ledger.node);
            Some(all.into_iter().map(words::taint).collect::<Vec<_>>().join(", "))
        }
        Reason::Unreadable(problem) => Some(problem.to_string()),
        Reason::Ports { ports, .. } => {
            let all: Vec<String> = ports
                .iter()
                .map(|port| format!("{}/{}{}", port.port, port.protocol(), user_of(port, ledger)))
                .collect();
            Some(all.join(", "))
        }
        Reason::Message { text: words, .. } => match rejection.plugin {
            "NodeAffinity" => {
                let all: Vec<String> = words::unmet_requirements(pod, &ledger.node)
                    .iter()
                    .map(words::UnmetRequirement::words)
                    .collect();
                (!all.is_empty()).then(|| all.join("; "))
            }
            "PodTopologySpread" => topology_spread(pod_context, snapshot, ledger),
            "InterPodAffinity" => pod_affinity(pod, snapshot, ledger),
            "VolumeBinding" | "VolumeZone" | "VolumeRestrictions" | "NodeVolumeLimits" => {
                storage(rejection.plugin, words, pod_context.pod, snapshot, ledger)
            }
            _ => None,
        },
        _ => None,
    }
}

fn user_of(port: &common::model::HostPort, ledger: &Ledger) -> String {
    let has = |pod: &&std::sync::Arc<Pod>| pod.spec.ports.iter().any(|own| own.conflicts_with(port));
    ledger.pods.iter().find(has).map_or_else(String::new, |pod| format!(" used by {}", pod.key))
}

/// For example `zone eu-1a has its share: eu-1a=2 eu-1b=1; maxSkew 1`.
fn topology_spread(pod_context: &PodContext<'_>, snapshot: &Snapshot<'_>, ledger: &Ledger) -> Option<String> {
    let found = spread_status(pod_context, snapshot, ledger.id);
    let describe = |one: &SpreadStatus| match &one.domain {
        Some(domain) => format!("{} {domain} has its share: {}", words::short_key(&one.key), counts(one)),
        None => format!("no label {}", one.key),
    };
    let all: Vec<String> = found.iter().filter(|one| !one.is_met).map(describe).collect();
    (!all.is_empty()).then(|| all.join("; "))
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

fn pod_affinity(pod: &Pod, snapshot: &Snapshot<'_>, ledger: &Ledger) -> Option<String> {
    let describe = |one: &UnmetPodAffinity| match one {
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
    };
    let found = unmet_pod_affinity(pod, snapshot, ledger.id);
    (!found.is_empty()).then(|| found.iter().map(describe).collect::<Vec<_>>().join("; "))
}

fn storage(
    plugin: &str,
    message: &str,
    pod: &Pod,
    snapshot: &Snapshot<'_>,
    ledger: &Ledger,
) -> Option<String> {
    let catalog = snapshot.catalog();
    let claims = || pod.spec.volumes.iter().filter_map(|volume| volume.claim_name(&pod.key.name));
    let claim = |name: &str| catalog.claims.get(&pod.key.namespace, name);
    let volume = |name: &str| catalog.volumes.named(claim(name)?.volume_name.as_deref()?);
    match plugin {
        "VolumeZone" => claims().find_map(|name| zone_conflict(volume(&name)?, ledger)),
        "VolumeBinding" if message.contains("node affinity") => {
            claims().find_map(|name| out_of_reach(volume(&name)?, ledger))
        }
        "VolumeBinding" => claims().find_map(|name| {
            let found = claim(&name).filter(|found| found.volume_name.is_none())?;
            let class = found.class.as_deref().unwrap_or("none");
            Some(format!("claim {name} (storage class {class})"))
        }),
        "NodeVolumeLimits" => {
            let csi = catalog.csi_nodes.named(ledger.node.name.as_str())?;
            let limits = csi.drivers.iter().filter_map(|one| Some((&one.name, one.limit?)));
            let all: Vec<String> =
                limits.map(|(name, limit)| format!("{name} attaches {limit} at most")).collect();
            (!all.is_empty()).then(|| all.join(", "))
        }
        _ if message.contains("ReadWriteOncePod") => claims().find_map(|name| {
            let uses = |other: &Pod| {
                other.uid != pod.uid
                    && other.key.namespace == pod.key.namespace
                    && other
                        .spec
                        .volumes
                        .iter()
                        .any(|one| one.claim_name(&other.key.name) == Some(name.clone()))
            };
            let user = snapshot.nodes().flat_map(|ledger| &ledger.pods).find(|other| uses(other))?;
            Some(format!("claim {name} is used by pod {}", user.key.name))
        }),
        _ => pod.spec.volumes.iter().find_map(|own| {
            let other = ledger
                .pods
                .iter()
                .find(|other| other.spec.volumes.iter().any(|theirs| own.conflicts_with(theirs)))?;
            Some(format!("volume {} is used by pod {}", own.name, other.key))
        }),
    }
}

const ZONES: [&str; 4] = [
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/region",
];

fn zone_conflict(volume: &PersistentVolume, ledger: &Ledger) -> Option<String> {
    ZONES.iter().find_map(|key| {
        let (is, has) = (volume.labels.get(key)?, ledger.node.labels.get(key).unwrap_or("none"));
        (is != has).then(|| {
            let what = words::short_key(key);
            format!("volume {} is in {what} {is}, the node in {has}", volume.meta.name)
        })
    })
}

fn out_of_reach(volume: &PersistentVolume, ledger: &Ledger) -> Option<String> {
    let node = &ledger.node;
    let reach = volume.nodes.as_ref().filter(|nodes| !nodes.matches(&node.labels, node.name.as_str()))?;
    let missed =
        reach.terms.iter().flat_map(|term| term.expressions()).find(|one| !one.matches(&node.labels));
    let name = &volume.meta.name;
    Some(match missed {
        Some(one) => {
            let has = node.labels.get(&one.key).unwrap_or("none");
            let what = words::short_key(&one.key);
            format!("volume {name} is in {what} {}, the node in {has}", one.values.join(" or "))
        }
        None => format!("volume {name} is on another node"),
    })
}
