//! Random activities of users, tenants, an autoscaler and other writers, and runs of the command.

use super::scenario::template;
use super::sim::{Action, Sim};
use common::api::names;
use common::cluster::{Enforcement, ReservationTerms, enforcement, replacement_reservation};
use common::model::owner::Owner;
use common::model::pod::{Phase, RareFields};
use common::model::reservation::Placement;
use common::model::{ControllerRef, Keep, Node, OwnerKind, Pod, PodKey, Workload};
use kubectl_reserve::flow::recreate::{KeepMethod, Terms, WaitFor};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Something that a user or another program does.
type Activity = fn(&mut Sim);

/// How many bits `Scenario::activities` has.
pub(super) const ACTIVITY_BITS: u32 = 27;
/// Users ask with `reserve/keep` for reservations of a second.
const BRIEF_KEEPS: u32 = 1 << 20;
/// Pods of `web` have a grace period of years, and users delete them by force some time later.
pub(super) const LONG_GRACES: u32 = 1 << 21;
/// Some pods belong to an owner of a kind that the daemons do not watch.
pub(super) const FOREIGN_OWNERS: u32 = 1 << 22;
/// Pods of `web` have many host ports, so that the records of their reservations are long.
pub(super) const PORTS: u32 = 1 << 23;
/// One of the two daemons has a newer version: its records have fields that the other does not know.
pub(super) const TWO_VERSIONS: u32 = 1 << 24;
/// Admission policies refuse writes.
pub(super) const POLICIES: u32 = 1 << 25;
/// Ten years.
const LONG_GRACE: Duration = Duration::from_secs(315_360_000);

/// All activities with their bit in `Scenario::activities`, the frequent ones several times. Recreating is always enabled.
const ACTIVITIES: [(u32, Activity); 25] = [
    (0, Sim::recreate),
    (0, Sim::recreate),
    (0, Sim::recreate),
    (1 << 1, Sim::delete_some),
    (1 << 1, Sim::delete_some),
    (1 << 2, Sim::scale),
    (1 << 3, Sim::roll_out),
    (1 << 4, Sim::add_default_pod),
    (1 << 5, Sim::add_preset_pod),
    (1 << 6, Sim::forge),
    (1 << 7, Sim::annotate_foreign),
    (1 << 8, Sim::wipe),
    (1 << 9, Sim::annotate_garbage),
    (1 << 10, Sim::reserve_plainly),
    (1 << 11, Sim::cordon),
    (1 << 12, Sim::autoscale),
    (1 << 13, Sim::stop_command),
    (1 << 14, Sim::delete_owner),
    (1 << 15, Sim::add_important_pod),
    (1 << 16, Sim::disturb_node),
    (1 << 18, Sim::extend_some),
    (1 << 19, Sim::add_some),
    (BRIEF_KEEPS, Sim::keep_briefly),
    (LONG_GRACES, Sim::delete_by_force),
    (1 << 26, Sim::forge_lease),
];

impl Sim {
    /// Does a random activity, and schedules the next one.
    pub(super) fn act(&mut self) {
        if self.api.now >= self.scenario.activity_end {
            return;
        }
        let (bit, activity) = ACTIVITIES[self.rng.usize(0..ACTIVITIES.len())];
        if self.scenario.activities & bit == bit {
            activity(self);
        }
        let pause = self.millis(200..6_000);
        self.after(pause, Action::Act);
    }

    /// The grace period of a pod.
    pub(super) fn grace_of(&self, pod: &Pod) -> Duration {
        let is_long = self.scenario.activities & LONG_GRACES != 0 && pod.labels.get("app") == Some("web");
        if is_long { LONG_GRACE } else { self.scenario.grace }
    }

    pub(super) fn some_pod(&mut self, is_fit: impl Fn(&Pod) -> bool) -> Option<Arc<Pod>> {
        let fit: Vec<&Arc<Pod>> = self.api.state.pods.values().filter(|pod| is_fit(pod)).collect();
        if fit.is_empty() { None } else { Some(Arc::clone(fit[self.rng.usize(0..fit.len())])) }
    }

    pub(super) fn some_node(&mut self) -> Option<Arc<Node>> {
        let count = self.api.state.nodes.len();
        let at = if count == 0 { 0 } else { self.rng.usize(0..count) };
        self.api.state.nodes.values().nth(at).cloned()
    }

    pub(super) fn some_workload(&mut self, is_fit: impl Fn(&Workload) -> bool) -> Option<Workload> {
        let fit: Vec<&Workload> = self.api.workloads.values().filter(|one| is_fit(one)).collect();
        if fit.is_empty() { None } else { Some(fit[self.rng.usize(0..fit.len())].clone()) }
    }

