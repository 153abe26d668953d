//! `kubectl reserve install`: installs the daemon with everything it needs, or upgrades it to this version.
//!
//! The order: check the caller's rights, read the existing objects, let the server check the new ones (dry run), ask the user,
//! apply, wait for the rollout, remove what only the former version needed. An interrupted installation can be repeated.

mod plan;
pub(super) mod rollout;

use super::Context;
use crate::cli::Install;
use crate::connect::{Session, is_name};
use crate::error::{Exit, Failure};
use crate::manifests::{self, InstallOptions, Object};
use crate::node_patch::DryRun;
use crate::objects;
use crate::print::{self, Output, Printable};
use crate::rights;
use crate::ui::printer;
use common::api::names;
use common::api::replica::DaemonNamespaces;
use plan::{Change, InstallPlan};
use serde_json::{Value, json};
use std::time::Duration;

/// Namespaces in which the daemon cannot be installed: they must not get our labels and quota.
const SYSTEM_NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

const KUBE_SCHEDULER: &str = include_str!("../../../../manifests/extender/kube-scheduler.yaml");

/// Prints the manifests, without a cluster.
pub(crate) fn run_offline(args: &Install, namespace: Option<&str>) -> Result<(), Failure> {
    show(args, &wanted(&choice(args, namespace)?)?)
}

pub(crate) async fn run(args: &Install, context: &Context, namespace: Option<&str>) -> Result<(), Failure> {
    let session = &context.session;
    let choice = choice(args, namespace)?;
    let wanted = wanted(&choice)?;
    if args.dry_run != DryRun::Client {
        rights::require(session, &plan::rights(&wanted), "install").await?;
    }
    let plan = plan::read(session, wanted).await?;
    if args.dry_run == DryRun::Client {
        return tell_plan(&plan);
    }
    let checked = check(session, &plan).await?;
    if args.dry_run == DryRun::Server {
        return if args.print.output.is_table() {
            tell_checked(&plan, &checked)
        } else {
            show(args, &checked)
        };
    }
    announce(&plan, &choice);
    let question = if plan.is_upgrade() { "Upgrade the daemon?" } else { "Install the daemon?" };
    let otherwise = "to install, or --dry-run to see what would be applied";
    if !plan.is_done() && !context.ui.confirm(question, otherwise)? {
        return Err(Failure::silent(Exit::Error));
    }
    let applied = apply(session, args, &plan).await?;
    finish(args, context, &plan, &choice).await?;
    if args.print.output.is_table() { Ok(()) } else { show(args, &applied) }
}

fn choice(args: &Install, namespace: Option<&str>) -> Result<InstallOptions, Failure> {
    let namespace = namespace.unwrap_or(names::NAMESPACE);
    if SYSTEM_NAMESPACES.contains(&namespace) || !is_name(namespace) || namespace.contains('.') {
        return Err(Failure::usage(format!("the daemon cannot be installed in the namespace {namespace:?}"))
            .hint(format!("leave out -n for {}, or name a namespace of its own", names::NAMESPACE)));
    }
    if let Some(image) = &args.image {
        let is_odd = |character: char| character.is_whitespace() || character.is_control();
        if image.is_empty() || image.contains(is_odd) {
            return Err(Failure::usage(format!("--image {image:?} is no image")));
        }
    }
    Ok(InstallOptions { image: args.image.clone(), namespace: namespace.into(), is_extender: args.extender })
}

fn wanted(choice: &InstallOptions) -> Result<Vec<Object>, Failure> {
    manifests::objects(choice).map_err(|error| Failure::new(format!("the built-in manifests: {error}")))
}

/// Lets the server check all objects by a dry run, as far as possible, before anything is changed.
async fn check(session: &Session, plan: &InstallPlan) -> Result<Vec<Object>, Failure> {
    let has_namespace = plan.has_namespace();
    let mut checked = Vec::new();
    for step in &plan.steps {
        if !step.can_be_checked(has_namespace) {
            checked.push(step.object.clone());
            continue;
        }
        let json = objects::apply(session, &step.object, DryRun::Server).await;
        checked.push(Object {
            json: json.map_err(|error| refused(error, &step.object))?,
            ..step.object.clone()
        });
    }
    Ok(checked)
}

fn refused(error: crate::api::ApiError, object: &Object) -> Failure {
    let is_unknown = error.code() == Some(404) && object.kind.kind.starts_with("ValidatingAdmission");
    let word = object.word();
    let failure = error.into_failure(&format!("apply {word}"), &format!("patch {}", object.kind.resource()));
    if is_unknown {
        return failure.hint("the policies need Kubernetes 1.30 or newer; nothing was changed");
    }
    failure
}

fn tell_plan(plan: &InstallPlan) -> Result<(), Failure> {
    let step = |step: &plan::Step| format!("{} {} (dry run)\n", step.object.word(), step.change().as_str());
    let mut text: String = plan.steps.iter().map(step).collect();
    text.extend(plan.pruned.iter().map(|object| format!("{} pruned (dry run)\n", object.word())));
    printer::out(&text)
}

fn tell_checked(plan: &InstallPlan, checked: &[Object]) -> Result<(), Failure> {
    let mut text = String::new();
    for (step, checked) in plan.steps.iter().zip(checked) {
        let change = Change::of(step.live.as_ref(), &checked.json).as_str();
        text.push_str(&format!("{} {change} (server dry run)\n", step.object.word()));
    }
    text.extend(plan.pruned.iter().map(|object| format!("{} pruned (server dry run)\n", object.word())));
    printer::out(&text)?;
    if !plan.has_namespace() {
        printer::warn(
            "what is in the namespace was not checked: the server cannot before the namespace is there",
        );
    }
    Ok(())
}

