//! Extenders over HTTP, both ways: [`serve`] is what kube-scheduler asks us.
//!
//! Knows nothing of: what the answers are made of; that is the desk's affair.

pub(crate) mod replies;
pub(crate) mod serve;
#[cfg(test)]
mod tests;
pub(crate) mod tls;
