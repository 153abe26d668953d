//! Those who do things: users, tenants, an autoscaler, writers of annotations, and people at the command.

use super::scenario::template;
use super::sim::{Action, Sim};
use common::api::names;
use common::cluster::{Enforcement, Terms as Made, enforcement, replacing};
use common::model::owner::Owner;
use common::model::pod::{Phase, Rare};
use common::model::reservation::Placement;
use common::model::{ControllerRef, Keep, Node, OwnerKind, Pod, PodKey, Workload};
use kubectl_reserve::flow::recreate::{Keeping, Terms, Until};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Something that somebody does.
type Deed = fn(&mut Sim);

/// How many bits `Scenario::deeds` has.
pub(super) const DEED_BITS: u32 = 27;
/// Some wish places to be kept for a second.
const BRIEF_KEEPS: u32 = 1 << 20;
/// Pods of `web` have a grace of years, and somebody deletes them by force some time later.
pub(super) const LONG_GRACES: u32 = 1 << 21;
/// Some pods belong to an owner of a kind that nobody reads.
pub(super) const UNREAD: u32 = 1 << 22;
/// Pods of `web` have many host ports: what is kept for them makes a long record.
pub(super) const PORTS: u32 = 1 << 23;
/// One of the two daemons is of a newer version: what it writes has fields that the other does not know.
pub(super) const TWO_VERSIONS: u32 = 1 << 24;
/// Policies of others refuse writes.
pub(super) const POLICIES: u32 = 1 << 25;
/// Ten years.
const LONG_GRACE: Duration = Duration::from_secs(315_360_000);

/// Everything that can be done, by its bit in `Scenario::deeds`; some more often than others. Recreating is always there.
const DEEDS: [(u32, Deed); 25] = [
    (0, Sim::recreate),
    (0, Sim::recreate),
    (0, Sim::recreate),
    (1 << 1, Sim::delete_some),
    (1 << 1, Sim::delete_some),
    (1 << 2, Sim::scale),
    (1 << 3, Sim::roll_out),
    (1 << 4, Sim::come_by_default),
    (1 << 5, Sim::come_preset),
    (1 << 6, Sim::forge),
    (1 << 7, Sim::annotate_foreign),
    (1 << 8, Sim::wipe),
    (1 << 9, Sim::annotate_garbage),
    (1 << 10, Sim::reserve_plainly),
    (1 << 11, Sim::cordon),
    (1 << 12, Sim::autoscale),
    (1 << 13, Sim::stop_command),
    (1 << 14, Sim::delete_owner),
    (1 << 15, Sim::come_important),
    (1 << 16, Sim::trouble_node),
    (1 << 18, Sim::extend_some),
    (1 << 19, Sim::add_some),
    (BRIEF_KEEPS, Sim::wish_briefly),
    (LONG_GRACES, Sim::delete_by_force),
    (1 << 26, Sim::forge_lease),
];

impl Sim {
    /// Somebody does something, and then somebody else.
    pub(super) fn act(&mut self) {
        if self.api.now >= self.scenario.quiet {
            return;
        }
        let (bit, deed) = DEEDS[self.rng.usize(0..DEEDS.len())];
        if self.scenario.deeds & bit == bit {
            deed(self);
        }
        let pause = self.millis(200..6_000);
        self.after(pause, Action::Act);
    }

    /// How long a pod has to end when it is deleted.
    pub(super) fn grace_of(&self, pod: &Pod) -> Duration {
        let is_long = self.scenario.deeds & LONG_GRACES != 0 && pod.labels.get("app") == Some("web");
        if is_long { LONG_GRACE } else { self.scenario.grace }
    }

    pub(super) fn some_pod(&mut self, is_fit: impl Fn(&Pod) -> bool) -> Option<Arc<Pod>> {
        let fit: Vec<&Arc<Pod>> = self.api.picture.pods.values().filter(|pod| is_fit(pod)).collect();
        if fit.is_empty() { None } else { Some(Arc::clone(fit[self.rng.usize(0..fit.len())])) }
    }

    pub(super) fn some_node(&mut self) -> Option<Arc<Node>> {
        let count = self.api.picture.nodes.len();
        let at = if count == 0 { 0 } else { self.rng.usize(0..count) };
        self.api.picture.nodes.values().nth(at).cloned()
    }

    pub(super) fn some_workload(&mut self, is_fit: impl Fn(&Workload) -> bool) -> Option<Workload> {
        let fit: Vec<&Workload> = self.api.workloads.values().filter(|one| is_fit(one)).collect();
        if fit.is_empty() { None } else { Some(fit[self.rng.usize(0..fit.len())].clone()) }
    }

