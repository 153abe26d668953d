//! The container image of the daemon, made without a container engine: one static program in one layer, as an archive that
//! every engine and registry tool takes. `make image` runs it.

mod archive;
mod program;

pub use archive::{Made, USER, write};
pub use program::{Built, build};
