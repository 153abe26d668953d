//! Who somebody is.

use std::collections::BTreeMap;
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// Everybody who is somebody.
pub(super) const AUTHENTICATED: &str = "system:authenticated";

/// Those who may do everything, whoever is asked.
pub(super) const MASTERS: &str = "system:masters";

/// A user, as the cluster knows them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct User {
    pub(super) name: String,
    pub(super) uid: Option<String>,
    pub(super) groups: Vec<String>,
    pub(super) extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// Somebody who showed nothing.
    pub(super) fn anonymous() -> Self {
        let groups = vec!["system:unauthenticated".to_owned()];
        Self { name: "system:anonymous".to_owned(), uid: None, groups, extra: BTreeMap::new() }
    }

    /// Whom a certificate names: its common name is the user, its organizations are the groups.
    pub(super) fn of_certificate(der: &[u8]) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let subject = certificate.subject();
        let name = subject.iter_common_name().next()?.as_str().ok()?.to_owned();
        let groups = subject.iter_organization().filter_map(|group| group.as_str().ok());
        let groups = groups.map(str::to_owned).collect();
        (!name.is_empty()).then(|| Self { name, uid: None, groups, extra: BTreeMap::new() })
    }

    /// Whether it is known who they are.
    pub(super) fn is_authenticated(&self) -> bool {
        self.groups.iter().any(|group| group == AUTHENTICATED)
    }

    /// The same, known to be somebody.
    pub(super) fn authenticated(mut self) -> Self {
        if !self.is_authenticated() {
            self.groups.push(AUTHENTICATED.to_owned());
        }
        self
    }
}