/// Prints what will be changed, before the user is asked.
fn announce(plan: &InstallPlan, choice: &InstallOptions) {
    let namespace = &choice.namespace;
    let image = choice.image.clone().unwrap_or_else(manifests::default_image);
    printer::say(&format!("{image} in namespace {namespace}: {}", plan.summary()));
    if let Some((old, new)) = plan.images() {
        printer::say(&format!("  image: {old} becomes {new}"));
        if choice.image.is_none() {
            printer::warn(&format!(
                "to keep to where {old} comes from, name an image of this version with --image"
            ));
        }
    }
    for object in &plan.pruned {
        printer::say(&format!("  of a former version: {} is removed", object.word()));
    }
}

async fn apply(session: &Session, args: &Install, plan: &InstallPlan) -> Result<Vec<Object>, Failure> {
    let mut applied = Vec::new();
    for step in &plan.steps {
        let json = objects::apply(session, &step.object, DryRun::None).await;
        let json = json.map_err(|error| stopped(refused(error, &step.object)))?;
        if args.print.output.is_table() {
            let change = Change::of(step.live.as_ref(), &json).as_str();
            printer::out(&format!("{} {change}\n", step.object.word()))?;
        }
        applied.push(Object { json, ..step.object.clone() });
    }
    Ok(applied)
}

fn stopped(failure: Failure) -> Failure {
    match failure.hint {
        Some(_) => failure,
        None => failure.hint("what was applied stays; install again goes on from here, uninstall removes it"),
    }
}

/// Waits for the new replicas, removes what only the former version needed, and prints the next steps.
async fn finish(
    args: &Install,
    context: &Context,
    plan: &InstallPlan,
    choice: &InstallOptions,
) -> Result<(), Failure> {
    let (session, namespace) = (&context.session, choice.namespace.as_str());
    let can_run = !choice.is_extender || has_certificates(session, namespace).await;
    let is_waited_for = args.wait && can_run;
    if is_waited_for {
        let limit = Duration::try_from(args.timeout).unwrap_or_default();
        rollout::wait(session, &context.ui, namespace, limit).await?;
        printer::say(&format!("deployment {:?} successfully rolled out", names::AUTOMATIC));
    }
    for object in &plan.pruned {
        // A replica of the former version may restart until the rollout is finished, and needs its configuration.
        if !is_waited_for && object.kind.kind == "ConfigMap" {
            continue;
        }
        let gone = objects::delete(session, object).await;
        gone.map_err(|error| error.into_failure("remove", &format!("delete {}", object.kind.resource())))?;
        if args.print.output.is_table() {
            printer::out(&format!("{} pruned\n", object.word()))?;
        }
    }
    tell_next(session, choice).await;
    Ok(())
}

async fn has_certificates(session: &Session, namespace: &str) -> bool {
    let path = format!("/api/v1/namespaces/{namespace}/secrets/reserve-extender");
    match crate::reader::existing(objects::get(session, &path).await) {
        Ok(None) => {
            printer::warn(&format!(
                "the Secret {namespace}/reserve-extender is not there: the replicas start when it is. It has tls.crt \
                 and tls.key, for reserve-extender.{namespace}.svc, and ca.crt, by which kube-scheduler is known"
            ));
            false
        }
        // A caller who may not read the Secret waits for the rollout.
        Ok(Some(_)) | Err(_) => true,
    }
}

async fn tell_next(session: &Session, choice: &InstallOptions) {
    let namespace = &choice.namespace;
    let patch =
        format!(r#"{{"spec":{{"template":{{"spec":{{"schedulerName":"{}"}}}}}}}}"#, names::SCHEDULER_NAME);
    printer::say("\nNext:");
    printer::say("  # let the daemon place the pods of a workload");
    printer::say(&format!("  kubectl patch deployment NAME -p '{patch}'"));
    if choice.is_extender {
        let path = format!("/api/v1/namespaces/{namespace}/services/reserve-extender");
        let service = objects::get(session, &path).await.unwrap_or_default();
        let address = service.pointer("/spec/clusterIP").and_then(Value::as_str).unwrap_or("10.96.0.200");
        printer::say("  # or give kube-scheduler this file, with --config=FILE");
        let file = KUBE_SCHEDULER.replace("10.96.0.200", address).replace(names::NAMESPACE, namespace);
        file.lines().for_each(|line| printer::say(&format!("  {line}")));
    }
    printer::say("  # see who enforces");
    match DaemonNamespaces::default().includes(namespace) {
        true => printer::say("  kubectl reserve status"),
        // Without the flag, commands do not believe Leases in this namespace.
        false => {
            printer::say(&format!("  kubectl reserve status --daemon-namespace {namespace}"));
            printer::warn(&format!("every command of kubectl reserve needs --daemon-namespace {namespace}"));
        }
    }
}

struct Manifests<'o>(&'o [Object]);

impl Printable for Manifests<'_> {
    fn table(&self, _: bool, _: bool) -> String {
        self.names().iter().map(|name| format!("{name}\n")).collect()
    }

    fn names(&self) -> Vec<String> {
        self.0.iter().map(Object::word).collect()
    }

    fn document(&self) -> Result<Value, Failure> {
        let items: Vec<&Value> = self.0.iter().map(|object| &object.json).collect();
        Ok(json!({ "apiVersion": "v1", "kind": "List", "items": items }))
    }
}

fn show(args: &Install, objects: &[Object]) -> Result<(), Failure> {
    match args.print.output {
        // One YAML document per object, not a List.
        Output::Yaml => printer::out(&manifests::yaml(objects).map_err(Failure::new)?),
        _ => print::print(&args.print, &Manifests(objects)),
    }
}
