//! `kubectl reserve sandbox`: the cluster of the demo, kept running for real clients.

use crate::cli::Sandbox;
use crate::demo::cluster::Cluster;
use crate::demo::kubeconfig::Kubeconfig;
use crate::demo::objects;
use crate::error::{Exit, Failure};
use crate::platform::set_variable;
use crate::ui::printer;
use crate::ui::signal::Stops;
use jiff::Timestamp;
use std::net::Ipv4Addr;
use tokio::net::TcpListener;

/// What there is to see where nodes are full.
const FULL: [&str; 3] =
    ["kubectl get pods -o wide", "kubectl reserve explain batch-0", "kubectl reserve pod shop-0"];

/// What there is to see where nothing is.
const EMPTY: [&str; 3] = ["kubectl get nodes", "kubectl run web --image=web", "kubectl reserve nodes"];

pub(crate) async fn run(args: &Sandbox) -> Result<(), Failure> {
    let (mut stops, mut hurry) = (Stops::listen()?, Stops::listen()?);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).await.map_err(|error| {
        Failure::new(format!("listen on 127.0.0.1:{}: {error}", args.port)).hint("choose another --port")
    })?;
    let cluster = Cluster::new(now());
    let ended = cluster.live(life(args, &cluster, listener, &mut stops));
    tokio::select! {
        biased;
        ended = Box::pin(ended) => ended,
        // Who asks twice does not want to wait for the daemon's last words.
        () = async { while hurry.next().await.count < 2 {} } => Err(Failure::silent(Exit::Interrupted)),
    }
}

/// Fills the cluster, and serves it until somebody wants it to stop.
async fn life(
    args: &Sandbox,
    cluster: &Cluster,
    listener: TcpListener,
    stops: &mut Stops,
) -> Result<(), Failure> {
    let port = listener.local_addr().map_err(|error| Failure::new(format!("listen: {error}")))?.port();
    objects::add_nodes(cluster, args.nodes).await?;
    if !args.empty {
        objects::fill(cluster).await?;
        objects::crowd(cluster).await?;
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

/// Says what there is, and what to type.
fn welcome(args: &Sandbox, kubeconfig: &Kubeconfig, port: u16) -> Result<(), Failure> {
    let nodes = if args.nodes == 1 { "1 node".to_owned() } else { format!("{} nodes", args.nodes) };
    printer::say(&format!(
        "A cluster in the memory of this process: {nodes} and the daemon.\n\
         Anybody on this machine can reach it at http://127.0.0.1:{port}. Ctrl-C ends it.\n\n\
         In another terminal:"
    ));
    // Commands may be typed in another folder.
    let path = std::path::absolute(&kubeconfig.path).unwrap_or_else(|_| kubeconfig.path.clone());
    let export = set_variable("KUBECONFIG", &path.display().to_string());
    let commands = if args.empty { EMPTY } else { FULL };
    printer::out(&format!("  {export}\n  {}\n", commands.join("\n  ")))?;
    printer::say("\nManifests are created with: kubectl create --validate=false -f FILE");
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the command is the outermost layer")]
fn now() -> Timestamp {
    Timestamp::now()
}
