//! Values to text. Nothing here prints, reads or asks the time.

pub(crate) mod explain;
pub(crate) mod json;
pub(crate) mod list;
mod table;
mod time;
