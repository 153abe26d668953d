//! Runs the extension points after a node was chosen. Order: [`decide_binding`] (Permit, PreBind, Bind); then [`run_post_bind`]
//! when the pod was bound, or [`run_unreserve`] when it was not. The binding itself is written by the daemon.

use super::NoFit;
use crate::cluster::{Ledger, PodContext, Snapshot};
use crate::framework::{
    Diagnosis, NodeDiagnosis, Permission, PostFilterResult, Reason, Registry, Rejection, Status,
};
use crate::model::{Claims, ExtensionPoint, NodeName, ObjectWrite, Pod};
use smallvec::smallvec;
use std::time::Duration;

/// The longest wait that a Permit plugin may ask for, as in kube-scheduler.
const WAIT_MAX: Duration = Duration::from_secs(15 * 60);

/// Whether a pod may be bound to the node that was chosen for it.
#[derive(Clone, Debug, PartialEq)]
pub enum BindingDecision {
    Granted,
    Denied(Box<NoFit>),
    /// These Permit plugins let the pod wait, each at most this long. What Reserve chose for the pod stays chosen.
    Waits(Vec<(&'static str, Duration)>),
    PreBindFailed(Box<NoFit>),
    NoBindPlugin,
}

/// Runs Permit and PreBind, and checks that a Bind plugin accepts the pod. Unless the result is `Granted` or `Waits`, Unreserve
/// runs too.
pub fn decide_binding(
    pod: &Pod,
    node: &NodeName,
    world: &Snapshot<'_>,
    registry: &Registry,
) -> BindingDecision {
    let context = world.context(pod);
    // The node is gone, and its pods are deleted with it: no plugin is asked, and the binding reports what happened.
    let Some(ledger) = world.find(node).and_then(|id| world.ledger(id)) else {
        return BindingDecision::Granted;
    };
    let decision = run_plugins(&context, ledger, registry);
    if !matches!(decision, BindingDecision::Granted | BindingDecision::Waits(_)) {
        unreserve(&context, ledger, registry);
    }
    decision
}

fn run_plugins(context: &PodContext<'_>, ledger: &Ledger, registry: &Registry) -> BindingDecision {
    let start = registry.start_timer();
    let permitted = permit(context, ledger, registry);
    let status = match &permitted {
        BindingDecision::Granted => Status::Success,
        BindingDecision::Waits(_) => Status::Wait,
        _ => Status::Unschedulable,
    };
    registry.record_extension_point(ExtensionPoint::Permit, status, start);
    if permitted != BindingDecision::Granted {
        return permitted;
    }
    let start = registry.start_timer();
    let prepared = pre_bind(context, ledger, registry);
    if !registry.pre_binds.is_empty() {
        registry.record_extension_point(ExtensionPoint::PreBind, Status::of(&prepared), start);
    }
    if let Err(rejection) = prepared {
        return BindingDecision::PreBindFailed(Box::new(no_fit_on(ledger, rejection)));
    }
    // A registry without Bind plugins lets every pod be bound.
    if !registry.binds.is_empty() && !registry.binds.iter().any(|plugin| plugin.binds(context)) {
        return BindingDecision::NoBindPlugin;
    }
    BindingDecision::Granted
}

fn permit(context: &PodContext<'_>, ledger: &Ledger, registry: &Registry) -> BindingDecision {
    // A plugin that denies overrides plugins that wait.
    let mut waits = Vec::new();
    for plugin in &registry.permits {
        let start = registry.start_timer();
        let permission = plugin.permit(context, ledger);
        let status = match &permission {
            Permission::Granted => Status::Success,
            Permission::Wait(_) => Status::Wait,
            Permission::Denied(rejection) => Status::of_rejection(rejection),
        };
        registry.record_plugin(plugin.name(), ExtensionPoint::Permit, status, start);
        match permission {
            Permission::Granted => {}
            Permission::Denied(rejection) => {
                return BindingDecision::Denied(Box::new(no_fit_on(ledger, rejection)));
            }
            Permission::Wait(at_most) => waits.push((plugin.name(), at_most.min(WAIT_MAX))),
        }
    }
    if waits.is_empty() { BindingDecision::Granted } else { BindingDecision::Waits(waits) }
}

fn pre_bind(context: &PodContext<'_>, ledger: &Ledger, registry: &Registry) -> Result<(), Rejection> {
    for plugin in &registry.pre_binds {
        let start = registry.start_timer();
        let prepared = plugin.pre_bind(context, ledger);
        registry.record_plugin(plugin.name(), ExtensionPoint::PreBind, Status::of(&prepared), start);
        prepared?;
    }
    Ok(())
}

/// Runs PostBind: the pod was bound to `node`.
pub fn run_post_bind(pod: &Pod, node: &NodeName, world: &Snapshot<'_>, registry: &Registry) {
    let Some(ledger) = world.find(node).and_then(|id| world.ledger(id)) else { return };
    let (context, all) = (world.context(pod), registry.start_timer());
    for plugin in &registry.post_binds {
        let start = registry.start_timer();
        plugin.post_bind(&context, ledger);
        registry.record_plugin(plugin.name(), ExtensionPoint::PostBind, Status::Success, start);
    }
    registry.record_extension_point(ExtensionPoint::PostBind, Status::Success, all);
}

/// The result for a pod that waited in Permit for `node` and was denied by `plugin` with this message.
pub fn denied_by_permit(
    node: &NodeName,
    plugin: &'static str,
    message: String,
    world: &Snapshot<'_>,
) -> NoFit {
    let rejection = Rejection::new(plugin, Reason::message(message));
    let ids = world.find(node).into_iter();
    let nodes = ids.map(|id| NodeDiagnosis { id, rejections: smallvec![rejection.clone()] }).collect();
    NoFit { diagnosis: Diagnosis { nodes, ..Diagnosis::default() }, post_filter: PostFilterResult::default() }
}

/// Runs Unreserve: the pod was not bound to `node`. Returns the writes that give its claims back.
pub fn run_unreserve(
    pod: &Pod,
    node: &NodeName,
    claims: &Claims,
    world: &Snapshot<'_>,
    registry: &Registry,
) -> Vec<ObjectWrite> {
    if let Some(ledger) = world.find(node).and_then(|id| world.ledger(id)) {
        unreserve(&world.context(pod), ledger, registry);
    }
    registry.reserves.iter().rev().flat_map(|plugin| plugin.release_claims(claims, node, world)).collect()
}

/// Runs Unreserve, in reverse order.
pub(super) fn unreserve(context: &PodContext<'_>, ledger: &Ledger, registry: &Registry) {
    let start = registry.start_timer();
    registry.reserves.iter().rev().for_each(|plugin| plugin.unreserve(context, ledger));
    registry.record_extension_point(ExtensionPoint::Unreserve, Status::Success, start);
}

/// The result for a pod that was rejected on the chosen node.
pub(super) fn no_fit_on(ledger: &Ledger, rejection: Rejection) -> NoFit {
    let node = NodeDiagnosis { id: ledger.id, rejections: smallvec![rejection] };
    NoFit {
        diagnosis: Diagnosis { nodes: vec![node], ..Diagnosis::default() },
        post_filter: PostFilterResult::default(),
    }
}
