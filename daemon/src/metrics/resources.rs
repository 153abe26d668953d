//! The requests and limits of each pod, as kube-scheduler serves them at `/metrics/resources`. They have one line for each
//! resource of each pod, so they are not part of `/metrics`.

use common::api::pod::PodUsage;
use common::model::{ResourceName, Resources};
use std::fmt::Write as _;

/// Builds the text of both metric families, pod by pod.
#[derive(Debug, Default)]
pub(crate) struct PodResources {
    requests: String,
    limits: String,
}

impl PodResources {
    pub(crate) fn add(&mut self, usage: &PodUsage) {
        lines(&mut self.requests, "kube_pod_resource_request", usage, &usage.requests);
        lines(&mut self.limits, "kube_pod_resource_limit", usage, &usage.limits);
    }

    /// The text in Prometheus' format 0.0.4. A family without samples is left out, as upstream.
    pub(crate) fn text(self) -> String {
        let head = |name: &str, about: &str| format!("# HELP {name} {about}\n# TYPE {name} gauge\n");
        let limits = head("kube_pod_resource_limit", "What a pod may use at most, by resource and its unit");
        let requests = head("kube_pod_resource_request", "What a pod asks for, by resource and its unit");
        let families = [(limits, self.limits), (requests, self.requests)].into_iter();
        families.filter(|(_, lines)| !lines.is_empty()).map(|(head, lines)| head + &lines).collect()
    }
}

fn lines(text: &mut String, name: &str, usage: &PodUsage, amounts: &Resources) {
    for (resource, amount) in amounts.iter() {
        let PodUsage { namespace, name: pod, node, scheduler, priority, .. } = usage;
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

/// `1500` becomes `1.5`.
fn thousandths(amount: i64) -> String {
    let text = format!("{}.{:03}", amount / 1000, (amount % 1000).abs());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Escapes the scheduler's name, the only label value that the API server does not validate.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
