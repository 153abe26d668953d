//! DefaultBinder: binds every pod, by a Binding that the daemon writes.

#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::cluster::PodContext;
use crate::config::PluginArgs;
use crate::framework::{Bind, Plugin};
use std::sync::Arc;

/// The plugin.
pub struct DefaultBinder;

/// The plugin, for each of its extension points.
pub(super) fn kit(_args: &PluginArgs) -> Kit {
    Kit { bind: Some(Arc::new(DefaultBinder)), ..Kit::default() }
}

impl Plugin for DefaultBinder {
    fn name(&self) -> &'static str {
        "DefaultBinder"
    }
}

impl Bind for DefaultBinder {
    fn binds(&self, _pod_context: &PodContext<'_>) -> bool {
        true
    }
}
