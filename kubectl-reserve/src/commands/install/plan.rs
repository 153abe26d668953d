//! The plan of an installation: each object as it exists and as it will be, and the objects of a former version to remove.

use crate::api::ApiError;
use crate::connect::Session;
use crate::error::Failure;
use crate::manifests::{KINDS, Object, difference};
use crate::objects;
use crate::render::plural;
use crate::rights::Right;
use crate::ui::printer;
use serde_json::Value;
use std::collections::BTreeSet;

/// What happens to an object, in the words of kubectl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Created,
    Configured,
    Unchanged,
}

/// One object to apply, and the existing one.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) object: Object,
    pub(super) live: Option<Value>,
}

/// All objects to apply and to remove.
#[derive(Debug)]
pub(super) struct InstallPlan {
    pub(super) steps: Vec<Step>,
    /// Objects of a former version that this version does not have.
    pub(super) pruned: Vec<Object>,
}

impl Change {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Configured => "configured",
            Self::Unchanged => "unchanged",
        }
    }

    /// The change between two states of an object. Field managers and versions are ignored.
    pub(super) fn of(before: Option<&Value>, after: &Value) -> Self {
        let Some(before) = before else { return Self::Created };
        let content = |json: &Value| {
            let mut json = json.clone();
            if let Some(meta) = json.get_mut("metadata").and_then(Value::as_object_mut) {
                meta.retain(|key, _| {
                    !matches!(key.as_str(), "managedFields" | "resourceVersion" | "generation")
                });
            }
            // The daemon renews its Lease meanwhile, and controllers write the status.
            let is_lease = json["kind"] == "Lease";
            if let Some(object) = json.as_object_mut() {
                object.retain(|key, _| key != "status" && !(is_lease && key == "spec"));
            }
            json
        };
        if content(before) == content(after) { Self::Unchanged } else { Self::Configured }
    }
}

impl Step {
    /// The change that applying the object would make, without asking the server.
    pub(super) fn change(&self) -> Change {
        match &self.live {
            None => Change::Created,
            Some(live) if difference(&self.object.json, live).is_some() => Change::Configured,
            Some(_) => Change::Unchanged,
        }
    }

    /// Whether the server can check the object by a dry run: not before its namespace exists.
    pub(super) fn can_be_checked(&self, has_namespace: bool) -> bool {
        has_namespace || self.object.namespace.is_none()
    }
}

