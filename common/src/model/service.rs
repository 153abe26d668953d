//! A Service: which pods it selects. kube-scheduler spreads pods of one Service by default.

use super::{Labels, ObjectMeta};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    pub meta: ObjectMeta,
    /// The labels that a pod must have. Labels rather than a selector, because the selectors of several Services are merged key by
    /// key. A Service without a selector adds nothing to this merge.
    pub selector: Labels,
}

impl Service {
    /// Whether it selects a pod of its namespace with these labels.
    pub fn selects(&self, labels: &Labels) -> bool {
        let mut required = self.selector.iter().peekable();
        required.peek().is_some() && required.all(|(key, value)| labels.get(key) == Some(value))
    }
}
