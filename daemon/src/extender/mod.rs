//! Extenders over HTTP, both ways: [`serve`] is what kube-scheduler asks us, [`ask`] what we ask those of our
//! configuration.
//!
//! Knows nothing of: how the answers are found; `extender_logic` does that.

pub(crate) mod ask;
pub(crate) mod bodies;
mod call;
pub(crate) mod replies;
pub(crate) mod serve;
#[cfg(test)]
mod tests;
pub(crate) mod tls;
mod victims;
