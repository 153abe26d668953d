//! The user of a request.

use std::collections::BTreeMap;
use x509_parser::prelude::{FromDer as _, X509Certificate};

pub(super) const AUTHENTICATED: &str = "system:authenticated";

/// The group whose users may do everything, without a review.
pub(super) const MASTERS: &str = "system:masters";

/// A user, as in Kubernetes' UserInfo.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct User {
    pub(super) name: String,
    pub(super) uid: Option<String>,
    pub(super) groups: Vec<String>,
    pub(super) extra: BTreeMap<String, Vec<String>>,
}

impl User {
    pub(super) fn anonymous() -> Self {
        let groups = vec!["system:unauthenticated".to_owned()];
        Self { name: "system:anonymous".to_owned(), uid: None, groups, extra: BTreeMap::new() }
    }

    /// The user of a certificate: the common name is the user's name, the organizations are the groups.
    pub(super) fn of_certificate(der: &[u8]) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let subject = certificate.subject();
        let name = subject.iter_common_name().next()?.as_str().ok()?.to_owned();
        let groups = subject.iter_organization().filter_map(|group| group.as_str().ok());
        let groups = groups.map(str::to_owned).collect();
        (!name.is_empty()).then(|| Self { name, uid: None, groups, extra: BTreeMap::new() })
    }

    pub(super) fn is_authenticated(&self) -> bool {
        self.groups.iter().any(|group| group == AUTHENTICATED)
    }

    pub(super) fn authenticated(mut self) -> Self {
        if !self.is_authenticated() {
            self.groups.push(AUTHENTICATED.to_owned());
        }
        self
    }
}