    /// A user recreates a random pod with the command.
    pub(super) fn recreate(&mut self) {
        if self.commands.iter().filter(|command| command.is_alive).count() >= 3 {
            return;
        }
        let is_fit = |pod: &Pod| {
            pod.is_counted()
                && pod.phase == Phase::Running
                && !pod.deleting
                && &*pod.spec.scheduler_name == names::SCHEDULER_NAME
                && pod.labels.get("app") != Some("rival")
        };
        let Some(pod) = self.some_pod(is_fit) else { return };
        self.recreate_pod(&pod);
    }

    pub(super) fn recreate_pod(&mut self, pod: &Arc<Pod>) {
        let wall = self.api.wall();
        let enforcement = enforcement(self.api.replicas.values(), names::SCHEDULER_NAME, wall);
        let (Some(owner), Some(node), Enforcement::Scheduler) =
            (self.owner_of(pod), pod.node.clone(), enforcement)
        else {
            return;
        };
        let is_named = matches!(&*owner.kind, "StatefulSet" | "Pod");
        let is_bare = &*owner.kind == "Pod";
        let life = Duration::from_secs(if self.scenario.has_short_reservations {
            self.rng.u64(5..40)
        } else {
            self.rng.u64(90..300)
        });
        let placement = [Placement::Wait, Placement::Wait, Placement::Prefer, Placement::Require];
        let made = ReservationTerms {
            now: wall,
            expires: wall + self.grace_of(pod) + life,
            life: Some(life),
            request: format!("cli-{}", self.api.number()).into(),
            by: "somebody".into(),
            reason: "a test".into(),
            placement: placement[self.rng.usize(0..placement.len())],
        };
        let Some(reservation) = replacement_reservation(pod, owner, made) else { return };
        let by_annotation = self.scenario.activities & 1 << 17 != 0 && self.one_in(4);
        let wait_for = [
            WaitFor::Ready,
            WaitFor::Ready,
            WaitFor::Ready,
            WaitFor::Bound,
            WaitFor::Deleted,
            WaitFor::Evicted,
        ];
        let wait_for = wait_for[self.rng.usize(0..wait_for.len())];
        let terms = Terms {
            uid: pod.uid.to_string(),
            same_name: is_named.then(|| pod.key.name.to_string()),
            node: node.to_string(),
            is_own_node: true,
            keep_method: if by_annotation { KeepMethod::KeepAnnotation } else { KeepMethod::Reservation },
            seat: Some(reservation.id.to_string()),
            is_leaving: pod.deleting,
            is_gone: false,
            known: BTreeSet::from([pod.uid.to_string()]),
            is_enforced: true,
            creates: is_bare,
            wait_for,
            is_required: false,
            timeout: Duration::from_secs(300),
        };
        self.run_command(pod, reservation, terms);
    }

    /// The real top owner of a pod.
    pub(super) fn owner_of(&self, pod: &Pod) -> Option<Owner> {
        if pod.controller.is_none() {
            let (namespace, name) = (pod.key.namespace.clone(), pod.key.name.clone());
            return Some(Owner { kind: "Pod".into(), namespace, name, uid: pod.uid.clone() });
        }
        let mut owner = self.api.workloads.get(&pod.controller.as_ref()?.uid)?;
        while let Some(above) = &owner.controller {
            owner = self.api.workloads.get(&above.uid)?;
        }
        Some(owner.owner())
    }

    fn delete_some(&mut self) {
        let Some(pod) = self.some_pod(|pod| !pod.deleting) else { return };
        self.api.note(format_args!("somebody deletes {}", pod.key));
        let _ = self.api.delete_pod(&pod.key, &pod.uid, self.grace_of(&pod));
    }

    /// A user deletes a terminating pod by force.
    fn delete_by_force(&mut self) {
        let Some(pod) = self.some_pod(|pod| pod.deleting) else { return };
        self.api.note(format_args!("somebody deletes {} by force", pod.key));
        self.api.remove_pod(&pod.uid);
    }

    /// A user sets `reserve/keep: 1s` on a workload or a pod.
    fn keep_briefly(&mut self) {
        let keep = Keep::read("1s");
        if self.rng.bool()
            && let Some(workload) = self.some_workload(|one| &*one.name != "rival")
        {
            self.api.note(format_args!("{} {} wishes {keep:?}", workload.kind, workload.name));
            return self.api.put_workload(Workload { keep, ..workload });
        }
        let Some(pod) = self.some_pod(|pod| !pod.deleting && pod.is_counted()) else { return };
        self.api.note(format_args!("{} wishes {keep:?}", pod.key));
        let rare = RareFields { keep, ..pod.rare.as_deref().cloned().unwrap_or_default() };
        self.api.put_pod(Pod { rare: Some(Box::new(rare)), ..Pod::clone(&pod) });
    }

    fn scale(&mut self) {
        let kinds = [OwnerKind::Deployment, OwnerKind::StatefulSet];
        let Some(workload) = self.some_workload(|one| kinds.contains(&one.kind)) else { return };
        let wanted = self.rng.u32(0..4);
        self.scale_to(workload, wanted);
    }

