//! The error for a pod whose scheduler does not enforce reservations, or of which that is unknown: for `pod`, `restart` and `drain`.

use crate::error::{Exit, Failure};
use crate::replicas;
use common::api::names::DEFAULT_SCHEDULER_NAME;
use common::api::replica::DaemonNamespaces;
use common::cluster::{Enforcement, enforcement};
use common::model::Replica;
use common::model::owner::Owner;
use jiff::Timestamp;

/// The page about kube-scheduler with the daemon as its extender.
const EXTENDER_PAGE: &str = "manifests/extender/README.md";

/// The error for a pod that `scheduler` places, which does not enforce reservations. `owner` is the top owner of the pod; `None`
/// if it could not be read.
pub(crate) fn not_enforced<'r>(
    pod: &str,
    scheduler: &str,
    owner: Option<&Owner>,
    replicas: impl Iterator<Item = &'r Replica>,
    now: Timestamp,
) -> Failure {
    let live: Vec<&Replica> = replicas.filter(|replica| replica.is_live(now)).collect();
    let is_own = |name: &&str| enforcement(live.iter().copied(), name, now) == Enforcement::Scheduler;
    let own = live.iter().flat_map(|replica| replica.schedulers.iter().map(|name| &**name)).find(is_own);
    let mut text = format!(
        "{pod} is placed by {scheduler}, which does not enforce reservations, so its room could be lost"
    );
    let mut advice: Vec<String> = Vec::new();
    if live.is_empty() {
        advice.push("no replica of the daemon is live: kubectl reserve status says why".to_owned());
    }
    if let Some(own) = own {
        text += &format!(". The daemon enforces them for {own}");
        advice.extend(patch(owner, own));
        let asks = format!("{scheduler} can ask the daemon as its extender, see {EXTENDER_PAGE}");
        advice.extend((scheduler == DEFAULT_SCHEDULER_NAME).then_some(asks));
    }
    advice.push("--unenforced goes on without".to_owned());
    // A line for each, so that a command can be pasted.
    Failure::new(text).hint(advice.join("\n      ")).exit(Exit::Unsafe)
}

/// The error if the caller may not read the Leases that say who enforces reservations.
pub(crate) fn unknown(pod: &str, scheduler: &str, daemon: &DaemonNamespaces) -> Failure {
    Failure::new(format!(
        "{pod} is placed by {scheduler}, and it is unknown whether that enforces reservations: you may not list the daemon's \
         Leases"
    ))
    .hint(format!(
        "needs: {}; --daemon-namespace NAME if the daemon is elsewhere; --unenforced goes on without",
        replicas::right(daemon)
    ))
    .exit(Exit::Unsafe)
}

/// The command that gives the pods of `owner` to the daemon; `None` if it cannot be changed so.
fn patch(owner: Option<&Owner>, scheduler: &str) -> Option<String> {
    let Owner { kind, namespace, name, .. } = owner?;
    let template = format!(r#"{{"spec":{{"template":{{"spec":{{"schedulerName":"{scheduler}"}}}}}}}}"#);
    let body = match &**kind {
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "ReplicationController" => template,
        "CronJob" => format!(r#"{{"spec":{{"jobTemplate":{template}}}}}"#),
        _ => return None,
    };
    let kind = kind.to_ascii_lowercase();
    Some(format!(
        "give its pods to {scheduler}: kubectl patch {kind} {name} -n {namespace} --type=merge -p '{body}'"
    ))
}

#[cfg(test)]
mod tests {
    use super::not_enforced;
    use common::api::replica::replica;
    use common::model::Replica;
    use common::model::owner::Owner;
    use jiff::{SignedDuration, Timestamp};
    use serde_json::json;

    fn owner(kind: &str) -> Owner {
        Owner { kind: kind.into(), namespace: "shop".into(), name: "web".into(), uid: "u".into() }
    }

    fn hint(scheduler: &str, owner: Option<&Owner>, replicas: &[Replica]) -> (String, String) {
        let failure = not_enforced("pod/web-1", scheduler, owner, replicas.iter(), Timestamp::UNIX_EPOCH);
        (failure.message.unwrap(), failure.hint.unwrap())
    }

    #[test]
    fn the_way_out_fits_what_is_there() {
        let lease =
            json!({ "metadata": { "name": "reserve-a", "annotations": { "reserve/schedulers": "ours" } } });
        let mut live = replica(&lease.to_string()).unwrap();
        live.renew_time = Some(Timestamp::UNIX_EPOCH);
        live.duration = SignedDuration::from_secs(15).try_into().unwrap();
        let (text, advice) = hint("default-scheduler", Some(&owner("Deployment")), &[]);
        assert!(
            !text.contains("The daemon enforces") && advice.starts_with("no replica of the daemon is live"),
            "{advice}"
        );
        let live = [live];
        let (text, advice) = hint("default-scheduler", Some(&owner("Deployment")), &live);
        assert!(text.ends_with("The daemon enforces them for ours"), "{text}");
        assert!(
            advice.starts_with(
                "give its pods to ours: kubectl patch deployment web -n shop --type=merge -p \
                 '{\"spec\":{\"template\":{\"spec\":{\"schedulerName\":\"ours\"}}}}'\n"
            ) && advice.contains("manifests/extender/README.md"),
            "{advice}"
        );
        let (_, advice) = hint("volcano", Some(&owner("CronJob")), &live);
        assert!(
            advice.contains(
                r#"'{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"schedulerName":"ours"}}}}}}'"#
            ) && !advice.contains("extender"),
            "{advice}"
        );
        for owner in [None, Some(&owner("Pod")), Some(&owner("CloneSet"))] {
            let (_, advice) = hint("default-scheduler", owner, &live);
            assert!(advice.starts_with("default-scheduler can ask the daemon"), "{advice}");
        }
        assert_eq!(hint("volcano", None, &live).1, "--unenforced goes on without");
    }
}
