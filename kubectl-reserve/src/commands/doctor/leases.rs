//! Checks for Leases outside of the daemon's namespaces that look like those of replicas. All programs ignore them.

use crate::api::{self, METADATA};
use crate::connect::Session;
use crate::error::Failure;
use crate::reader::readable;
use crate::render::doctor::Check;
use crate::replicas::{LEASES, selector};
use common::api::names;
use common::api::replica::DaemonNamespaces;

/// The maximum number of Leases that are named.
const NAMED_MAX: usize = 5;

const NAME: &str = "leases";

/// The namespace and name of a Lease.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lease {
    pub(super) namespace: String,
    pub(super) name: String,
}

/// The Leases of all namespaces with the label and the name prefix of replicas; `None` if the caller may not list Leases.
pub(super) async fn look(session: &Session) -> Result<Option<Vec<Lease>>, Failure> {
    let mut found = Vec::new();
    let each = |json: &str| {
        let super::ObjectWire { metadata } = serde_json::from_str(json).map_err(|error| error.to_string())?;
        if metadata.name.starts_with(names::REPLICA_PREFIX) {
            found.push(Lease { namespace: metadata.namespace, name: metadata.name });
        }
        Ok(())
    };
    let listed = api::list(session, &format!("{LEASES}/leases"), &selector(), METADATA, each).await;
    let listed = readable(listed);
    let listed =
        listed.map_err(|error| error.into_failure("list leases", "list leases.coordination.k8s.io"))?;
    Ok(listed.map(|_| found))
}

pub(super) fn checks(found: Option<Vec<Lease>>, daemon: &DaemonNamespaces) -> Vec<Check> {
    let Some(mut found) = found else {
        let message = "Leases of other namespaces were not checked: needs list leases.coordination.k8s.io (cluster scope)";
        return vec![Check::note(NAME, message)];
    };
    found.retain(|lease| !daemon.includes(&lease.namespace));
    found.sort();
    let own = daemon.words();
    if found.is_empty() {
        return vec![Check::ok(NAME, format!("no Lease outside of {own} looks like that of a replica"))];
    }
    let mut checks: Vec<Check> = found.iter().take(NAMED_MAX).map(|lease| ignored(lease, &own)).collect();
    if found.len() > NAMED_MAX {
        let message = format!("{} more Leases like these are ignored", found.len() - NAMED_MAX);
        let cure = format!("kubectl get leases -A -l {}={}", names::APP_LABEL, names::APP);
        checks.push(Check::warn(NAME, message, cure));
    }
    checks
}

fn ignored(Lease { namespace, name }: &Lease, own: &str) -> Check {
    Check::warn(
        NAME,
        format!(
            "Lease {name} in namespace {namespace} looks like that of a replica. It is ignored, because the daemon's \
             namespaces are {own}. Somebody who may write Leases in {namespace} may have forged it"
        ),
        format!(
            "kubectl -n {namespace} delete lease {name}; if a daemon runs there: --daemon-namespace {namespace}"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::{Lease, checks};
    use crate::render::doctor::Level;
    use common::api::replica::DaemonNamespaces;

    fn lease(namespace: &str, name: &str) -> Lease {
        Lease { namespace: namespace.into(), name: name.into() }
    }

    #[test]
    fn a_lease_that_a_tenant_may_have_forged_is_named() {
        let usual = DaemonNamespaces::default();
        let own = || vec![lease("kube-reserve", "reserve-a"), lease("kube-system", "reserve-b")];
        assert_eq!(checks(Some(own()), &usual)[0].level, Level::Ok);
        let mut found = own();
        found.push(lease("shop", "reserve-evil"));
        let told = checks(Some(found), &usual);
        assert_eq!((told.len(), told[0].level), (1, Level::Warn));
        for wanted in ["reserve-evil in namespace shop", "is ignored", "forged"] {
            assert!(told[0].message.contains(wanted), "{told:?}");
        }
        // With another `--daemon-namespace` the Leases in the default namespaces are ignored, too.
        assert_eq!(checks(Some(own()), &DaemonNamespaces::only("ours")).len(), 2);
        let many = (0..9).map(|number| lease("shop", &format!("reserve-{number}"))).collect();
        let told = checks(Some(many), &usual);
        assert_eq!(told.len(), 6);
        assert!(told[5].message.starts_with("4 more Leases"), "{told:?}");
        let unseen = checks(None, &usual);
        assert_eq!(unseen[0].level, Level::Note);
        assert!(unseen[0].message.contains("not checked"), "{unseen:?}");
    }
}
