//! Checks whether the installed objects are as this version installs them: the daemon, roles, policies, and each rule of a policy.

use crate::connect::Session;
use crate::manifests::{Object, difference};
use crate::objects;
use crate::render::doctor::Check;
use serde_json::Value;

/// An object that this version installs, and its state in the cluster.
#[derive(Debug)]
pub(super) struct InstalledObject {
    pub(super) object: Object,
    pub(super) live: LiveState,
}

/// The state of an object in the cluster.
#[derive(Debug, PartialEq)]
pub(super) enum LiveState {
    Found(Box<Value>),
    Missing,
    /// The caller may not read it.
    Hidden,
    /// It could not be read, for this reason.
    Unknown(String),
}

const CURE: &str = "kubectl reserve install";

pub(super) async fn look(session: &Session, wanted: Vec<Object>) -> Vec<InstalledObject> {
    let mut all = Vec::new();
    for object in wanted {
        let live = match objects::find(session, &object).await {
            Ok(Some(live)) => LiveState::Found(Box::new(live)),
            Ok(None) => LiveState::Missing,
            Err(error) if error.code() == Some(403) => LiveState::Hidden,
            Err(error) => LiveState::Unknown(error.into_failure("read", "get").message.unwrap_or_default()),
        };
        all.push(InstalledObject { object, live });
    }
    all
}

/// The checks of the objects. `is_live`: whether a replica of the daemon runs, however it was started.
pub(super) fn checks(seen: &[InstalledObject], namespace: &str, is_live: bool) -> Vec<Check> {
    const NAME: &str = "installation";
    // A namespace of that name alone is no installation, and others may have made it.
    let is_part =
        |one: &&InstalledObject| GROUPS.iter().any(|(.., kinds)| kinds.contains(&one.object.kind.kind));
    if seen.iter().filter(is_part).all(|one| one.live == LiveState::Missing) {
        let message = format!("the daemon is not installed in namespace {namespace}");
        return vec![match is_live {
            true => Check::note(NAME, format!("{message}; the replica that runs was started in another way")),
            false => Check::warn(NAME, message, CURE),
        }];
    }
    let mut checks = Vec::new();
    for (name, what, kinds) in GROUPS {
        let group: Vec<&InstalledObject> =
            seen.iter().filter(|one| kinds.contains(&one.object.kind.kind)).collect();
        checks.extend(group_checks(name, what, &group));
    }
    checks
}

/// The groups of checks: the name, what the objects are in words, and their kinds.
const GROUPS: [(&str, &str, &[&str]); 3] = [
    ("daemon", "Deployment and account", &["Deployment", "ServiceAccount"]),
    ("roles", "roles and bindings", &["ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding"]),
    (
        "policies",
        "policies and their bindings",
        &["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"],
    ),
];

fn group_checks(name: &'static str, what: &str, group: &[&InstalledObject]) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut hidden = Vec::new();
    for one in group {
        let word = one.object.word();
        match &one.live {
            LiveState::Missing => {
                checks.push(Check::fail(name, format!("{word} is missing{}", meaning(&one.object)), CURE))
            }
            LiveState::Unknown(why) => checks.push(Check::warn(name, format!("{word}: {why}"), "try again")),
            LiveState::Hidden => hidden.push(one.object.kind.resource()),
            LiveState::Found(live) => checks.extend(problem(name, &one.object, live)),
        }
    }
    hidden.dedup();
    if !hidden.is_empty() {
        let message = format!("not checked: needs get {} (cluster scope)", hidden.join(", "));
        checks.push(Check::note(name, message));
    }
    if checks.is_empty() {
        checks.push(Check::ok(name, format!("{what} are as this version wants them")));
    }
    checks
}

/// The consequence if a policy is missing, in words.
fn meaning(object: &Object) -> &'static str {
    match object.name.as_str() {
        "reserve-writers" => ": whoever may patch nodes, kubelets too, can reserve and release",
        "reserve-values" => ": malformed reservations are not refused",
        "reserve-daemon-confinement" => ": the daemon's token could change anything about nodes",
        "reserve-daemon-pod-status" => ": the daemon's token could change the status of any pod",
        "reserve-daemon-preemption" => ": the daemon's token could delete any pod",
        "reserve-daemon-binding" => ": the daemon's token could label and annotate any pod that it binds",
        "reserve-daemon-volumes" => ": the daemon's token could change any PersistentVolume",
        "reserve-daemon-claims" => ": the daemon's token could change any PersistentVolumeClaim",
        "reserve-fence" => ": a replica that no longer leads is not kept from binding",
        _ => "",
    }
}

fn problem(name: &'static str, object: &Object, live: &Value) -> Option<Check> {
    let word = object.word();
    match object.kind.kind {
        // Administrators may change its image, arguments and number of replicas.
        "Deployment" => None,
        "ValidatingAdmissionPolicy" => {
            let off = rules_off(&object.json, live);
            if off.is_empty() {
                return differs(name, object, live);
            }
            Some(Check::fail(name, format!("{word} has rules off: {}", off.join("; ")), CURE))
        }
        "ValidatingAdmissionPolicyBinding" if !denies(live) => {
            Some(Check::fail(name, format!("{word} does not deny: its policy refuses nothing"), CURE))
        }
        _ => differs(name, object, live),
    }
}

fn differs(name: &'static str, object: &Object, live: &Value) -> Option<Check> {
    // Metadata is not compared: it does not change what the object does.
    let mut wanted = object.json.clone();
    if let Some(fields) = wanted.as_object_mut() {
        fields.retain(|key, _| !matches!(key.as_str(), "metadata" | "apiVersion" | "kind"));
    }
    let place = difference(&wanted, live)?;
    Some(Check::warn(name, format!("{} is not as this version wants it, at {place}", object.word()), CURE))
}

