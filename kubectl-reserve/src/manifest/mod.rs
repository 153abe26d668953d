//! Pods out of manifests that were not applied: as the API server would store them if they were created now.

mod read;
mod template;
#[cfg(test)]
mod tests;

pub(crate) use read::read;
pub(crate) use template::{Wanted, wanted};
