//! `kubectl reserve explain`: why a pod is Pending, in the scheduler's own judgement.

use super::Context;
use crate::api::{self as calls, ApiError};
use crate::cli::Explain;
use crate::connect::{Session, is_name};
use crate::error::{Exit, Failure};
use crate::render::explain::{Answer, Report, render};
use crate::ui::printer;
use crate::world;
use common::api;
use common::cluster::{Rung, Snapshot};
use common::cycle::{self, Depth};
use common::framework::Registry;
use common::model::Pod;
use common::model::chain::chain;
use common::plugins::{default_registry, without_reservations};

pub(crate) async fn run(args: &Explain, context: &Context) -> Result<(), Failure> {
    let session = &context.session;
    let name = pod_name(&args.pod)?;
    let pod = find(session, name).await?;
    let intake = world::Intake::default();
    let world = world::read(session, &context.ui, world::Depth::Reasons, intake).await?.whole()?;
    world.warn();
    let obeyed = world.rung(&pod.spec.scheduler_name) != Rung::Nobody;
    let (mut cluster, now) = (world.cluster, world.now);
    let snapshot = cluster.snapshot(now);
    let registry = if obeyed { default_registry() } else { without_reservations() };
    let answer = answer(&pod, &snapshot, &registry)?;
    let asker = snapshot.asker(&pod);
    let report = Report { asker: &asker, snapshot: &snapshot, answer: &answer, obeyed, now };
    printer::out(&render(&report))?;
    if answer.is_no_fit(obeyed) { Err(Failure::silent(Exit::NoFit)) } else { Ok(()) }
}

fn answer(pod: &Pod, snapshot: &Snapshot<'_>, registry: &Registry) -> Result<Answer, Failure> {
    if pod.is_ended() {
        return Ok(Answer::Ended);
    }
    if pod.deleting {
        return Ok(Answer::Deleting);
    }
    if let Some(node) = &pod.node {
        return Ok(Answer::Bound(node.clone()));
    }
    if let Some(refusal) = cycle::refusal(pod, snapshot, registry) {
        return Ok(Answer::Refused(refusal));
    }
    let trace = cycle::judge(&snapshot.asker(pod), snapshot, registry, Depth::All);
    trace.map(Answer::Judged).map_err(|why| Failure::new(format!("cannot judge the pod: {why}")))
}

async fn find(session: &Session, name: &str) -> Result<Pod, Failure> {
    let namespace = &session.namespace;
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
    let answer = calls::get(session, &path, "application/json").await.map_err(|error| match error {
        ApiError::Refused(refused) if refused.code == 404 => {
            Failure::new(format!("Error from server (NotFound): {}", refused.message)).hint(format!(
                "kubectl get pods -n {namespace} lists the pods there; -n NAMESPACE looks elsewhere"
            ))
        }
        error => error.into_failure("read the pod", &format!("get pods in namespace {namespace}")),
    })?;
    api::pod::pod(&answer.text).map_err(|error| Failure::new(chain(&error)))
}

/// The name out of NAME, pod/NAME or po/NAME. It becomes part of a URL, so it is checked.
fn pod_name(text: &str) -> Result<&str, Failure> {
    let name = match text.split_once('/') {
        None => text,
        Some(("pod" | "pods" | "po", name)) => name,
        Some((kind, _)) => {
            return Err(Failure::new(format!("{kind:?} cannot be explained, only pods"))
                .hint("kubectl get pods lists the pods of a workload")
                .exit(Exit::Usage));
        }
    };
    if !is_name(name) {
        return Err(Failure::new(format!("{text:?} is not the name of a pod")).exit(Exit::Usage));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::pod_name;

    #[test]
    fn a_pod_is_named_as_kubectl_names_it() {
        assert_eq!(pod_name("web-1").unwrap(), "web-1");
        assert_eq!(pod_name("pod/web-1").unwrap(), "web-1");
        assert_eq!(pod_name("po/web-1").unwrap(), "web-1");
        let long = "x".repeat(254);
        for odd in ["", "../nodes/n1", "pod/../x", "a b", "a?watch=1", "-x", "deploy/web", "pod/", "ä", &long]
        {
            assert!(pod_name(odd).is_err(), "{odd:?}");
        }
    }
}
