//! One verb, one file.

mod add;
mod change;
mod describe;
mod explain;
mod extend;
mod list;
mod nodes;
mod release;

use crate::cli::{Cli, Command};
use crate::connect::{Session, connect};
use crate::error::Failure;
use crate::ui::{Streams, Surroundings, Ui, printer};
use clap::CommandFactory;

/// What every verb has: a way to the cluster, and a person at the other end.
pub(crate) struct Context {
    pub(crate) session: Session,
    pub(crate) ui: Ui,
}

/// Does what was asked.
pub(crate) async fn run(cli: Cli) -> Result<(), Failure> {
    // As kubectl: nothing asked is a wish for help.
    let Some(command) = cli.command else {
        return printer::out(&Cli::command().render_help().to_string());
    };
    let ui = Ui::new(&cli.talk, &Surroundings::read(), Streams::look());
    printer::talk_as(&ui);
    let context = Context { session: connect(&cli.connection).await?, ui };
    match command {
        Command::List(args) => list::run(&args, &context).await,
        Command::Describe(args) => describe::run(&args, &context).await,
        Command::Add(args) => add::run(&args, &context).await,
        Command::Release(args) => release::run(&args, &context).await,
        Command::Extend(args) => extend::run(&args, &context).await,
        Command::Nodes(args) => nodes::run(&args, &context).await,
        Command::Explain(args) => explain::run(&args, &context).await,
    }
}
