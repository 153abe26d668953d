//! The verbs of the command, one file or folder each. `run` and `run_on` dispatch to them. They read the cluster, call the pure
//! modules (`explain`, `flow`, `fit`, `reservations`), and print with `render`, `print` and `ui`.

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
use crate::ui::{Streams, TerminalEnvironment, Ui, printer};

/// What every verb gets: the connection to the cluster, and the terminal.
pub(crate) struct Context {
    pub(crate) session: Session,
    pub(crate) ui: Ui,
    /// The value of `--context`: commands that are printed repeat it.
    pub(crate) context: Option<String>,
}

impl Context {
    /// ` --context NAME` as it was typed; empty without it.
    pub(crate) fn flag(&self) -> String {
        self.context.as_ref().map_or_else(String::new, |name| format!(" --context {name}"))
    }
}

pub(crate) async fn run(cli: Cli, invocation: &Invocation) -> Result<(), Failure> {
    // As kubectl: without a verb the help is printed.
    let Some(command) = cli.command else {
        return printer::out(&format!("{}\n", invocation.command().render_help()));
    };
    let ui = Ui::new(&cli.terminal, &TerminalEnvironment::read(), Streams::of_process());
    printer::configure(&ui);
    let namespace = cli.connection.namespace.clone();
    // For verbs about the daemon itself `--namespace` is the daemon's namespace.
    let daemon_namespace = namespace.clone().or_else(|| cli.connection.daemon_namespace.clone());
    // Some verbs need no server, or not always.
    match &command {
        Command::Completion(args) => return completion::run(args, invocation),
        Command::Options => return printer::out(&invocation.options()),
        Command::Demo(args) => return Box::pin(demo::run(args, ui)).await,
        Command::Sandbox(args) => return Box::pin(sandbox::run(args)).await,
        Command::Version(args) => return version::run(args, &cli.connection, cli.terminal.verbosity).await,
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
        return doctor::run(args, &cli.connection, cli.terminal.verbosity, ui).await;
    }
    let session = connect(&cli.connection, cli.terminal.verbosity).await?;
    let context = Context { session, ui, context: cli.connection.context.clone() };
    Box::pin(run_verb(command, &context, daemon_namespace.as_deref())).await
}

/// Runs the command with this client, inside another program.
pub(crate) async fn run_on(cli: Cli, client: kube::Client) -> Result<(), Failure> {
    let Some(command) = cli.command else { return Ok(()) };
    let ui = Ui::new(&cli.terminal, &TerminalEnvironment::read(), Streams::of_process());
    printer::configure(&ui);
    let daemon = daemon(&cli.connection)?;
    let asked = cli.connection.namespace;
    let namespace = asked.clone().unwrap_or_else(|| client.default_namespace().to_owned());
    let session = Session { client, namespace, server: "in this process".to_owned(), timeout: None, daemon };
    let context = Context { session, ui, context: None };
    Box::pin(run_verb(command, &context, asked.or(cli.connection.daemon_namespace).as_deref())).await
}

/// Runs a verb that needs a cluster. `daemon_namespace` is the namespace of the daemon, or the one to install it in, if given.
pub(crate) async fn run_verb(
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
        // `run` has handled these: they connect by themselves, or need no cluster.
        Command::Completion(_) | Command::Options | Command::Version(_) => Ok(()),
        Command::Doctor(_) | Command::Demo(_) | Command::Sandbox(_) => Ok(()),
    }
}
