//! The container image of the daemon, made without a container engine: one static program in one layer, as an archive that
//! every engine and registry tool can load. `make image` calls [`build()`], then [`write()`].

mod archive;
mod program;

pub use archive::{ImageSummary, USER, write};
pub use program::{StaticProgram, build};
