//! A cluster in this process, with the daemon in it, and the story that `kubectl reserve demo` tells there. The only room of
//! the command that knows the sandbox and the daemon.
//!
//! `cluster` is the cluster, `objects` what is in it. `story` is what is told, as data; `stage` tells it: the command's own
//! verbs are run as they are typed, and `kubectl` stands in for the few of kubectl's that are typed besides. `kubeconfig` is the
//! file by which real kubectl finds the cluster of `kubectl reserve sandbox`.

pub(crate) mod cluster;
pub(crate) mod kubeconfig;
mod kubectl;
pub(crate) mod objects;
mod stage;
mod story;

#[cfg(test)]
mod tests;

use crate::error::Failure;
use crate::ui::Ui;

/// Tells the story. `is_paced` gives a reader time.
pub(crate) async fn tell(ui: Ui, is_paced: bool) -> Result<(), Failure> {
    stage::tell(story::STORY, ui, is_paced).await
}
