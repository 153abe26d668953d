//! DefaultBinder: binds every pod, by a Binding that the daemon writes.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::PodContext;
use crate::framework::{Bind, Plugin};
use crate::model::ExtensionPoint;
use std::sync::Arc;

pub struct DefaultBinder;

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in("DefaultBinder", &[ExtensionPoint::Bind], || Implementations {
        bind: Some(Arc::new(DefaultBinder)),
        ..Implementations::default()
    })
    .upstream()
    .by_default(0)
}

impl Plugin for DefaultBinder {
    fn name(&self) -> &'static str {
        "DefaultBinder"
    }
}

impl Bind for DefaultBinder {
    fn binds(&self, _context: &PodContext<'_>) -> bool {
        true
    }
}
