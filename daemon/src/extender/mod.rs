//! Extenders over HTTP, in both directions: [`serve`] answers kube-scheduler, [`ask`] calls the extenders of our configuration.
//!
//! Must not know: how answers are decided; `extender_logic` and `scheduler` do that.

pub(crate) mod ask;
pub(crate) mod bodies;
mod call;
pub(crate) mod replies;
pub(crate) mod serve;
#[cfg(test)]
mod tests;
pub(crate) mod tls;
mod victims;