    pub(super) fn scale_to(&mut self, workload: Workload, wanted: u32) {
        self.api.note(format_args!("{} {} is to have {wanted}", workload.kind, workload.name));
        let uid = workload.uid.clone();
        self.api.put_workload(Workload { desired_pods: Some(wanted), ..workload });
        // The newest ReplicaSet of a Deployment has the pods.
        let is_below = |one: &&Workload| one.controller.as_ref().is_some_and(|above| above.uid == uid);
        let newest = self.api.workloads.values().filter(is_below).max_by_key(|one| one.resource_version);
        if let Some(set) = newest.cloned() {
            self.api.put_workload(Workload { desired_pods: Some(wanted), ..set });
        }
    }

    /// A Deployment gets a new ReplicaSet, and the old ones are scaled to 0.
    fn roll_out(&mut self) {
        let Some(deployment) = self.some_workload(|one| one.kind == OwnerKind::Deployment) else { return };
        let uid = deployment.uid.clone();
        let is_below = |one: &&Workload| one.controller.as_ref().is_some_and(|above| above.uid == uid);
        let old: Vec<Workload> = self.api.workloads.values().filter(is_below).cloned().collect();
        let Some(template) = old.first().and_then(|set| self.scenario.templates.get(&set.uid)).cloned()
        else {
            return;
        };
        let name = format!("{}-{:x}", deployment.name, self.api.number());
        let wanted = deployment.desired_pods.unwrap_or(0);
        let set = self.add_workload(OwnerKind::ReplicaSet, &name, wanted, Some(&deployment), None);
        self.scenario.templates.insert(set.uid, template);
        for set in old {
            self.api.put_workload(Workload { desired_pods: Some(0), ..set });
        }
    }

    fn add_default_pod(&mut self) {
        let (size, name) = (self.rng.usize(0..3), format!("plain-{:x}", self.api.number()));
        self.make_pod(&template(size, "plain", 0, false), &name, None);
    }

    /// Makes a pod with a node name, which no scheduler looks at.
    fn add_preset_pod(&mut self) {
        let Some(node) = self.some_node() else { return };
        let name = format!("preset-{:x}", self.api.number());
        let like = Pod { node: Some(node.name.clone()), ..template(0, "preset", 0, true) };
        self.make_pod(&like, &name, None);
    }

    /// A tenant makes a pod with a forged owner and a forged stamp.
    fn forge(&mut self) {
        let Some(victim) = self.some_workload(|one| one.controller.is_some()) else { return };
        let name = format!("forged-{:x}", self.api.number());
        let valid = self.api.state.nodes.values().flat_map(|node| node.reservations.iter());
        let stamp = valid.filter_map(|one| one.valid()).next().map(|one| one.id.to_string().into());
        let is_own_namespace = self.rng.bool();
        let claimed = if is_own_namespace { "no-such-set".into() } else { victim.name.clone() };
        let controller =
            ControllerRef { kind: Some(victim.kind), foreign: None, name: claimed, uid: victim.uid };
        let base = template(self.rng.usize(0..3), "web", 0, true);
        let namespace = if is_own_namespace { "shop" } else { "tenant" };
        let uid = self.api.uid();
        self.api.note(format_args!("forged: {namespace}/{name} {stamp:?}"));
        self.api.put_pod(Pod {
            key: PodKey::new(namespace, name.as_str()),
            uid,
            controller: Some(Arc::new(controller)),
            stamp,
            created: Some(self.api.wall().into()),
            ..base
        });
    }

    fn stop_command(&mut self) {
        let alive: Vec<usize> = (0..self.commands.len()).filter(|at| self.commands[*at].is_alive).collect();
        if alive.is_empty() {
            return;
        }
        let index = alive[self.rng.usize(0..alive.len())];
        if self.rng.bool() { self.kill(index) } else { self.interrupt(index) }
    }

    fn delete_owner(&mut self) {
        if self.one_in(3)
            && let Some(owner) = self.some_workload(|one| one.controller.is_none() && &*one.name != "rival")
        {
            self.api.remove_workload(&owner.uid);
        }
    }

    /// Makes a pod with a high priority.
    fn add_important_pod(&mut self) {
        let priority = [100, 2_000_000_000][self.rng.usize(0..2)];
        let (size, name) = (self.rng.usize(0..3), format!("vip-{:x}", self.api.number()));
        let mut like = template(size, "vip", priority, true);
        let mut spec = (*like.spec).clone();
        spec.preempts = self.rng.bool();
        like.spec = Arc::new(spec);
        self.make_pod(&like, &name, None);
    }

    /// A random value of `reserve/keep`.
    pub(super) fn some_keep(&mut self) -> Option<Keep> {
        match self.rng.u32(0..4) {
            0 => Some(Keep::For { life: Duration::from_secs(60), requester: None }),
            1 => Some(Keep::For { life: Duration::from_secs(600), requester: None }),
            2 if self.rng.bool() => Some(Keep::Invalid("yes".into())),
            _ => None,
        }
    }
}
