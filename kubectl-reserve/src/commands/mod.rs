//! One verb, one file.

mod explain;
mod list;

use crate::cli::{Cli, Command};
use crate::connect::connect;
use crate::error::Failure;

/// Does what was asked.
pub(crate) async fn run(cli: Cli) -> Result<(), Failure> {
    let session = connect(&cli.connection).await?;
    match cli.command {
        Command::List(args) => list::run(&args, &session).await,
        Command::Explain(args) => explain::run(&args, &session).await,
    }
}
