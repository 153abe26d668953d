//! Who still uses the daemon: workloads whose pods it schedules, and schedulers that call it as their extender.

use crate::connect::Session;
use crate::error::Failure;
use crate::objects;
use crate::replicas::Replicas;
use crate::rights::Right;
use common::api::names;
use common::config::load;
use common::model::owner::OwnerKind;
use common::plugins::PluginList;
use serde_json::Value;
use std::collections::BTreeSet;

/// A workload whose pods name a scheduler of the daemon.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct User {
    pub(crate) namespace: String,
    /// `Deployment/web`.
    pub(crate) workload: String,
    pub(crate) scheduler: String,
}

/// The scheduler names of the daemon: those in the replicas' Leases, in the configuration, and the default one.
pub(crate) fn scheduler_names<'c>(
    replicas: &Replicas,
    config_maps: impl Iterator<Item = &'c Value>,
) -> BTreeSet<String> {
    let served = replicas.all.iter().flat_map(|replica| replica.schedulers.iter());
    let mut all: BTreeSet<String> = served.map(|name| name.to_string()).collect();
    all.insert(names::SCHEDULER_NAME.to_owned());
    let plugins = PluginList::built_in().declarations();
    for config_map in config_maps {
        let texts = config_map.get("data").and_then(Value::as_object).into_iter().flatten();
        for text in texts.filter_map(|(_, text)| text.as_str()) {
            // A configuration that does not load is used by no running daemon.
            let profiles = load("config.yaml", text, &plugins).map(|loaded| loaded.configuration.profiles);
            all.extend(profiles.unwrap_or_default().into_iter().map(|profile| profile.scheduler_name));
        }
    }
    // Pods of `default-scheduler` do not need the daemon: kube-scheduler places them, too.
    all.remove(names::DEFAULT_SCHEDULER_NAME);
    all
}

/// The rights that `read` needs.
pub(crate) fn rights() -> Vec<Right> {
    let mut rights: Vec<Right> =
        OwnerKind::ALL.iter().map(|kind| Right::new("list", kind.group(), kind.plural(), None)).collect();
    rights.push(Right::new("list", "", "pods", None));
    rights
}

/// All workloads and pods without a controller that name one of these schedulers.
pub(crate) async fn read(session: &Session, names: &BTreeSet<String>) -> Result<Vec<User>, Failure> {
    let mut users = BTreeSet::new();
    for kind in OwnerKind::ALL {
        let listed = objects::list(session, &kind.path(), "").await;
        let what = kind.plural();
        let listed =
            listed.map_err(|error| error.into_failure(&format!("list {what}"), &format!("list {what}")))?;
        users.extend(listed.iter().filter_map(|json| user(kind.as_str(), json, names)));
    }
    let pods = objects::list(session, "/api/v1/pods", "").await;
    let pods = pods.map_err(|error| error.into_failure("list pods", "list pods in all namespaces"))?;
    users.extend(pods.iter().filter_map(|json| user("Pod", json, names)));
    Ok(users.into_iter().collect())
}

/// The object as a user of the daemon: if it has no controller, has not ended, and names one of the schedulers.
fn user(kind: &str, json: &Value, names: &BTreeSet<String>) -> Option<User> {
    let spec = match kind {
        "Pod" => "/spec",
        "CronJob" => "/spec/jobTemplate/spec/template/spec",
        _ => "/spec/template/spec",
    };
    let text = |pointer: &str| json.pointer(pointer).and_then(Value::as_str);
    let scheduler = json.pointer(spec)?.get("schedulerName")?.as_str()?;
    let owners = json.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let is_owned = owners.into_iter().flatten().any(|owner| owner["controller"] == true);
    let is_over = matches!(text("/status/phase"), Some("Succeeded" | "Failed"))
        || json.pointer("/status/completionTime").is_some();
    (names.contains(scheduler) && !is_owned && !is_over).then(|| User {
        namespace: text("/metadata/namespace").unwrap_or_default().into(),
        workload: format!("{kind}/{}", text("/metadata/name").unwrap_or_default()),
        scheduler: scheduler.into(),
    })
}

/// The names of the schedulers that recently called the daemon as their extender.
pub(crate) fn extender_clients(replicas: &Replicas) -> BTreeSet<String> {
    replicas.all.iter().flat_map(|replica| replica.extends.iter()).map(|name| name.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::{scheduler_names, user};
    use crate::replicas::Replicas;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn a_workload_counts_once_and_not_when_it_is_over() {
        let names: BTreeSet<String> = ["ours".to_owned()].into();
        let spec = json!({ "schedulerName": "ours" });
        let template = json!({ "template": { "spec": spec } });
        let meta = json!({ "namespace": "a", "name": "x" });
        let owned = json!({ "namespace": "a", "name": "x", "ownerReferences": [{ "controller": true }] });
        let found = |kind, json| user(kind, &json, &names).map(|user| user.workload);
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(found("Deployment", json!({ "metadata": meta, "spec": template })), text("Deployment/x"));
        assert_eq!(found("ReplicaSet", json!({ "metadata": owned, "spec": template })), None);
        let cron = json!({ "jobTemplate": { "spec": template } });
        assert_eq!(found("CronJob", json!({ "metadata": meta, "spec": cron })), text("CronJob/x"));
        assert_eq!(found("Pod", json!({ "metadata": meta, "spec": spec })), text("Pod/x"));
        let over = json!({ "metadata": meta, "spec": spec, "status": { "phase": "Failed" } });
        assert_eq!(found("Pod", over), None);
        let done = json!({ "metadata": meta, "spec": template, "status": { "completionTime": "2026-11-17T08:00:00Z" } });
        assert_eq!(found("Job", done), None);
        let other = json!({ "metadata": meta, "spec": { "schedulerName": "default-scheduler" } });
        assert_eq!(found("Pod", other), None);
    }

    #[test]
    fn names_come_from_the_configuration_too() {
        let text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
                    profiles: [{schedulerName: mine}, {schedulerName: default-scheduler}]\n";
        let map = json!({ "data": { "config.yaml": text, "odd": "{" } });
        let names = scheduler_names(&Replicas::default(), [&map].into_iter());
        assert_eq!(names, BTreeSet::from(["mine".to_owned(), "reserve-scheduler".to_owned()]));
    }
}
