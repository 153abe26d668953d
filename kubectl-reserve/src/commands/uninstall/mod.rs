//! `kubectl reserve uninstall`: removes everything that `install` made, and the reservations.
//!
//! The order: the daemon, and its pods are waited for, because a running daemon could make new reservations; the reservations;
//! then roles and policies, so that until the end only allowed users can write reservations; the namespace last. Each step can be
//! repeated.

mod installation;
mod reservations;
pub(crate) mod users;

use super::Context;
use crate::cli::Uninstall;
use crate::connect::Session;
use crate::error::{Exit, Failure, forbidden};
use crate::manifests::Object;
use crate::node_patch::DryRun;
use crate::objects;
use crate::render::plural;
use crate::replicas::{self, Replicas};
use crate::rights::{self, Right};
use crate::ui::printer;
use crate::ui::progress::ProgressFallback;
use reservations::NodeReservations;
use std::collections::BTreeSet;
use std::time::Duration;
use users::User;

/// The pause between two reads while something is waited for.
const POLL: Duration = Duration::from_millis(300);

/// What will be removed, and who still uses it.
struct UninstallPlan {
    namespace: String,
    objects: Vec<Object>,
    nodes: Vec<NodeReservations>,
    replicas: Replicas,
    users: Vec<User>,
    extender_clients: BTreeSet<String>,
}

pub(crate) async fn run(args: &Uninstall, context: &Context, namespace: Option<&str>) -> Result<(), Failure> {
    let session = &context.session;
    let namespace = installation::namespace(session, namespace).await?;
    rights::require(session, &needed(&namespace), "uninstall").await?;
    let plan = read(session, namespace).await?;
    if plan.objects.is_empty() && to_remove(&plan, args.all).is_empty() {
        printer::say(&format!("Nothing to remove: there is no installation in {}.", plan.namespace));
        print_leftovers(&plan, args.all);
        return Ok(());
    }
    if args.dry_run != DryRun::None {
        return dry_run(args, session, &plan).await;
    }
    if !args.force {
        refuse_if_needed(&plan)?;
    }
    announce(&plan, args.all);
    if !context
        .ui
        .confirm("Remove all of this?", "to uninstall, or --dry-run to see what would be removed")?
    {
        return Err(Failure::silent(Exit::Error));
    }
    let limit = Duration::try_from(args.timeout).unwrap_or_default();
    carry_out(args, context, &plan, limit).await?;
    print_leftovers(&plan, args.all);
    Ok(())
}

fn needed(namespace: &str) -> Vec<Right> {
    let mut needed = installation::rights(namespace);
    needed.extend(users::rights());
    needed.extend(["get", "list", "patch"].map(|verb| Right::new(verb, "", "nodes", None)));
    needed.push(Right::new("update", "", "nodes/reservations", None));
    needed
}

async fn read(session: &Session, namespace: String) -> Result<UninstallPlan, Failure> {
    let objects = installation::read(session, &namespace).await?;
    // The replicas are also read in the namespace of the installation, whatever `--daemon-namespace` is.
    let daemon = session.daemon.clone().and(&namespace);
    let replicas = replicas::read_namespaces(session, &daemon).await;
    let replicas = replicas.map_err(|error| error.into_failure("list leases", "list leases"))?;
    if replicas.is_hidden {
        return Err(forbidden("see which replicas run", &replicas::right(&daemon)));
    }
    let configs = objects.iter().filter(|object| object.kind.kind == "ConfigMap").map(|object| &object.json);
    let names = users::scheduler_names(&replicas, configs);
    let users = users::read(session, &names).await?;
    let extender_clients = users::extender_clients(&replicas);
    Ok(UninstallPlan {
        nodes: reservations::read(session).await?,
        namespace,
        objects,
        replicas,
        users,
        extender_clients,
    })
}

/// The nodes from which reservations are removed, and how many.
fn to_remove(plan: &UninstallPlan, all: bool) -> Vec<(&NodeReservations, usize)> {
    let count = |node: &NodeReservations| if all { node.recorded + node.others } else { node.recorded };
    plan.nodes.iter().map(|node| (node, count(node))).filter(|(_, count)| *count > 0).collect()
}

fn refuse_if_needed(plan: &UninstallPlan) -> Result<(), Failure> {
    let needs = needs(plan);
    if needs.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("the daemon is still needed; nothing was removed:\n  {}", needs.join("\n  ")))
        .hint(
            "give these pods another schedulerName, and take the extender out of kube-scheduler's configuration; \
             or remove the daemon all the same with --force: their new pods then stay Pending",
        )
        .exit(Exit::Unsafe))
}

fn needs(plan: &UninstallPlan) -> Vec<String> {
    let is_there = plan.objects.iter().any(is_daemon) || plan.replicas.live().next().is_some();
    if !is_there {
        return Vec::new();
    }
    let user = |user: &User| {
        let User { namespace, workload, scheduler } = user;
        format!("{workload} in namespace {namespace} has schedulerName {scheduler}")
    };
    let extender_client = |name: &String| format!("the scheduler {name} lately asked it as its extender");
    plan.users.iter().map(user).chain(plan.extender_clients.iter().map(extender_client)).collect()
}

fn announce(plan: &UninstallPlan, all: bool) {
    for need in needs(plan) {
        printer::warn(&need);
    }
    let to_remove = to_remove(plan, all);
    let count: usize = to_remove.iter().map(|(_, count)| count).sum();
    let (namespace, reservations) = (&plan.namespace, reservations(count));
    let objects = plural(plan.objects.len(), "object");
    let nodes = plural(to_remove.len(), "node");
    printer::say(&format!(
        "To remove: {objects} of the installation in {namespace}, {reservations} on {nodes}"
    ));
}

