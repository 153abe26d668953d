//! One verb, one file.

mod add;
mod change;
mod completion;
mod demo;
mod describe;
mod doctor;
mod drain;
mod explain;
mod extend;
mod fit;
mod install;
mod list;
mod nodes;
mod pod;
pub(crate) mod recreate;
mod release;
mod restart;
mod sandbox;
mod status;
mod uninstall;
mod version;

use crate::cli::{Cli, Command, Invocation};
use crate::connect::{Session, connect, daemon};
use crate::error::Failure;
use crate::ui::{Streams, Surroundings, Ui, printer};

/// What every verb has: a way to the cluster, and a person at the other end.
pub(crate) struct Context {
    pub(crate) session: Session,
    pub(crate) ui: Ui,
    /// The `--context` that was named: commands that are printed repeat it.
    pub(crate) context: Option<String>,
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
    // Of what is about the daemon itself: its own namespace.
    let daemon_namespace = namespace.clone().or_else(|| cli.connection.daemon_namespace.clone());
    // Some ask no server, or only perhaps.
    match &command {
        Command::Completion(args) => return completion::run(args, invocation),
        Command::Options => return printer::out(&invocation.options()),
        Command::Demo(args) => return Box::pin(demo::run(args, ui)).await,
        Command::Sandbox(args) => return Box::pin(sandbox::run(args)).await,
        Command::Version(args) => return version::run(args, &cli.connection, cli.talk.verbosity).await,
        Command::Install(args) if args.is_offline() => {
            return install::run_offline(args, daemon_namespace.as_deref());
        }
        Command::Explain(args) if args.snapshot.is_some() => {
            return explain::offline(args, namespace.as_deref(), &ui).await;
        }
        Command::Fit(args) if args.snapshot.is_some() => {
            let snapshot = args.snapshot.clone().unwrap_or_default();
            return fit::offline(args, &snapshot, namespace.as_deref());
        }
        Command::List(args) if args.snapshot.is_some() => {
            let snapshot = args.snapshot.clone().unwrap_or_default();
            return list::offline(args, &snapshot, namespace.as_deref(), &ui);
        }
        Command::Nodes(args) if args.snapshot.is_some() => {
            let snapshot = args.snapshot.clone().unwrap_or_default();
            return nodes::offline(args, &snapshot, &ui);
        }
        _ => {}
    }
    if let Command::Doctor(args) = &command {
        return doctor::run(args, &cli.connection, cli.talk.verbosity, ui).await;
    }
    let session = connect(&cli.connection, cli.talk.verbosity).await?;
    let context = Context { session, ui, context: cli.connection.context.clone() };
    Box::pin(act(command, &context, daemon_namespace.as_deref())).await
}

/// Does what was asked, on a cluster that `client` reaches.
pub(crate) async fn run_on(cli: Cli, client: kube::Client) -> Result<(), Failure> {
    let Some(command) = cli.command else { return Ok(()) };
    let ui = Ui::new(&cli.talk, &Surroundings::read(), Streams::look());
    printer::talk_as(&ui);
    let daemon = daemon(&cli.connection)?;
    let asked = cli.connection.namespace;
    let namespace = asked.clone().unwrap_or_else(|| client.default_namespace().to_owned());
    let session = Session { client, namespace, timeout: None, daemon };
    let context = Context { session, ui, context: None };
    Box::pin(act(command, &context, asked.or(cli.connection.daemon_namespace).as_deref())).await
}

/// Does what was asked in a cluster. `daemon_namespace` is the namespace of the daemon, or that to be, if one was typed.
pub(crate) async fn act(
    command: Command,
    context: &Context,
    daemon_namespace: Option<&str>,
) -> Result<(), Failure> {
    match command {
        Command::Pod(args) => pod::run(&args, context).await,
        Command::Drain(args) => drain::run(&args, context).await,
        Command::Restart(args) => Box::pin(restart::run(&args, context)).await,
        Command::List(args) => list::run(&args, context).await,
        Command::Describe(args) => describe::run(&args, context).await,
        Command::Add(args) => add::run(&args, context).await,
        Command::Release(args) => release::run(&args, context).await,
        Command::Extend(args) => extend::run(&args, context).await,
        Command::Nodes(args) => nodes::run(&args, context).await,
        Command::Explain(args) => explain::run(&args, context).await,
        Command::Fit(args) => fit::run(&args, context).await,
        Command::Install(args) => install::run(&args, context, daemon_namespace).await,
        Command::Status(args) => status::run(&args, context).await,
        Command::Uninstall(args) => uninstall::run(&args, context, daemon_namespace).await,
        // These find their cluster by themselves, above, or need none.
        Command::Completion(_) | Command::Options | Command::Version(_) => Ok(()),
        Command::Doctor(_) | Command::Demo(_) | Command::Sandbox(_) => Ok(()),
    }
}
