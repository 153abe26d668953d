//! One verb, one file.

mod doctor;
mod explain;
mod install;
mod list;
mod status;
mod uninstall;

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
    let namespace = cli.connection.namespace.clone();
    if let Command::Install(args) = &command
        && args.is_offline()
    {
        return install::run_offline(args, namespace.as_deref());
    }
    if let Command::Doctor(args) = &command {
        return doctor::run(args, &cli.connection, cli.talk.verbosity, ui).await;
    }
    let context = Context { session: connect(&cli.connection, cli.talk.verbosity).await?, ui };
    match command {
        Command::List(args) => list::run(&args, &context).await,
        Command::Explain(args) => explain::run(&args, &context).await,
        Command::Install(args) => install::run(&args, &context, namespace.as_deref()).await,
        Command::Status(args) => status::run(&args, &context).await,
        // It connects by itself, above.
        Command::Doctor(_) => Ok(()),
        Command::Uninstall(args) => uninstall::run(&args, &context, namespace.as_deref()).await,
    }
}
