//! Asks the API server once, at the start, which rights the daemon has, and logs those that are missing.

use super::{Right, RightScope, rights};
use crate::effects::{Outcome, call};
use k8s_openapi::api::authorization::v1::{ResourceRule, SelfSubjectRulesReview, SelfSubjectRulesReviewSpec};
use kube::api::PostParams;
use kube::{Api, Client};

/// Resources that are needed to make or release reservations. Without rights for them, reservations are only enforced.
const RESERVING: [&str; 3] = ["nodes", "nodes/reservations", "leases"];

/// Logs which rights are missing. Returns whether the daemon can only enforce reservations and not make them. `own` is the
/// daemon's namespace.
pub async fn log_missing(client: Client, own: &str) -> bool {
    let Some(rules) = granted_rules(client, own).await else { return false };
    let missing = missing(&rules);
    if missing.is_empty() {
        return false;
    }
    let words: Vec<String> = missing.iter().map(|(right, verb)| description(right, verb)).collect();
    tracing::warn!("some rights are missing, see manifests/daemon/rbac.yaml: {}", words.join("; "));
    let is_restricted = missing.iter().any(|(right, _)| RESERVING.contains(&right.resource));
    if is_restricted {
        tracing::warn!("reservations are honoured, but none is made, acknowledged or released");
    }
    is_restricted
}

fn description(right: &Right, verb: &str) -> String {
    format!("{verb} {} ({})", right.resource, right.purpose)
}

/// The rules for the daemon's own user; `None` if the API server cannot list all of them.
async fn granted_rules(client: Client, own: &str) -> Option<Vec<ResourceRule>> {
    let spec = SelfSubjectRulesReviewSpec { namespace: Some(own.to_owned()) };
    let review = SelfSubjectRulesReview { spec, ..SelfSubjectRulesReview::default() };
    let reviews: Api<SelfSubjectRulesReview> = Api::all(client);
    match call(reviews.create(&PostParams::default(), &review)).await {
        Outcome::Done(review) => {
            review.status.filter(|status| !status.incomplete).map(|status| status.resource_rules)
        }
        Outcome::Refused(_) | Outcome::Unknown(_) => None,
    }
}

/// Each verb of a right that no rule allows. Rights by roles that every cluster has, or that users may add, are not checked.
fn missing(rules: &[ResourceRule]) -> Vec<(Right, &'static str)> {
    let wanted = rights()
        .into_iter()
        .filter(|right| matches!(right.scope, RightScope::Cluster | RightScope::OwnNamespace));
    let verbs = wanted.flat_map(|right| right.verbs.iter().map(move |verb| (right, *verb)));
    verbs.filter(|(right, verb)| !rules.iter().any(|rule| allows(rule, right, verb))).collect()
}

/// Whether the rule allows the verb for objects of any name.
fn allows(rule: &ResourceRule, right: &Right, verb: &str) -> bool {
    let has = |words: &[String], word: &str| words.iter().any(|one| one == "*" || one == word);
    let groups = rule.api_groups.as_deref().unwrap_or_default();
    let resources = rule.resources.as_deref().unwrap_or_default();
    let every = right
        .resource
        .split_once('/')
        .is_some_and(|(_, sub)| resources.iter().any(|one| *one == format!("*/{sub}")));
    let is_for_some = rule.resource_names.as_ref().is_some_and(|names| !names.is_empty());
    !is_for_some
        && has(&rule.verbs, verb)
        && has(groups, right.group)
        && (every || has(resources, right.resource))
}

#[cfg(test)]
mod tests {
    use super::{description, missing};
    use crate::rights::{RightScope, rights};
    use k8s_openapi::api::authorization::v1::ResourceRule;

    fn rule(group: &str, resource: &str, verbs: &[&str]) -> ResourceRule {
        ResourceRule {
            api_groups: Some(vec![group.to_owned()]),
            resources: Some(vec![resource.to_owned()]),
            verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
            resource_names: None,
        }
    }

    fn words(rules: &[ResourceRule]) -> Vec<String> {
        missing(rules).iter().map(|(right, verb)| description(right, verb)).collect()
    }

    #[test]
    fn whoever_has_all_of_them_or_may_do_anything_lacks_nothing() {
        let wanted = rights()
            .into_iter()
            .filter(|right| matches!(right.scope, RightScope::Cluster | RightScope::OwnNamespace));
        let all: Vec<ResourceRule> =
            wanted.map(|right| rule(right.group, right.resource, right.verbs)).collect();
        assert_eq!(words(&all), Vec::<String>::new());
        assert_eq!(words(&[rule("*", "*", &["*"])]), Vec::<String>::new());
        let is_binding = |rule: &ResourceRule| rule.resources == Some(vec!["pods/binding".to_owned()]);
        let without: Vec<ResourceRule> = all.into_iter().filter(|rule| !is_binding(rule)).collect();
        assert_eq!(words(&without), ["create pods/binding (place a pod)"]);
        let every = rule("", "*/binding", &["create"]);
        assert_eq!(words(&[without, vec![every]].concat()), Vec::<String>::new());
    }

    #[test]
    fn a_rule_for_one_name_is_no_right() {
        let mut leases = rule("coordination.k8s.io", "leases", &["*"]);
        let wanted = "update leases (election, and what each replica has seen)".to_owned();
        assert!(!words(std::slice::from_ref(&leases)).contains(&wanted));
        leases.resource_names = Some(vec!["kube-scheduler".to_owned()]);
        assert!(words(&[leases]).contains(&wanted));
        assert!(words(&[]).contains(&wanted));
    }
}
