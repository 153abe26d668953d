//! The repository polices itself. Each rule is a pure function from files to violations (`path:line: what; what to do`),
//! applied to the repository by one test and to a bad snippet by another, so that each is known to be able to fail.
//!
//! - [`shape`]: headers, lengths of files and functions, plugin folders, open ends
//! - [`crates`]: which crate may depend on which, and the lints every crate takes part in
//! - [`rooms`]: which module may use which, inside `common` and `daemon`
//! - [`purity`]: what `common` must not know, and where the annotation names live
//! - [`names`]: words that are no part of a name, and one meaning for each
//! - [`map`]: the paths in ARCHITECTURE.md exist
//! - [`portable`]: nothing from one machine or network; the documented make targets exist
#![forbid(unsafe_code)]

mod crates;
mod files;
mod lexer;
mod map;
mod names;
mod portable;
mod purity;
mod rooms;
mod shape;
mod syntax;
