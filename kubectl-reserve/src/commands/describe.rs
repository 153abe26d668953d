//! `kubectl reserve describe`.

use super::Context;
use crate::cli::Describe;
use crate::error::Failure;

pub(crate) async fn run(_args: &Describe, _context: &Context) -> Result<(), Failure> {
    Err(Failure::new("not yet"))
}
