//! `kubectl reserve explain`: why a pod is Pending, in the scheduler's own judgement.

use super::Context;
use crate::api::{self as calls, ApiError};
use crate::cli::Explain;
use crate::connect::{Session, is_name};
use crate::error::{Exit, Failure};
use crate::explain::{Answer, Input, Options, Rules, analyse};
use crate::render::explain::{View, render};
use crate::ui::printer;
use crate::world;
use common::api;
use common::cluster::Rung;
use common::model::Pod;
use common::model::chain::chain;
use serde_json::Value;

pub(crate) async fn run(args: &Explain, context: &Context) -> Result<(), Failure> {
    let session = &context.session;
    let name = pod_name(args.names.first().map_or("", String::as_str))?;
    let (pod, source) = find(session, name).await?;
    let intake = world::Intake::default();
    let world = world::read(session, &context.ui, world::Depth::Reasons, intake).await?.whole()?;
    world.warn();
    let is_obeyed = world.rung(&pod.spec.scheduler_name) != Rung::Nobody;
    let rules = Rules::new(move |_| is_obeyed);
    let (mut cluster, now) = (world.cluster, world.now);
    let input = Input {
        pod: &pod,
        source: source.as_ref(),
        now,
        rules: &rules,
        options: Options::default(),
        context: None,
        last_try: None,
        autoscaler: &[],
        priority_classes: &[],
    };
    let report = analyse(&mut cluster, &input);
    if let Answer::Failed(why) = &report.answer {
        return Err(Failure::new(format!("cannot judge the pod: {why}")));
    }
    printer::out(&render(&report, &View::default()))?;
    if report.is_no_fit() { Err(Failure::silent(Exit::NoFit)) } else { Ok(()) }
}

async fn find(session: &Session, name: &str) -> Result<(Pod, Option<Value>), Failure> {
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
    let pod = api::pod::pod(&answer.text).map_err(|error| Failure::new(chain(&error)))?;
    Ok((pod, serde_json::from_str(&answer.text).ok()))
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
