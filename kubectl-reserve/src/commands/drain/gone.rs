//! The end of a drain: waits until the pods are gone, as `kubectl drain` does. Until then the node must not be switched off.

use crate::api::ApiError;
use crate::commands::Context;
use crate::error::{Exit, Failure};
use crate::reader::{self, PODS, PodView};
use crate::render::plural;
use crate::ui::progress::ProgressFallback;
use common::model::Uid;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

/// The pause between two lists.
const PAUSE: Duration = Duration::from_secs(1);

/// After so many lists in a row without an answer the drain fails.
const LOST_MAX: u32 = 5;

/// The number of pods that a message names.
const NAMED_MAX: usize = 5;

/// Waits until none of the pods in `leaving` is on the node any more. After a timeout the error says how to go on: with `again`.
pub(super) async fn wait(
    context: &Context,
    node: &str,
    leaving: &BTreeSet<Uid>,
    deadline: Option<Instant>,
    again: &str,
) -> Result<(), Failure> {
    let (mut progress, mut said, mut lost) = (None, String::new(), 0);
    loop {
        let mut left = match reader::pods(&context.session, PODS, &reader::on_node(node)).await {
            Ok(pods) => pods,
            Err(ApiError::Broken(_)) if lost < LOST_MAX => {
                lost += 1;
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            Err(error) => return Err(error.into_failure("list pods", "list pods (cluster scope)")),
        };
        lost = 0;
        left.retain(|pod| leaving.contains(&pod.uid));
        if left.is_empty() {
            return Ok(());
        }
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Err(timed_out(node, &left, again));
        }
        let text = format!("waiting for {} to terminate: {}", plural(left.len(), "pod"), named(&left));
        if text != said {
            let shown = progress.get_or_insert_with(|| context.ui.spinner(&text, ProgressFallback::Lines));
            if !said.is_empty() {
                shown.message(&text);
            }
            said = text;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn timed_out(node: &str, left: &[PodView], again: &str) -> Failure {
    let count = plural(left.len(), "pod");
    Failure::new(format!("timed out: {count} on {node} did not terminate yet: {}", named(left)))
        .hint(format!("go on waiting with: {again}"))
        .exit(Exit::TimedOut)
}

/// The names of the pods, with the finalizers that hold them.
fn named(pods: &[PodView]) -> String {
    let name = |pod: &PodView| match &pod.finalizers[..] {
        [] => pod.key.to_string(),
        finalizers => format!("{} (finalizers {})", pod.key, finalizers.join(", ")),
    };
    let mut names: Vec<String> = pods.iter().take(NAMED_MAX).map(name).collect();
    names.extend((pods.len() > NAMED_MAX).then(|| format!("and {} more", pods.len() - NAMED_MAX)));
    names.join(", ")
}