async fn dry_run(args: &Uninstall, session: &Session, plan: &UninstallPlan) -> Result<(), Failure> {
    for need in needs(plan) {
        printer::warn(&need);
    }
    let suffix = if args.dry_run == DryRun::Server { "(server dry run)" } else { "(dry run)" };
    let deleted = |object: &Object| format!("{} deleted {suffix}\n", object.word());
    let (daemon, rest): (Vec<&Object>, Vec<&Object>) =
        plan.objects.iter().partition(|object| is_daemon(object));
    let mut text: String = daemon.into_iter().map(deleted).collect();
    for (node, count) in to_remove(plan, args.all) {
        reservations::remove(session, &node.node, args.all, args.dry_run).await?;
        text.push_str(&format!("node/{} {} released {suffix}\n", node.node, reservations(count)));
    }
    text.extend(rest.into_iter().map(deleted));
    printer::out(&text)
}

async fn carry_out(
    args: &Uninstall,
    context: &Context,
    plan: &UninstallPlan,
    limit: Duration,
) -> Result<(), Failure> {
    let (session, namespace) = (&context.session, plan.namespace.as_str());
    for object in plan.objects.iter().filter(|object| is_daemon(object)) {
        delete(session, object).await?;
    }
    {
        let _turning =
            context.ui.spinner("Waiting for the daemon's pods to be gone", ProgressFallback::Lines);
        let gone = tokio::time::timeout(limit, until_stopped(session, namespace)).await;
        gone.map_err(|_| still_there("the daemon's pods are still there", limit))??;
    }
    for (node, count) in to_remove(plan, args.all) {
        if reservations::remove(session, &node.node, args.all, DryRun::None).await? {
            printer::out(&format!("node/{} {} released\n", node.node, reservations(count)))?;
        }
    }
    let is_rest = |object: &&Object| !matches!(object.kind.kind, "Deployment" | "Namespace");
    for object in plan.objects.iter().filter(is_rest) {
        delete(session, object).await?;
    }
    for lease in installation::leases(session, namespace).await? {
        delete(session, &lease).await?;
    }
    match plan.objects.iter().find(|object| object.kind.kind == "Namespace") {
        Some(object) => remove_namespace(context, object, limit).await,
        None => Ok(()),
    }
}

fn is_daemon(object: &Object) -> bool {
    object.kind.kind == "Deployment"
}

async fn until_stopped(session: &Session, namespace: &str) -> Result<(), Failure> {
    while !installation::pods(session, namespace).await?.is_empty() {
        tokio::time::sleep(POLL).await;
    }
    Ok(())
}

async fn delete(session: &Session, object: &Object) -> Result<(), Failure> {
    let gone = objects::delete(session, object).await;
    let gone = gone.map_err(|error| {
        error
            .into_failure(&format!("delete {}", object.word()), &format!("delete {}", object.kind.resource()))
    })?;
    if gone { printer::out(&format!("{} deleted\n", object.word())) } else { Ok(()) }
}

/// Deletes the namespace, unless it contains foreign objects.
async fn remove_namespace(context: &Context, object: &Object, limit: Duration) -> Result<(), Failure> {
    let session = &context.session;
    let foreign_objects = installation::foreign_objects(session, &object.name).await;
    if !foreign_objects.is_empty() {
        let (name, foreign_objects) = (&object.name, foreign_objects.join(", "));
        printer::warn(&format!(
            "namespace {name} stays, because it has what install did not put there: {foreign_objects}"
        ));
        printer::say(&format!("Remove it with everything in it: kubectl delete namespace {name}"));
        return Ok(());
    }
    delete(session, object).await?;
    let _turning = context.ui.spinner("Waiting for the namespace to be gone", ProgressFallback::Lines);
    let gone = async {
        while objects::find(session, object).await.is_ok_and(|found| found.is_some()) {
            tokio::time::sleep(POLL).await;
        }
    };
    let in_time = tokio::time::timeout(limit, gone).await;
    in_time.map_err(|_| still_there("the namespace is still being removed", limit))
}

fn still_there(what: &str, limit: Duration) -> Failure {
    Failure::new(format!("timed out after {}s: {what}", limit.as_secs()))
        .hint("run it again: it goes on from here; --timeout gives it longer")
        .exit(Exit::TimedOut)
}

fn reservations(count: usize) -> String {
    plural(count, "reservation")
}

/// Prints what was not removed, and how to remove it.
fn print_leftovers(plan: &UninstallPlan, all: bool) {
    let left: usize = plan.nodes.iter().map(|node| node.others).sum();
    if left > 0 && !all {
        let (stay, left) = (if left == 1 { "stays" } else { "stay" }, reservations(left));
        printer::say(&format!(
            "{left} {stay}, made by hand, of a newer version, or malformed: kubectl reserve list -A shows what, \
             uninstall --all removes it"
        ));
    }
    let outside = plan.replicas.live().filter(|replica| *replica.meta.namespace != *plan.namespace);
    let own: Vec<&str> = outside.map(|replica| &*replica.name).collect();
    if !own.is_empty() {
        printer::warn(&format!(
            "replicas that install did not start still run, and may reserve again: {}",
            own.join(", ")
        ));
    }
}
