//! After a node was chosen: may the pod be bound there now, and who is told of it?

use super::NoFit;
use crate::cluster::{Ledger, PodContext, Snapshot};
use crate::framework::{
    Cure, NodeTrace, Permission, PostFiltered, Reason, Registry, Rejection, Status, Trace,
};
use crate::model::ExtensionPoint;
use crate::model::{NodeName, Pod};
use smallvec::smallvec;
use std::time::Duration;

/// No plugin may keep a pod waiting for longer, as upstream.
const WAIT_MAX: Duration = Duration::from_secs(15 * 60);

/// Whether a pod may be bound to the node that was chosen for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Clearance {
    /// It may.
    Granted,
    /// A plugin does not let it.
    Denied(Box<NoFit>),
    /// These plugins want it to wait, each at most this long. What was noted for it stays noted.
    Waits(Vec<(&'static str, Duration)>),
    /// A plugin could not do what has to be done before.
    Unready(Box<NoFit>),
    /// No plugin binds it.
    NobodyBinds,
}

/// Asks the plugins after a node was chosen, in the order in which a pod meets them, up to the binding itself. Unless it
/// is granted, or has to wait, what was noted when the node was chosen is taken back.
pub fn clear(pod: &Pod, node: &NodeName, world: &Snapshot<'_>, registry: &Registry) -> Clearance {
    let pod_context = world.pod_context(pod);
    // A node that has gone takes its pods along; whoever binds there will be told.
    let Some(ledger) = world.find(node).and_then(|id| world.ledger(id)) else { return Clearance::Granted };
    let clearance = ask(&pod_context, ledger, registry);
    if !matches!(clearance, Clearance::Granted | Clearance::Waits(_)) {
        take_back(&pod_context, ledger, registry);
    }
    clearance
}

fn ask(pod_context: &PodContext<'_>, ledger: &Ledger, registry: &Registry) -> Clearance {
    let begun = registry.begin();
    let leave = permit(pod_context, ledger, registry);
    let status = match &leave {
        Clearance::Granted => Status::Success,
        Clearance::Waits(_) => Status::Wait,
        _ => Status::Unschedulable,
    };
    registry.passed(ExtensionPoint::Permit, status, begun);
    if leave != Clearance::Granted {
        return leave;
    }
    let begun = registry.begin();
    let ready = pre_bind(pod_context, ledger, registry);
    if !registry.pre_binds.is_empty() {
        registry.passed(ExtensionPoint::PreBind, Status::of(&ready), begun);
    }
    if let Err(rejection) = ready {
        return Clearance::Unready(Box::new(rejected(ledger, rejection)));
    }
    // A registry without any says nothing about bindings.
    if !registry.binds.is_empty() && !registry.binds.iter().any(|plugin| plugin.binds(pod_context)) {
        return Clearance::NobodyBinds;
    }
    Clearance::Granted
}

fn permit(pod_context: &PodContext<'_>, ledger: &Ledger, registry: &Registry) -> Clearance {
    // One that says no goes before those that want to wait.
    let mut waits = Vec::new();
    for plugin in &registry.permits {
        let begun = registry.begin();
        let permission = plugin.permit(pod_context, ledger);
        let status = match &permission {
            Permission::Granted => Status::Success,
            Permission::Wait(_) => Status::Wait,
            Permission::Denied(rejection) => Status::of_rejection(rejection),
        };
        registry.asked(plugin.name(), ExtensionPoint::Permit, status, begun);
        match permission {
            Permission::Granted => {}
            Permission::Denied(rejection) => return Clearance::Denied(Box::new(rejected(ledger, rejection))),
            Permission::Wait(at_most) => waits.push((plugin.name(), at_most.min(WAIT_MAX))),
        }
    }
    if waits.is_empty() { Clearance::Granted } else { Clearance::Waits(waits) }
}

fn pre_bind(pod_context: &PodContext<'_>, ledger: &Ledger, registry: &Registry) -> Result<(), Rejection> {
    for plugin in &registry.pre_binds {
        let begun = registry.begin();
        let ready = plugin.pre_bind(pod_context, ledger);
        registry.asked(plugin.name(), ExtensionPoint::PreBind, Status::of(&ready), begun);
        ready?;
    }
    Ok(())
}

/// Tells the plugins that the pod was bound to `node`.
pub fn bound(pod: &Pod, node: &NodeName, world: &Snapshot<'_>, registry: &Registry) {
    let Some(ledger) = world.find(node).and_then(|id| world.ledger(id)) else { return };
    let (pod_context, all) = (world.pod_context(pod), registry.begin());
    for plugin in &registry.post_binds {
        let begun = registry.begin();
        plugin.post_bind(&pod_context, ledger);
        registry.asked(plugin.name(), ExtensionPoint::PostBind, Status::Success, begun);
    }
    registry.passed(ExtensionPoint::PostBind, Status::Success, all);
}

/// What a scheduler says when `plugin` refuses a pod that has waited for its leave on `node`, in these words.
pub fn denied(node: &NodeName, plugin: &'static str, words: String, world: &Snapshot<'_>) -> NoFit {
    let rejection = Rejection::new(plugin, Reason::said(words, Cure::Node));
    let ids = world.find(node).into_iter();
    let nodes = ids.map(|id| NodeTrace { id, rejections: smallvec![rejection.clone()] }).collect();
    NoFit { trace: Trace { nodes, ..Trace::default() }, help: PostFiltered::default() }
}

/// Tells the plugins that the pod was not bound to `node` after all.
pub fn not_bound(pod: &Pod, node: &NodeName, world: &Snapshot<'_>, registry: &Registry) {
    let Some(ledger) = world.find(node).and_then(|id| world.ledger(id)) else { return };
    take_back(&world.pod_context(pod), ledger, registry);
}

/// The last that took note is told first.
pub(super) fn take_back(pod_context: &PodContext<'_>, ledger: &Ledger, registry: &Registry) {
    let begun = registry.begin();
    registry.reserves.iter().rev().for_each(|plugin| plugin.unreserve(pod_context, ledger));
    registry.passed(ExtensionPoint::Unreserve, Status::Success, begun);
}

/// What a scheduler says when the node that was chosen will not do after all.
pub(super) fn rejected(ledger: &Ledger, rejection: Rejection) -> NoFit {
    let node = NodeTrace { id: ledger.id, rejections: smallvec![rejection] };
    NoFit { trace: Trace { nodes: vec![node], ..Trace::default() }, help: PostFiltered::default() }
}
