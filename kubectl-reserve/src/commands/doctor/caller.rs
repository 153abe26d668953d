//! Checks of the API server (version, clock), and of what the caller may do, verb by verb.

use super::machine::numbers;
use crate::api::{self, JSON};
use crate::connect::Session;
use crate::error::Failure;
use crate::render::doctor::Check;
use crate::rights::{self, Right};
use common::model::CatalogKind;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// The first version with ValidatingAdmissionPolicies.
const POLICIES: (u32, u32) = (1, 30);

/// The largest difference of clocks without a warning. Reservations expire by the server's clock alone.
const SKEW_MAX: SignedDuration = SignedDuration::from_secs(10);

/// The version of the server, and its time.
pub(super) struct Server {
    pub(super) version: String,
    pub(super) at: Option<Timestamp>,
}

pub(super) async fn ask(session: &Session) -> Result<Server, Failure> {
    let answer = api::get(session, "/version", JSON).await;
    let answer =
        answer.map_err(|error| error.into_failure("ask for the server's version", "get /version"))?;
    let json: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    let version = json.get("gitVersion").and_then(Value::as_str).unwrap_or("<unknown>").to_owned();
    Ok(Server { version, at: answer.at })
}

/// The checks of the server. `here` is this machine's time when the server answered.
pub(super) fn server(server: &Server, here: Timestamp) -> Vec<Check> {
    let version = &server.version;
    let mut checks = vec![match numbers(version) {
        Some(numbers) if numbers < POLICIES => Check::warn(
            "server",
            format!("{version} does not enforce policies: whoever may patch nodes can reserve and release"),
            "upgrade to Kubernetes 1.30 or newer",
        ),
        _ => Check::ok("server", version.clone()),
    }];
    let Some(at) = server.at else { return checks };
    let skew = here.duration_since(at);
    checks.push(if skew.abs() > SKEW_MAX {
        let (seconds, way) = (skew.abs().as_secs(), if skew.is_negative() { "behind" } else { "ahead of" });
        Check::warn(
            "clock",
            format!("this machine is {seconds} s {way} the server; reservations end by the server's clock"),
            "set the clock, best by NTP",
        )
    } else {
        Check::ok("clock", "as the server's")
    });
    checks
}

/// Verbs that need the same rights, these rights, and the ClusterRole that has them.
struct VerbGroup {
    verbs: &'static str,
    rights: Vec<Right>,
    role: &'static str,
}

fn groups(namespace: &str) -> Vec<VerbGroup> {
    let everywhere = |verb: &str, resource: &str| Right::new(verb, "", resource, None);
    let look = vec![everywhere("list", "nodes"), everywhere("list", "pods")];
    let mut explain = look.clone();
    for kind in common::model::owner::OwnerKind::ALL {
        explain.push(Right::new("list", kind.group(), kind.plural(), None));
    }
    let others = CatalogKind::ALL.into_iter().filter(|kind| *kind != CatalogKind::ResourceQuota);
    for kind in others {
        explain.push(Right::new("list", kind.group(), kind.plural(), None));
    }
    let mut reserve = ["get", "patch"].map(|verb| everywhere(verb, "nodes")).to_vec();
    reserve.push(everywhere("update", "nodes/reservations"));
    let mut recreate = ["get", "list"].map(|verb| Right::new(verb, "", "pods", Some(namespace))).to_vec();
    recreate.push(Right::new("create", "", "pods/eviction", Some(namespace)));
    vec![
        VerbGroup { verbs: "list, describe, nodes, status", rights: look, role: "reserve-viewer" },
        VerbGroup { verbs: "explain, fit", rights: explain, role: "reserve-viewer" },
        VerbGroup { verbs: "add, release, extend, drain", rights: reserve, role: "reserve-operator" },
        VerbGroup { verbs: "pod, restart", rights: recreate, role: "reserve-operator" },
    ]
}

pub(super) async fn rights(session: &Session) -> Result<Vec<Check>, Failure> {
    let mut checks = Vec::new();
    for group in groups(&session.namespace) {
        checks.push(rights_check(&group, &rights::missing(session, &group.rights).await?));
    }
    Ok(checks)
}

fn rights_check(group: &VerbGroup, missing: &[Right]) -> Check {
    let VerbGroup { verbs, role, .. } = group;
    if missing.is_empty() {
        return Check::ok("rights", format!("you may {verbs}"));
    }
    Check::warn(
        "rights",
        format!("not enough for {verbs}: needs {}", rights::rules(missing).join("; ")),
        format!("ask an administrator for the ClusterRole {role}"),
    )
}

#[cfg(test)]
mod tests {
    use super::{Server, groups, rights_check, server};
    use crate::render::doctor::Level;

    #[test]
    fn what_is_missing_is_said_as_a_rule() {
        let groups = groups("shop");
        assert!(groups.iter().all(|group| rights_check(group, &[]).level == Level::Ok));
        let check = rights_check(&groups[3], &groups[3].rights[2..]);
        assert_eq!(check.level, Level::Warn);
        assert_eq!(check.message, "not enough for pod, restart: needs create pods/eviction (namespace shop)");
    }

    #[test]
    fn old_servers_and_wrong_clocks_are_told() {
        let at = "2026-11-16T08:10:00Z".parse().unwrap();
        let levels = |version: &str, here: &str| {
            let found = Server { version: version.into(), at: Some(at) };
            let checks = server(&found, here.parse().unwrap());
            checks.iter().map(|check| check.level).collect::<Vec<_>>()
        };
        assert_eq!(levels("v1.37.1", "2026-11-16T08:10:01Z"), [Level::Ok, Level::Ok]);
        assert_eq!(levels("v1.29.3", "2026-11-16T08:09:00Z"), [Level::Warn, Level::Warn]);
    }
}
