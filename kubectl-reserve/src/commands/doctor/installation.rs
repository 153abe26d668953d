//! Whether what is installed is what this version installs: rights, policies, and which of their rules are off.

use crate::connect::Session;
use crate::manifests::{Object, difference};
use crate::objects;
use crate::render::doctor::Check;
use serde_json::Value;

/// An object that should be there.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) object: Object,
    pub(super) live: Live,
}

/// What is there of it.
#[derive(Debug, PartialEq)]
pub(super) enum Live {
    Found(Box<Value>),
    Missing,
    /// The caller may not look.
    Hidden,
    /// The server did not say.
    Unknown(String),
}

const CURE: &str = "kubectl reserve install";

/// Looks for each object.
pub(super) async fn look(session: &Session, wanted: Vec<Object>) -> Vec<Seen> {
    let mut all = Vec::new();
    for object in wanted {
        let live = match objects::find(session, &object).await {
            Ok(Some(live)) => Live::Found(Box::new(live)),
            Ok(None) => Live::Missing,
            Err(error) if error.code() == Some(403) => Live::Hidden,
            Err(error) => Live::Unknown(error.into_failure("read", "get").message.unwrap_or_default()),
        };
        all.push(Seen { object, live });
    }
    all
}

/// What follows.
pub(super) fn checks(seen: &[Seen], namespace: &str) -> Vec<Check> {
    let is_found = |one: &Seen| matches!(one.live, Live::Found(_));
    let is_hidden = |one: &Seen| one.live == Live::Hidden;
    if !seen.iter().any(is_found) && !seen.iter().any(is_hidden) {
        let message = format!("the daemon is not installed in namespace {namespace}");
        return vec![Check::warn("installation", message, CURE)];
    }
    let mut checks = Vec::new();
    for (name, what, kinds) in GROUPS {
        let group: Vec<&Seen> = seen.iter().filter(|one| kinds.contains(&one.object.kind.kind)).collect();
        checks.extend(judged(name, what, &group));
    }
    checks
}

/// What is looked at: the check, what it is in words, and the kinds.
const GROUPS: [(&str, &str, &[&str]); 3] = [
    ("daemon", "Deployment and account", &["Deployment", "ServiceAccount"]),
    ("roles", "roles and bindings", &["ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding"]),
    (
        "policies",
        "policies and their bindings",
        &["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"],
    ),
];

fn judged(name: &'static str, what: &str, group: &[&Seen]) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut hidden = Vec::new();
    for one in group {
        let word = one.object.word();
        match &one.live {
            Live::Missing => {
                checks.push(Check::fail(name, format!("{word} is missing{}", meaning(&one.object)), CURE))
            }
            Live::Unknown(why) => checks.push(Check::warn(name, format!("{word}: {why}"), "try again")),
            Live::Hidden => hidden.push(one.object.kind.resource()),
            Live::Found(live) => checks.extend(problem(name, &one.object, live)),
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

/// What it means when a policy is not there.
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
        // Its image, its arguments and how many there are is for whoever runs it to say.
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
    // Labels say whose it is, not what it does.
    let mut wanted = object.json.clone();
    if let Some(fields) = wanted.as_object_mut() {
        fields.retain(|key, _| !matches!(key.as_str(), "metadata" | "apiVersion" | "kind"));
    }
    let place = difference(&wanted, live)?;
    Some(Check::warn(name, format!("{} is not as this version wants it, at {place}", object.word()), CURE))
}

/// The rules of a policy that are not there as they should be, in their own words.
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

/// Whether the daemon that is installed is told to answer kube-scheduler.
pub(super) fn is_extender(seen: &[Seen]) -> bool {
    let deployment = seen.iter().find(|one| one.object.kind.kind == "Deployment");
    let Some(Seen { live: Live::Found(live), .. }) = deployment else { return false };
    let args = live.pointer("/spec/template/spec/containers/0/args").and_then(Value::as_array);
    args.into_iter().flatten().filter_map(Value::as_str).any(|arg| arg.starts_with("--extender-address"))
}

/// Whether a daemon is installed here.
pub(super) fn is_installed(seen: &[Seen]) -> bool {
    seen.iter().any(|one| one.object.kind.kind == "Deployment" && matches!(one.live, Live::Found(_)))
}

#[cfg(test)]
mod tests {
    use super::{Live, Seen, checks, is_extender, is_installed};
    use crate::manifests::{Choice, objects};
    use crate::render::doctor::Level;
    use serde_json::json;

    fn seen() -> Vec<Seen> {
        let choice = Choice { image: None, namespace: "kube-reserve".into(), is_extender: false };
        let found = |object: crate::manifests::Object| {
            let live = Live::Found(Box::new(object.json.clone()));
            Seen { object, live }
        };
        objects(&choice).unwrap().into_iter().map(found).collect()
    }

    fn told(seen: &[Seen]) -> Vec<(Level, String)> {
        checks(seen, "kube-reserve").into_iter().map(|check| (check.level, check.message)).collect()
    }

    fn one<'s>(seen: &'s mut [Seen], kind: &str, name: &str) -> &'s mut Seen {
        seen.iter_mut().find(|one| one.object.kind.kind == kind && one.object.name == name).unwrap()
    }

    #[test]
    fn what_is_as_it_should_be_is_three_lines() {
        let seen = seen();
        assert!(told(&seen).iter().all(|(level, _)| *level == Level::Ok) && told(&seen).len() == 3);
        assert!(is_installed(&seen) && !is_extender(&seen));
    }

    #[test]
    fn without_an_installation_there_is_one_line() {
        let mut seen = seen();
        seen.iter_mut().for_each(|one| one.live = Live::Missing);
        assert_eq!(
            told(&seen),
            [(Level::Warn, "the daemon is not installed in namespace kube-reserve".into())]
        );
        seen.iter_mut().for_each(|one| one.live = Live::Hidden);
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
        one(&mut gone, policy, "reserve-writers").live = Live::Missing;
        assert!(
            told(&gone)
                .iter()
                .any(|(level, message)| *level == Level::Fail && message.contains("is missing"))
        );
        let mut weak = seen();
        let values = one(&mut weak, policy, "reserve-values");
        let mut live = values.object.json.clone();
        live["spec"]["validations"].as_array_mut().unwrap().remove(3);
        values.live = Live::Found(Box::new(live));
        let told_weak = told(&weak);
        let off = told_weak.iter().find(|(level, _)| *level == Level::Fail).unwrap();
        assert!(off.1.ends_with("has rules off: reserve.info has more than 4 KiB"), "{}", off.1);
        let mut audit = seen();
        let binding = one(&mut audit, "ValidatingAdmissionPolicyBinding", "reserve-fence");
        let mut live = binding.object.json.clone();
        live["spec"]["validationActions"] = json!(["Audit"]);
        binding.live = Live::Found(Box::new(live));
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
        role.live = Live::Found(Box::new(live));
        let told = told(&seen);
        let (level, message) = told.iter().find(|(level, _)| *level != Level::Ok).unwrap();
        assert_eq!(*level, Level::Warn);
        assert!(message.ends_with("at rules[1].verbs"), "{message}");
    }
}