impl InstallPlan {
    /// The step for the only object of a kind.
    pub(super) fn step(&self, kind: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.object.kind.kind == kind)
    }

    pub(super) fn has_namespace(&self) -> bool {
        self.step("Namespace").is_some_and(|step| step.live.is_some())
    }

    /// Whether the daemon is installed already.
    pub(super) fn is_upgrade(&self) -> bool {
        self.step("Deployment").is_some_and(|step| step.live.is_some())
    }

    /// The old and the new image, if they differ.
    pub(super) fn images(&self) -> Option<(String, String)> {
        let step = self.step("Deployment")?;
        let image = |json: &Value| {
            json.pointer("/spec/template/spec/containers/0/image").and_then(Value::as_str).map(str::to_owned)
        };
        let (old, new) = (image(step.live.as_ref()?)?, image(&step.object.json)?);
        (old != new).then_some((old, new))
    }

    pub(super) fn is_done(&self) -> bool {
        self.pruned.is_empty() && self.steps.iter().all(|step| step.change() == Change::Unchanged)
    }

    /// The numbers of objects to create, change and remove, in one line.
    pub(super) fn summary(&self) -> String {
        let count = |change| self.steps.iter().filter(|step| step.change() == change).count();
        let (new, changed, same) =
            (count(Change::Created), count(Change::Configured), count(Change::Unchanged));
        let parts = [
            (new, "to create"),
            (changed, "to change"),
            (self.pruned.len(), "of a former version to remove"),
            (same, "unchanged"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        parts
            .map(|(count, what)| format!("{} {what}", plural(*count, "object")))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// The rights that an installation needs.
pub(super) fn rights(objects: &[Object]) -> Vec<Right> {
    let mut rights = BTreeSet::new();
    for object in objects {
        for verb in ["get", "create", "patch"] {
            let Object { kind, namespace, .. } = object;
            rights.insert(Right::new(verb, kind.group, kind.plural, namespace.as_deref()));
        }
    }
    rights.into_iter().collect()
}

/// Reads the existing objects of `wanted`, and the other objects with our label.
pub(super) async fn read(session: &Session, wanted: Vec<Object>) -> Result<InstallPlan, Failure> {
    let mut steps = Vec::new();
    for object in wanted {
        let live = objects::find(session, &object).await.map_err(|error| cannot_read(error, &object))?;
        steps.push(Step { object, live });
    }
    let mut pruned = Vec::new();
    let mut hidden = Vec::new();
    for (index, namespace) in places(&steps) {
        let kind = KINDS[index];
        match objects::labelled(session, kind, namespace.as_deref()).await {
            Ok(found) => pruned.extend(found.into_iter().filter(|one| is_left(one, &steps))),
            Err(error) if error.code() == Some(403) => hidden.push(kind.resource()),
            Err(error) => return Err(error.into_failure("look for former versions", &kind.resource())),
        }
    }
    if !hidden.is_empty() {
        printer::warn(&format!("cannot list {}: what a former version left there stays", hidden.join(", ")));
    }
    Ok(InstallPlan { steps, pruned })
}

/// Where to look for objects of a former version: the index of the kind in `KINDS`, and the namespace. Namespaces are not removed.
fn places(steps: &[Step]) -> BTreeSet<(usize, Option<String>)> {
    let own: BTreeSet<Option<String>> = steps.iter().map(|step| step.object.namespace.clone()).collect();
    let namespaced = own.iter().filter(|namespace| namespace.is_some());
    let kinds = KINDS.iter().enumerate().filter(|(_, kind)| kind.kind != "Namespace");
    let (inside, outside): (Vec<_>, Vec<_>) = kinds.partition(|(_, kind)| kind.is_namespaced);
    let mut places: BTreeSet<_> = outside.iter().map(|(index, _)| (*index, None)).collect();
    for namespace in namespaced {
        places.extend(inside.iter().map(|(index, _)| (*index, namespace.clone())));
    }
    places
}

fn is_left(found: &Object, steps: &[Step]) -> bool {
    !steps.iter().any(|step| step.object.is_same(found))
}

fn cannot_read(error: ApiError, object: &Object) -> Failure {
    let resource = object.kind.resource();
    error.into_failure(&format!("read {}", object.word()), &format!("get {resource}"))
}

#[cfg(test)]
mod tests {
    use super::{Change, InstallPlan, Step, is_left, places, rights};
    use crate::manifests::{InstallOptions, KINDS, objects};
    use serde_json::json;

    fn steps() -> Vec<Step> {
        let choice = InstallOptions { image: None, namespace: "kube-reserve".into(), is_extender: false };
        objects(&choice).unwrap().into_iter().map(|object| Step { object, live: None }).collect()
    }

    #[test]
    fn who_wrote_is_no_change_and_a_renewed_lease_is_none_either() {
        let before = json!({ "kind": "Lease", "metadata": { "name": "x", "resourceVersion": "1" }, "spec": { "a": 1 } });
        let after =
            json!({ "kind": "Lease", "metadata": { "name": "x", "managedFields": [] }, "spec": { "a": 2 } });
        assert_eq!(Change::of(Some(&before), &after), Change::Unchanged);
        assert_eq!(Change::of(None, &after), Change::Created);
        let labelled = json!({ "kind": "Lease", "metadata": { "name": "x", "labels": { "a": "b" } }, "spec": { "a": 1 } });
        assert_eq!(Change::of(Some(&before), &labelled), Change::Configured);
        let (one, two) = (json!({ "kind": "Role", "rules": [1] }), json!({ "kind": "Role", "rules": [2] }));
        assert_eq!(Change::of(Some(&one), &two), Change::Configured);
    }

    #[test]
    fn a_former_version_is_looked_for_where_objects_of_ours_are() {
        let steps = steps();
        let places = places(&steps);
        assert!(places.iter().all(|(index, _)| KINDS[*index].kind != "Namespace"));
        assert!(places.iter().any(|(_, namespace)| namespace.as_deref() == Some("kube-system")));
        let mut old = steps.last().unwrap().object.clone();
        assert!(!is_left(&old, &steps));
        old.name = "former".into();
        assert!(is_left(&old, &steps));
    }

    #[test]
    fn every_kind_must_be_allowed() {
        let objects: Vec<_> = steps().into_iter().map(|step| step.object).collect();
        let rights = rights(&objects);
        for object in &objects {
            let is_its = |right: &&crate::rights::Right| right.resource == object.kind.plural;
            assert_eq!(
                rights.iter().filter(is_its).filter(|right| right.namespace == object.namespace).count(),
                3
            );
        }
    }

    #[test]
    fn another_image_is_noticed() {
        let mut steps = steps();
        let deployment = steps.last_mut().unwrap();
        let mut live = deployment.object.json.clone();
        live["spec"]["template"]["spec"]["containers"][0]["image"] = "example.com/old:1".into();
        deployment.live = Some(live);
        assert_eq!(deployment.change(), Change::Configured);
        let plan = InstallPlan { steps, pruned: vec![] };
        assert_eq!(plan.images().unwrap().0, "example.com/old:1");
        assert!(plan.is_upgrade() && !plan.has_namespace());
        assert_eq!(plan.summary(), "40 objects to create, 1 object to change");
    }
}
