//! One verb, one file.

mod explain;
mod list;
mod version;

use crate::cli::{Cli, Command, Invocation};
use crate::connect::{Session, connect};
use crate::error::Failure;
use crate::ui::{Streams, Surroundings, Ui, printer};

/// What every verb has: a way to the cluster, and a person at the other end.
pub(crate) struct Context {
    pub(crate) session: Session,
    #[expect(dead_code, reason = "for verbs that ask or show progress")]
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
    let connect = || connect(&cli.connection, cli.talk.verbosity);
    match command {
        Command::Version(args) => version::run(&args, &cli.connection, cli.talk.verbosity).await,
        Command::Options => printer::out(&invocation.options()),
        Command::List(args) => list::run(&args, &Context { session: connect().await?, ui }).await,
        Command::Explain(args) => explain::run(&args, &Context { session: connect().await?, ui }).await,
    }
}