/// The messages of the policy's rules that are missing or changed in the cluster.
fn rules_off(wanted: &Value, live: &Value) -> Vec<String> {
    let rules = |policy: &Value| {
        policy.pointer("/spec/validations").and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let live = rules(live);
    let is_off = |rule: &&Value| !live.iter().any(|one| one["expression"] == rule["expression"]);
    let words = |rule: &Value| {
        let message = rule.get("message").or_else(|| rule.get("messageExpression"));
        message.and_then(Value::as_str).unwrap_or("a rule without words").to_owned()
    };
    rules(wanted).iter().filter(is_off).map(words).collect()
}

fn denies(binding: &Value) -> bool {
    let actions = binding.pointer("/spec/validationActions").and_then(Value::as_array);
    actions.into_iter().flatten().any(|action| action == "Deny")
}

/// Whether the installed daemon is configured as kube-scheduler's extender.
pub(super) fn is_extender(seen: &[InstalledObject]) -> bool {
    let deployment = seen.iter().find(|one| one.object.kind.kind == "Deployment");
    let Some(InstalledObject { live: LiveState::Found(live), .. }) = deployment else { return false };
    let args = live.pointer("/spec/template/spec/containers/0/args").and_then(Value::as_array);
    args.into_iter().flatten().filter_map(Value::as_str).any(|arg| arg.starts_with("--extender-address"))
}

#[cfg(test)]
mod tests {
    use super::{InstalledObject, LiveState, checks, is_extender};
    use crate::manifests::{InstallOptions, objects};
    use crate::render::doctor::Level;
    use serde_json::json;

    fn seen() -> Vec<InstalledObject> {
        let choice = InstallOptions { image: None, namespace: "kube-reserve".into(), is_extender: false };
        let found = |object: crate::manifests::Object| {
            let live = LiveState::Found(Box::new(object.json.clone()));
            InstalledObject { object, live }
        };
        objects(&choice).unwrap().into_iter().map(found).collect()
    }

    fn told(seen: &[InstalledObject]) -> Vec<(Level, String)> {
        checks(seen, "kube-reserve", false).into_iter().map(|check| (check.level, check.message)).collect()
    }

    fn one<'s>(seen: &'s mut [InstalledObject], kind: &str, name: &str) -> &'s mut InstalledObject {
        seen.iter_mut().find(|one| one.object.kind.kind == kind && one.object.name == name).unwrap()
    }

    #[test]
    fn what_is_as_it_should_be_is_three_lines() {
        let seen = seen();
        assert!(told(&seen).iter().all(|(level, _)| *level == Level::Ok) && told(&seen).len() == 3);
        assert!(!is_extender(&seen));
    }

    #[test]
    fn without_an_installation_there_is_one_line() {
        let mut seen = seen();
        seen.iter_mut().for_each(|one| one.live = LiveState::Missing);
        assert_eq!(
            told(&seen),
            [(Level::Warn, "the daemon is not installed in namespace kube-reserve".into())]
        );
        // As in the sandbox: nothing but the namespace, where a daemon runs.
        let namespace = one(&mut seen, "Namespace", "kube-reserve");
        namespace.live = LiveState::Found(Box::new(json!({})));
        assert_eq!(told(&seen).len(), 1);
        let started_otherwise = checks(&seen, "kube-reserve", true);
        assert_eq!(
            (started_otherwise.len(), started_otherwise[0].level),
            (1, Level::Note),
            "nothing to cure"
        );
        seen.iter_mut().for_each(|one| one.live = LiveState::Hidden);
        assert!(
            told(&seen)
                .iter()
                .all(|(level, message)| *level == Level::Note && message.starts_with("not checked"))
        );
    }

    #[test]
    fn a_policy_that_is_gone_weakened_or_not_bound_fails() {
        let policy = "ValidatingAdmissionPolicy";
        let mut gone = seen();
        one(&mut gone, policy, "reserve-writers").live = LiveState::Missing;
        assert!(
            told(&gone)
                .iter()
                .any(|(level, message)| *level == Level::Fail && message.contains("is missing"))
        );
        let mut weak = seen();
        let values = one(&mut weak, policy, "reserve-values");
        let mut live = values.object.json.clone();
        live["spec"]["validations"].as_array_mut().unwrap().remove(3);
        values.live = LiveState::Found(Box::new(live));
        let told_weak = told(&weak);
        let off = told_weak.iter().find(|(level, _)| *level == Level::Fail).unwrap();
        assert!(off.1.ends_with("has rules off: reserve.info has more than 4 KiB"), "{}", off.1);
        let mut audit = seen();
        let binding = one(&mut audit, "ValidatingAdmissionPolicyBinding", "reserve-fence");
        let mut live = binding.object.json.clone();
        live["spec"]["validationActions"] = json!(["Audit"]);
        binding.live = LiveState::Found(Box::new(live));
        assert!(
            told(&audit)
                .iter()
                .any(|(level, message)| *level == Level::Fail && message.contains("does not deny"))
        );
    }

    #[test]
    fn another_role_is_told_with_its_place() {
        let mut seen = seen();
        let role = one(&mut seen, "ClusterRole", "reserve-daemon");
        let mut live = role.object.json.clone();
        live["rules"][1]["verbs"] = json!(["list"]);
        role.live = LiveState::Found(Box::new(live));
        let told = told(&seen);
        let (level, message) = told.iter().find(|(level, _)| *level != Level::Ok).unwrap();
        assert_eq!(*level, Level::Warn);
        assert!(message.ends_with("at rules[1].verbs"), "{message}");
    }
}
