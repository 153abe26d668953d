//! Decodes the requests and limits of a pod, for metrics about resources. They are decoded on demand and not stored.

use super::super::DecodeError;
use super::super::meta::{ObjectWire, Pairs, Str, decode};
use super::super::object::malformed;
use crate::model::chain::chain;
use crate::model::requests::{Container, RequestError, ResourceList, Sources, pod_requests};
use crate::model::{Quantity, Resources};
use serde::Deserialize;
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodUsage {
    pub namespace: String,
    pub name: String,
    /// The node; empty if the pod has none.
    pub node: String,
    pub scheduler: String,
    pub priority: Option<i32>,
    pub requests: Resources,
    /// The sum of the limits; zero for resources without limits.
    pub limits: Resources,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct SpecWire<'a> {
    node_name: Str<'a>,
    scheduler_name: Str<'a>,
    priority: Option<i32>,
    containers: Option<Vec<ContainerWire<'a>>>,
    init_containers: Option<Vec<ContainerWire<'a>>>,
    overhead: Option<Pairs<'a>>,
    resources: Option<ResourcesWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct StatusWire<'a> {
    phase: Str<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct ContainerWire<'a> {
    name: Str<'a>,
    resources: Option<ResourcesWire<'a>>,
    restart_policy: Option<Str<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct ResourcesWire<'a> {
    requests: Option<Pairs<'a>>,
    limits: Option<Pairs<'a>>,
}

/// Decodes the requests and limits of a pod; `None` for a bound pod that has ended.
pub fn usage(json: &str) -> Result<Option<PodUsage>, DecodeError> {
    let ObjectWire::<SpecWire<'_>, StatusWire<'_>> { metadata, spec, status } = decode("Pod", json)?;
    if !spec.node_name.is_empty() && matches!(&*status.phase, "Succeeded" | "Failed") {
        return Ok(None);
    }
    let overhead = spec.overhead.as_ref().map(list).unwrap_or_default();
    let invalid = |error: RequestError| malformed("Pod", chain(&error));
    let requests = sum(&spec, overhead.clone(), |wire| wire.requests.as_ref()).map_err(invalid)?;
    let mut limits = sum(&spec, ResourceList::default(), |wire| wire.limits.as_ref()).map_err(invalid)?;
    add_overhead(&mut limits, &overhead);
    Ok(Some(PodUsage {
        namespace: metadata.namespace.0.into_owned(),
        name: metadata.name.0.into_owned(),
        node: spec.node_name.0.into_owned(),
        scheduler: spec.scheduler_name.0.into_owned(),
        priority: spec.priority,
        requests,
        limits,
    }))
}

/// The sum of the requests or of the limits: both are summed in the same way. `of` selects the list.
fn sum<'a>(
    spec: &'a SpecWire<'a>,
    overhead: ResourceList<'a>,
    of: fn(&'a ResourcesWire<'a>) -> Option<&'a Pairs<'a>>,
) -> Result<Resources, RequestError> {
    let container = |wire: &'a ContainerWire<'a>| Container {
        name: Cow::Borrowed(&*wire.name),
        requests: wire.resources.as_ref().and_then(of).map(list).unwrap_or_default(),
        restart_always: wire.restart_policy.as_ref().is_some_and(|policy| policy.0 == "Always"),
    };
    let sources = Sources {
        containers: spec.containers.iter().flatten().map(container).collect(),
        init_containers: spec.init_containers.iter().flatten().map(container).collect(),
        overhead,
        pod_level: spec.resources.as_ref().and_then(of).map(list),
        ..Sources::default()
    };
    let mut sum = pod_requests(&sources)?.incoming;
    sum.pods = 0;
    Ok(sum)
}

/// Overhead is added only to resources that have a limit.
fn add_overhead(limits: &mut Resources, overhead: &ResourceList<'_>) {
    let mut more = Resources::default();
    for (name, text) in &overhead.0 {
        // An invalid quantity was already reported with the requests.
        if let Ok(quantity) = Quantity::parse(text) {
            more.add_quantity(name, quantity);
        }
    }
    for (name, amount) in more.iter().filter(|(name, _)| limits.get(name) != 0).collect::<Vec<_>>() {
        let sum = limits.get(&name).saturating_add(amount);
        limits.set(name, sum);
    }
}

fn list<'a>(pairs: &'a Pairs<'a>) -> ResourceList<'a> {
    ResourceList(
        pairs.0.iter().map(|(name, text)| (Cow::Borrowed(&**name), Cow::Borrowed(&**text))).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::usage;
    use serde_json::json;

    fn of(spec: &serde_json::Value, phase: &str) -> Option<String> {
        let pod =
            json!({"metadata": {"namespace": "d", "name": "p"}, "spec": spec, "status": {"phase": phase}});
        let usage = usage(&pod.to_string()).unwrap()?;
        let show = |resources: &crate::model::resources::Resources| {
            let all = resources.iter().map(|(name, amount)| format!("{name} {amount}"));
            all.collect::<Vec<_>>().join(", ")
        };
        Some(format!("{} / {}", show(&usage.requests), show(&usage.limits)))
    }

    #[test]
    fn limits_are_summed_as_requests_are_and_overhead_comes_on_top_of_what_is_limited() {
        let container = |cpu: &str, limits: serde_json::Value| json!({"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "1Ki"}, "limits": limits}});
        let two = [container("100m", json!({"memory": "4Ki"})), container("200m", json!({"memory": "4Ki"}))];
        let mut spec = json!({"containers": two});
        assert_eq!(of(&spec, "Running").unwrap(), "cpu 300, memory 2048 / memory 8192");
        spec["overhead"] = json!({"cpu": "50m", "memory": "1Ki"});
        assert_eq!(of(&spec, "Running").unwrap(), "cpu 350, memory 3072 / memory 9216");
        spec["initContainers"] = json!([container("1", json!({"example.com/gpu": "2"}))]);
        assert_eq!(
            of(&spec, "Running").unwrap(),
            "cpu 1050, memory 3072 / memory 9216, example.com/gpu 2",
            "before the others"
        );
        spec["resources"] = json!({"requests": {"cpu": "2"}, "limits": {"cpu": "3"}});
        let pod_level = "cpu 2050, memory 3072 / cpu 3050, memory 9216, example.com/gpu 2";
        assert_eq!(of(&spec, "Running").unwrap(), pod_level);
    }

    #[test]
    fn what_has_ended_uses_nothing_and_what_cannot_be_read_is_an_error() {
        let spec = json!({"nodeName": "n", "containers": [{"resources": {"requests": {"cpu": "1"}}}]});
        assert_eq!(of(&spec, "Running").unwrap(), "cpu 1000 / ");
        assert_eq!(of(&spec, "Failed"), None);
        let odd =
            r#"{"metadata":{"name":"p"},"spec":{"containers":[{"resources":{"limits":{"cpu":"much"}}}]}}"#;
        assert!(usage(odd).is_err());
        assert!(usage("{}").is_err());
    }
}
