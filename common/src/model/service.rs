//! A service: which pods it selects, since those are spread by default.

use super::labels::Labels;
use super::object::Meta;

/// A service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its name, and what else identifies it.
    pub meta: Meta,
    /// The labels that a pod must have. Labels rather than a selector, because those of several services are merged key
    /// by key. Without any the service adds nothing to what pods are spread by, whether it selects none or all.
    pub selector: Labels,
}

impl Service {
    /// Whether a pod of its namespace with these labels belongs to it.
    pub fn selects(&self, labels: &Labels) -> bool {
        let mut wanted = self.selector.iter().peekable();
        wanted.peek().is_some() && wanted.all(|(key, value)| labels.get(key) == Some(value))
    }
}
