//! What each pod asks for and may use at most, as kube-scheduler shows it at `/metrics/resources`: a line for each
//! resource of each pod, which is why it is no part of the metrics that everybody scrapes.

use common::api::pod::Usage;
use common::model::ResourceName;
use common::model::resources::Resources;
use std::fmt::Write as _;

/// The text of both families, which grows pod by pod.
#[derive(Debug, Default)]
pub(crate) struct PodResources {
    requests: String,
    limits: String,
}

impl PodResources {
    /// One more pod.
    pub(crate) fn add(&mut self, usage: &Usage) {
        lines(&mut self.requests, "kube_pod_resource_request", usage, &usage.requests);
        lines(&mut self.limits, "kube_pod_resource_limit", usage, &usage.limits);
    }

    /// All of it, in Prometheus' text format 0.0.4. A family without samples is left out, as upstream does it.
    pub(crate) fn text(self) -> String {
        let head = |name: &str, about: &str| format!("# HELP {name} {about}\n# TYPE {name} gauge\n");
        let limits = head("kube_pod_resource_limit", "What a pod may use at most, by resource and its unit");
        let requests = head("kube_pod_resource_request", "What a pod asks for, by resource and its unit");
        let families = [(limits, self.limits), (requests, self.requests)].into_iter();
        families.filter(|(_, lines)| !lines.is_empty()).map(|(head, lines)| head + &lines).collect()
    }
}

fn lines(text: &mut String, name: &str, usage: &Usage, amounts: &Resources) {
    for (resource, amount) in amounts.iter() {
        let Usage { namespace, name: pod, node, scheduler, priority, .. } = usage;
        let priority = priority.map(|priority| priority.to_string()).unwrap_or_default();
        let (unit, value) = match &resource {
            ResourceName::Cpu => ("cores", thousandths(amount)),
            ResourceName::Memory | ResourceName::EphemeralStorage => ("bytes", amount.to_string()),
            ResourceName::Scalar(name) if name.starts_with("hugepages-") => ("bytes", amount.to_string()),
            ResourceName::Scalar(name) if name.starts_with("attachable-volumes-") => {
                ("integer", amount.to_string())
            }
            _ => ("", amount.to_string()),
        };
        let _ = writeln!(
            text,
            "{name}{{namespace=\"{namespace}\",node=\"{node}\",pod=\"{pod}\",priority=\"{priority}\",\
             resource=\"{resource}\",scheduler=\"{}\",unit=\"{unit}\"}} {value}",
            escaped(scheduler)
        );
    }
}

/// `1500` as `1.5`.
fn thousandths(amount: i64) -> String {
    let text = format!("{}.{:03}", amount / 1000, (amount % 1000).abs());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The only label whose value the API server does not check.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
