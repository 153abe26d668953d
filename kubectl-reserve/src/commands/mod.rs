//! One verb, one file.

mod explain;
mod list;

use crate::cli::{Cli, Command};
use crate::connect::connect;
use crate::error::Failure;
use crate::printer;
use clap::CommandFactory;

/// Does what was asked.
pub(crate) async fn run(cli: Cli) -> Result<(), Failure> {
    // As kubectl: nothing asked is a wish for help.
    let Some(command) = cli.command else {
        return printer::out(&Cli::command().render_help().to_string());
    };
    let session = connect(&cli.connection).await?;
    match command {
        Command::List(args) => list::run(&args, &session).await,
        Command::Explain(args) => explain::run(&args, &session).await,
    }
}