    /// Somebody recreates a pod with the command.
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
        self.recreate_that(&pod);
    }

    pub(super) fn recreate_that(&mut self, pod: &Arc<Pod>) {
        let wall = self.api.wall();
        let enforcement = enforcement(self.api.replicas.values(), names::SCHEDULER_NAME, wall);
        let (Some(owner), Some(node), Enforcement::Scheduler) =
            (self.owner_of(pod), pod.node.clone(), enforcement)
        else {
            return;
        };
        let is_named = matches!(&*owner.kind, "StatefulSet" | "Pod");
        let is_bare = &*owner.kind == "Pod";
        let life = Duration::from_secs(if self.scenario.is_hasty {
            self.rng.u64(5..40)
        } else {
            self.rng.u64(90..300)
        });
        let placement = [Placement::Wait, Placement::Wait, Placement::Prefer, Placement::Require];
        let made = Made {
            now: wall,
            expires: wall + self.grace_of(pod) + life,
            life: Some(life),
            request: format!("cli-{}", self.api.number()).into(),
            by: "somebody".into(),
            reason: "a test".into(),
            placement: placement[self.rng.usize(0..placement.len())],
        };
        let Some(reservation) = replacing(pod, owner, made) else { return };
        let is_wish = self.scenario.deeds & 1 << 17 != 0 && self.one_in(4);
        let until = [Until::Ready, Until::Ready, Until::Ready, Until::Bound, Until::Deleted, Until::Evicted];
        let until = until[self.rng.usize(0..until.len())];
        let terms = Terms {
            uid: pod.uid.to_string(),
            same_name: is_named.then(|| pod.key.name.to_string()),
            node: node.to_string(),
            is_home: true,
            keeping: if is_wish { Keeping::Wish } else { Keeping::Reservation },
            seat: Some(reservation.id.to_string()),
            is_leaving: pod.deleting,
            is_gone: false,
            known: BTreeSet::from([pod.uid.to_string()]),
            is_enforced: true,
            creates: is_bare,
            until,
            is_required: false,
            timeout: Duration::from_secs(300),
        };
        self.run_command(pod, reservation, terms);
    }

    /// Whom a pod belongs to in truth.
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

    /// Somebody does not wait until the grace of a pod is over.
    fn delete_by_force(&mut self) {
        let Some(pod) = self.some_pod(|pod| pod.deleting) else { return };
        self.api.note(format_args!("somebody deletes {} by force", pod.key));
        self.api.remove_pod(&pod.uid);
    }

    /// Somebody wishes the places of a workload, or of one pod, to be kept for a second.
    fn wish_briefly(&mut self) {
        let keep = Keep::read("1s");
        if self.rng.bool()
            && let Some(workload) = self.some_workload(|one| &*one.name != "rival")
        {
            self.api.note(format_args!("{} {} wishes {keep:?}", workload.kind, workload.name));
            return self.api.put_workload(Workload { keep, ..workload });
        }
        let Some(pod) = self.some_pod(|pod| !pod.deleting && pod.is_counted()) else { return };
        self.api.note(format_args!("{} wishes {keep:?}", pod.key));
        let rare = Rare { keep, ..pod.rare.as_deref().cloned().unwrap_or_default() };
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
        self.api.put_workload(Workload { wanted: Some(wanted), ..workload });
        // The newest of its ReplicaSets has them.
        let is_below = |one: &&Workload| one.controller.as_ref().is_some_and(|above| above.uid == uid);
        let newest = self.api.workloads.values().filter(is_below).max_by_key(|one| one.resource_version);
        if let Some(set) = newest.cloned() {
            self.api.put_workload(Workload { wanted: Some(wanted), ..set });
        }
    }

    /// A Deployment gets a new ReplicaSet, and the old one none.
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
        let wanted = deployment.wanted.unwrap_or(0);
        let set = self.add_workload(OwnerKind::ReplicaSet, &name, wanted, Some(&deployment), None);
        self.scenario.templates.insert(set.uid, template);
        for set in old {
            self.api.put_workload(Workload { wanted: Some(0), ..set });
        }
    }

    fn come_by_default(&mut self) {
        let (size, name) = (self.rng.usize(0..3), format!("plain-{:x}", self.api.number()));
        self.make_pod(&template(size, "plain", 0, false), &name, None);
    }

    /// A pod that is made on its node, past any scheduler.
    fn come_preset(&mut self) {
        let Some(node) = self.some_node() else { return };
        let name = format!("preset-{:x}", self.api.number());
        let like = Pod { node: Some(node.name.clone()), ..template(0, "preset", 0, true) };
        self.make_pod(&like, &name, None);
    }

    /// A tenant claims what is not its own.
    fn forge(&mut self) {
        let Some(victim) = self.some_workload(|one| one.controller.is_some()) else { return };
        let name = format!("forged-{:x}", self.api.number());
        let valid = self.api.picture.nodes.values().flat_map(|node| node.reservations.iter());
        let stamp = valid.filter_map(|one| one.valid()).next().map(|one| one.id.to_string().into());
        let is_at_home = self.rng.bool();
        let claimed = if is_at_home { "no-such-set".into() } else { victim.name.clone() };
        let controller =
            ControllerRef { kind: Some(victim.kind), foreign: None, name: claimed, uid: victim.uid };
        let base = template(self.rng.usize(0..3), "web", 0, true);
        let namespace = if is_at_home { "shop" } else { "tenant" };
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

    /// A pod that is more important than most.
    fn come_important(&mut self) {
        let priority = [100, 2_000_000_000][self.rng.usize(0..2)];
        let (size, name) = (self.rng.usize(0..3), format!("vip-{:x}", self.api.number()));
        let mut like = template(size, "vip", priority, true);
        let mut spec = (*like.spec).clone();
        spec.preempts = self.rng.bool();
        like.spec = Arc::new(spec);
        self.make_pod(&like, &name, None);
    }

    /// The wish of an owner that its places be kept.
    pub(super) fn some_keep(&mut self) -> Option<Keep> {
        match self.rng.u32(0..4) {
            0 => Some(Keep::For { life: Duration::from_secs(60), by: None }),
            1 => Some(Keep::For { life: Duration::from_secs(600), by: None }),
            2 if self.rng.bool() => Some(Keep::Invalid("yes".into())),
            _ => None,
        }
    }
}
