//! Health and metrics of the daemon beside those of a real kube-scheduler: the same answers to the same questions, and
//! metrics of the same type with the same labels and buckets under each name that both have.

use anyhow::{Context as _, Result, ensure};
use http_body_util::BodyExt as _;
use reserve_tests::control_plane::{Cluster, ControlPlane, User, deployment, node};
use reserve_tests::programs::{self, daemon};
use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(90);

/// What both must have once each has placed a pod.
const COMMON: [&str; 15] = [
    "process_cpu_seconds_total",
    "process_open_fds",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
    "process_virtual_memory_bytes",
    "rest_client_requests_total",
    "scheduler_cache_size",
    "scheduler_framework_extension_point_duration_seconds",
    "scheduler_pod_scheduled_after_flush_total",
    "scheduler_pod_scheduling_attempts",
    "scheduler_queue_incoming_entities_total",
    "scheduler_queued_entities",
    "scheduler_schedule_attempts_total",
    "scheduler_scheduling_algorithm_duration_seconds",
    "scheduler_scheduling_attempt_duration_seconds",
];

/// kube-scheduler shows it only after a cycle that it happened to measure, one in ten.
const SAMPLED: &str = "scheduler_plugin_execution_duration_seconds";

const METRICS_READER: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: metrics-reader}
rules: [{nonResourceURLs: [/metrics, /metrics/resources, /configz], verbs: [get]}]
";

/// A server of health and metrics, as one user sees it.
struct Site {
    client: kube::Client,
}

impl Site {
    fn new(port: u16, token: Option<&str>) -> Result<Self> {
        let mut config = kube::Config::new(format!("https://127.0.0.1:{port}").parse()?);
        config.accept_invalid_certs = true;
        config.default_retry = false;
        config.auth_info.token = token.map(|token| token.to_owned().into());
        Ok(Self { client: kube::Client::try_from(config)? })
    }

