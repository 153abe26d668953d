//! What can be said about a pod before any node is looked at, why workloads have no pods at all, and how many pods wait
//! for the same. Plain functions: what was read in, sentences out.

#![expect(dead_code, unused_imports, reason = "explain comes next")]

mod bound;
mod fold;
mod level;
mod storage;
mod surge;
#[cfg(test)]
mod tests;
mod unmade;

pub(crate) use fold::{Cause, Causes, fold};
pub(crate) use level::{View, last_try, level};
pub(crate) use surge::deadlock;
pub(crate) use unmade::{Unmade, unmade};
