//! Connections that stall, in greater numbers than the daemon's servers have room for.

use anyhow::{Context as _, Result, ensure};
use http_body_util::BodyExt as _;
use reserve_tests::control_plane::{ControlPlane, deployment, node};
use reserve_tests::mutual::certificates;
use reserve_tests::programs::{Daemon, daemon, reserve};
use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;
use tokio::net::TcpSocket;
use tokio::task::JoinSet;

const NOBODY: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";
const SOON: Duration = Duration::from_secs(60);
/// How long a kubelet waits for the answer to a probe, as shipped.
const PROBE_MAX: Duration = Duration::from_secs(5);
/// Stalled connections to each server: more than it has room for.
const STALLED: usize = 300;
/// What they come from, so that each address has fewer than it may have.
const ADDRESSES: usize = 6;

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Keeps [`STALLED`] connections to a port open that never say a word, and opens a new one each few milliseconds.
async fn stall(port: u16) {
    let server = SocketAddr::from(([127, 0, 0, 1], port));
    let mut open = VecDeque::new();
    for turn in 0_usize.. {
        let last = u8::try_from(2 + turn % ADDRESSES).unwrap_or(2);
        let connecting = async {
            let socket = TcpSocket::new_v4()?;
            socket.bind(SocketAddr::from(([127, 0, 0, last], 0)))?;
            socket.connect(server).await
        };
        if let Ok(Ok(stream)) = tokio::time::timeout(SOON, connecting).await {
            open.push_back(stream);
        }
        if open.len() > STALLED {
            open.pop_front();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// The status of a probe, asked as a kubelet asks.
async fn probe(port: u16, path: &'static str) -> Result<String> {
    let asking = tokio::task::spawn_blocking(move || -> Result<String> {
        let mut stream = TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), PROBE_MAX)?;
        stream.set_read_timeout(Some(PROBE_MAX))?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer.lines().next().unwrap_or_default().to_owned())
    });
    asking.await?.with_context(|| format!("probe {path}"))
}

/// The status of a path over HTTPS, for somebody who does not say who it is.
async fn admin(port: u16, path: &str) -> Result<u16> {
    let mut config = kube::Config::new(format!("https://127.0.0.1:{port}").parse()?);
    config.accept_invalid_certs = true;
    config.default_retry = false;
    let request = http::Request::get(path).body(kube::client::Body::empty())?;
    let answer = tokio::time::timeout(SOON, kube::Client::try_from(config)?.send(request)).await??;
    let code = answer.status().as_u16();
    answer.into_body().collect().await?;
    Ok(code)
}

fn has_given_up_connections(daemon: &Daemon, server: &str) -> Result<()> {
    let log = daemon.log()?;
    let said = log.lines().any(|line| line.contains(server) && line.contains("to make room for new ones"));
    ensure!(said, "{server} had room for all:\n{log}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn stalled_connections_do_not_stop_probes_or_kube_scheduler() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let (files, tls) = certificates(dir.path())?;
    let [extender_port, admin_port, probe_port] = [free_port()?, free_port()?, free_port()?];
    let yaml = format!(
        "percentageOfNodesToScore: 100\nextenders:\n- {{urlPrefix: 'https://127.0.0.1:{extender_port}', filterVerb: filter, \
         ignorable: true, httpTimeout: 5s, nodeCacheCapable: true, {tls}}}"
    );
    let cluster = ControlPlane::start("attacks_servers").with_scheduler_configuration(&yaml).await?;
    cluster.add_node(node("n1").cpu("4").memory("8Gi")).await?;
    let shape = daemon("reserve-scheduler")
        .argument(&format!("--extender-address=127.0.0.1:{extender_port}"))
        .argument("--bind-address=127.0.0.1")
        .argument(&format!("--secure-port={admin_port}"))
        .argument(&format!("--health-probe-bind-address=127.0.0.1:{probe_port}"));
    let shape = files.iter().fold(shape, |shape, file| shape.argument(file));
    let daemon = shape.start(&cluster).await?;
    reserve(&cluster, "n1", NOBODY, Some("3")).await?;

    let mut attackers = JoinSet::new();
    attackers.spawn(stall(admin_port));
    attackers.spawn(stall(extender_port));
    for server in ["health and metrics", "the extender"] {
        cluster
            .wait_until("all connections are in use", SOON, async || {
                has_given_up_connections(&daemon, server)
            })
            .await?;
    }
    // kube-scheduler goes on alone when nobody answers, and the pod would run.
    let stranger = cluster.deploy(deployment("stranger").cpu("2")).await?;
    let told = cluster.wait_until_unschedulable("default", &stranger.selector).await?;
    assert!(told.contains("Insufficient cpu"), "{told}");
    let beside = cluster.deploy(deployment("beside").cpu("1")).await?;
    cluster.wait_until_running(&beside.selector, 1).await?;
    for path in ["/livez", "/readyz", "/healthz"] {
        assert_eq!(probe(probe_port, path).await?, "HTTP/1.1 200 OK", "{path}");
        assert_eq!(
            admin(admin_port, path).await?,
            200,
            "{path}: the port for HTTPS has room for others, too"
        );
    }
    Ok(())
}
