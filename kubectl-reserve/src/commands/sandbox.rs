//! `kubectl reserve sandbox`: runs the cluster of the demo until Ctrl-C, so that kubectl can use it.

use crate::cli::Sandbox;
use crate::demo::cluster::Cluster;
use crate::demo::kubeconfig::Kubeconfig;
use crate::demo::objects;
use crate::error::{Exit, Failure};
use crate::platform::set_variable;
use crate::ui::printer;
use crate::ui::signal::StopRequests;
use jiff::Timestamp;
use std::net::Ipv4Addr;
use tokio::net::TcpListener;

/// Commands to try in a full cluster.
const FULL: [&str; 3] =
    ["kubectl get pods -o wide", "kubectl reserve explain batch-0", "kubectl reserve pod shop-0"];

/// Commands to try in an empty cluster.
const EMPTY: [&str; 3] = ["kubectl get nodes", "kubectl run web --image=web", "kubectl reserve nodes"];

pub(crate) async fn run(args: &Sandbox) -> Result<(), Failure> {
    let (mut stops, mut hurry) = (StopRequests::listen()?, StopRequests::listen()?);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).await.map_err(|error| {
        Failure::new(format!("listen on 127.0.0.1:{}: {error}", args.port)).hint("choose another --port")
    })?;
    // Other UIDs each time: what this machine remembers of workloads in a sandbox that is gone must not be taken for theirs.
    let cluster = Cluster::new(now(), fastrand::u64(..));
    let ended = cluster.run_while(serve(args, &cluster, listener, &mut stops));
    tokio::select! {
        biased;
        ended = Box::pin(ended) => ended,
        // The second Ctrl-C does not wait for the daemon to stop.
        () = async { while hurry.next().await.count < 2 {} } => Err(Failure::silent(Exit::Interrupted)),
    }
}

/// Fills the cluster, and serves it until Ctrl-C.
async fn serve(
    args: &Sandbox,
    cluster: &Cluster,
    listener: TcpListener,
    stops: &mut StopRequests,
) -> Result<(), Failure> {
    let port = listener.local_addr().map_err(|error| Failure::new(format!("listen: {error}")))?.port();
    objects::add_nodes(cluster, args.nodes).await?;
    if !args.empty {
        objects::add_workloads(cluster).await?;
        objects::add_waiting_workload(cluster).await?;
    }
    let kubeconfig = Kubeconfig::write(args.kubeconfig_out.as_deref(), port)?;
    welcome(args, &kubeconfig, port)?;
    tokio::select! {
        biased;
        _ = stops.next() => {}
        served = cluster.serve(listener) => served?,
    }
    drop(kubeconfig);
    printer::say("\nThe sandbox is gone, and its kubeconfig with it.");
    Ok(())
}

/// Prints the address of the cluster, and commands to try.
fn welcome(args: &Sandbox, kubeconfig: &Kubeconfig, port: u16) -> Result<(), Failure> {
    let nodes = if args.nodes == 1 { "1 node".to_owned() } else { format!("{} nodes", args.nodes) };
    printer::say(&format!(
        "A cluster in the memory of this process: {nodes} and the daemon.\n\
         Anybody on this machine can reach it at http://127.0.0.1:{port}. Ctrl-C ends it.\n\n\
         In another terminal:"
    ));
    // An absolute path: the commands may be run in another folder.
    let path = std::path::absolute(&kubeconfig.path).unwrap_or_else(|_| kubeconfig.path.clone());
    let export = set_variable("KUBECONFIG", &path.display().to_string());
    let commands = if args.empty { EMPTY } else { FULL };
    printer::out(&format!("  {export}\n  {}\n", commands.join("\n  ")))?;
    printer::say(
        "\nManifests: kubectl apply -f FILE. Commands that make an object from flags send protobuf, which is not read\n\
         here: kubectl create deployment web --image=web --dry-run=client -o yaml | kubectl apply -f -",
    );
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the command is the outermost layer")]
fn now() -> Timestamp {
    Timestamp::now()
}
