//! One verb, one file.

mod explain;
mod install;
mod list;
mod pod;
pub(crate) mod recreate;
mod uninstall;
mod version;

use crate::cli::{Cli, Command, Invocation};
use crate::connect::{Session, connect};
use crate::error::Failure;
use crate::ui::{Streams, Surroundings, Ui, printer};

/// What every verb has: a way to the cluster, and a person at the other end.
pub(crate) struct Context {
    pub(crate) session: Session,
    pub(crate) ui: Ui,
}

/// Does what was asked.
pub(crate) async fn run(cli: Cli, invocation: &Invocation) -> Result<(), Failure> {
    // As kubectl: nothing asked is a wish for help.
    let Some(command) = cli.command else {
        return printer::out(&format!("{}\n", invocation.command().render_help()));
    };
    let ui = Ui::new(&cli.talk, &Surroundings::read(), Streams::look());
    printer::talk_as(&ui);
    let namespace = cli.connection.namespace.clone();
    // Some ask no server, or only perhaps.
    match &command {
        Command::Options => return printer::out(&invocation.options()),
        Command::Version(args) => return version::run(args, &cli.connection, cli.talk.verbosity).await,
        Command::Install(args) if args.is_offline() => {
            return install::run_offline(args, namespace.as_deref());
        }
        _ => {}
    }
    let context = Context { session: connect(&cli.connection, cli.talk.verbosity).await?, ui };
    match command {
        Command::Pod(args) => pod::run(&args, &context).await,
        Command::List(args) => list::run(&args, &context).await,
        Command::Explain(args) => explain::run(&args, &context).await,
        Command::Install(args) => install::run(&args, &context, namespace.as_deref()).await,
        Command::Uninstall(args) => uninstall::run(&args, &context, namespace.as_deref()).await,
        Command::Options | Command::Version(_) => Ok(()),
    }
}