    async fn get(&self, path: &str) -> Result<(u16, String)> {
        let request = http::Request::get(path).body(kube::client::Body::empty())?;
        let answer = tokio::time::timeout(SOON, self.client.send(request)).await??;
        let code = answer.status().as_u16();
        Ok((code, String::from_utf8(answer.into_body().collect().await?.to_bytes().to_vec())?))
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn token(cluster: &Cluster, user: User) -> Result<String> {
    let text = std::fs::read_to_string(cluster.kubeconfig(user))?;
    let (_, rest) = text.split_once("token: ").context("the kubeconfig has no token")?;
    Ok(rest.chars().take_while(char::is_ascii_alphanumeric).collect())
}

/// Starts both, each with a pod placed by it; the port of ours, and of kube-scheduler.
async fn start(cluster: &Cluster) -> Result<([u16; 2], Vec<Box<dyn std::any::Any>>)> {
    let ports = [free_port()?, free_port()?];
    let flags = |user: User, port: u16| {
        let kubeconfig = cluster.kubeconfig(user);
        let kubeconfig = kubeconfig.display();
        [
            format!("--kubeconfig={kubeconfig}"),
            format!("--authentication-kubeconfig={kubeconfig}"),
            format!("--authorization-kubeconfig={kubeconfig}"),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={port}"),
            "--leader-elect=false".to_owned(),
        ]
    };
    let ours = flags(User::Daemon, ports[0])
        .iter()
        .fold(daemon("reserve-scheduler"), |shape, flag| shape.argument(flag));
    let ours = ours.start(cluster).await?;
    let theirs = flags(User::Scheduler, ports[1]);
    let theirs = cluster.run_program(
        "kube-scheduler-beside",
        cluster.program("kube-scheduler")?,
        &theirs.iter().map(String::as_str).collect::<Vec<_>>(),
    )?;
    for (name, scheduler) in [("a", "reserve-scheduler"), ("b", "default-scheduler")] {
        let workload =
            cluster.deploy(deployment(name).cpu("100m").memory("64Mi").scheduler(scheduler)).await?;
        cluster.wait_until_running(&workload.selector, 1).await?;
    }
    Ok((ports, vec![Box::new(ours), Box::new(theirs)]))
}

/// A family of metrics: its type, its labels, and the bounds of its buckets.
#[derive(Debug, Default, PartialEq, Eq)]
struct Family {
    kind: String,
    labels: BTreeSet<String>,
    bounds: BTreeSet<String>,
}

fn families(text: &str) -> BTreeMap<String, Family> {
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines() {
        if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
            current = name.to_owned();
            families.entry(current.clone()).or_default().kind = kind.to_owned();
        }
        let labels =
            line.split_once('{').and_then(|(_, rest)| rest.rsplit_once('}')).map(|(labels, _)| labels);
        let Some(family) = families.get_mut(&current).filter(|_| !line.starts_with('#')) else { continue };
        for (key, value) in
            labels.into_iter().flat_map(|labels| labels.split("\",")).filter_map(|one| one.split_once("=\""))
        {
            if key == "le" {
                family.bounds.insert(value.trim_end_matches('"').to_owned());
            } else {
                family.labels.insert(key.to_owned());
            }
        }
    }
    families
}

/// All samples, whatever their order and however their numbers are written.
fn samples(text: &str) -> BTreeMap<String, String> {
    let samples = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.rsplit_once(' '));
    let number =
        |value: &str| value.parse::<f64>().map_or_else(|_| value.to_owned(), |value| value.to_string());
    samples.map(|(name, value)| (name.to_owned(), number(value))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_daemon_answers_as_kube_scheduler_does() -> Result<()> {
    let cluster = ControlPlane::start("admin").plugin_dir(programs::build()?).await?;
    cluster.add_node(node("n1").cpu("4").memory("8Gi")).await?;
    let (ports, _running) = start(&cluster).await?;
    let tenant = token(&cluster, User::Tenant)?;
    let sites = |token: Option<&str>| {
        Ok::<_, anyhow::Error>((Site::new(ports[0], token)?, Site::new(ports[1], token)?))
    };

    let (ours, theirs) = sites(None)?;
    for path in [
        "/livez",
        "/healthz",
        "/readyz",
        "/healthz?verbose",
        "/livez?verbose",
        "/readyz?verbose",
        "/metrics",
        "/x",
    ] {
        assert_eq!(ours.get(path).await?, theirs.get(path).await?, "nobody asks for {path}");
    }
    let (ours, theirs) = sites(Some("wrong"))?;
    assert_eq!(ours.get("/metrics").await?, theirs.get("/metrics").await?, "with a wrong token");
    assert_eq!(ours.get("/livez").await?.0, 401);

    let (ours, theirs) = sites(Some(&tenant))?;
    let refused = ours.get("/metrics").await?;
    assert_eq!(refused.0, 403);
    assert_eq!(refused, theirs.get("/metrics").await?, "with a token that may not");

    cluster.apply(METRICS_READER).await?;
    cluster.grant(User::Tenant, "metrics-reader", None).await?;
    // A refusal is remembered for ten seconds.
    let both = async |path: &str| {
        let what = format!("both show {path}");
        let shown = cluster.wait_until(&what, SOON, async || {
            let (ours, theirs) = (ours.get(path).await?, theirs.get(path).await?);
            ensure!(ours.0 == 200 && theirs.0 == 200, "{} {}", ours.0, theirs.0);
            Ok((ours.1, theirs.1))
        });
        shown.await
    };
    let (ours, theirs) = both("/metrics/resources").await?;
    assert_eq!(families(&ours), families(&theirs));
    assert_eq!(samples(&ours), samples(&theirs), "of the pods of both");
    let (ours, theirs) = both("/metrics").await?;
    let (ours, theirs) = (families(&ours), families(&theirs));
    for name in COMMON {
        ensure!(ours.contains_key(name) && theirs.contains_key(name), "{name} is not in both");
    }
    for (name, family) in ours.iter().filter(|(name, _)| theirs.contains_key(*name)) {
        assert_eq!(Some(family), theirs.get(name), "{name}");
    }
    let is_known =
        |name: &String| theirs.contains_key(name) || name.starts_with("reserve_") || *name == SAMPLED;
    let unknown = ours.keys().filter(|name| !is_known(name));
    assert_eq!(unknown.collect::<Vec<_>>(), [""; 0], "a name of ours begins with reserve_");
    Ok(())
}
