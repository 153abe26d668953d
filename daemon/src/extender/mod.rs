//! Extenders over HTTP, both ways: [`serve`] is what kube-scheduler asks us, [`ask`] what we ask those of our
//! configuration.
//!
//! Knows nothing of: what the answers are made of; that is the extender_logic's affair.

pub(crate) mod ask;
pub(crate) mod bodies;
mod call;
pub(crate) mod replies;
pub(crate) mod serve;
#[cfg(test)]
mod tests;
pub(crate) mod tls;
mod victims;
