//! Command lines and configuration files, and the configuration that they result in.

use super::{Args, Authorities, Certificate, Config, trace};
use crate::connect::Limit;
use clap::Parser;
use common::model::ExtensionPoint;
use common::plugins::{Descriptor, Implementations};

fn config(arguments: &[&str]) -> anyhow::Result<Config> {
    Config::try_from(Args::try_parse_from([&["reserve-daemon"], arguments].concat())?)
}

fn names(config: &Config) -> Vec<&str> {
    config.scheduler.profiles.iter().map(|profile| profile.scheduler_name.as_str()).collect()
}

/// The configuration from a file with this text.
fn from_text(text: &str) -> anyhow::Result<Config> {
    from_text_and(text, &[])
}

/// The configuration from a file with this text, and more arguments.
fn from_text_and(text: &str, arguments: &[&str]) -> anyhow::Result<Config> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("scheduler.yaml");
    std::fs::write(&file, text).unwrap();
    config(&[&["--config", file.to_str().unwrap()], arguments].concat())
}

const HEAD: &str = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

#[test]
fn without_arguments_it_is_the_reserve_scheduler() {
    assert_eq!(names(&config(&[]).unwrap()), ["reserve-scheduler"]);
}

#[test]
fn it_can_have_several_names() {
    assert_eq!(names(&config(&["--scheduler-name=a", "--scheduler-name", "b"]).unwrap()), ["a", "b"]);
}

#[test]
fn a_file_names_the_profiles() {
    let text = format!("{HEAD}profiles: [{{schedulerName: a}}, {{schedulerName: b}}]");
    assert_eq!(names(&from_text(&text).unwrap()), ["a", "b"]);
    assert!(config(&["--config", "x", "--scheduler-name", "a"]).is_err(), "not both");
}

#[test]
fn a_file_that_cannot_be_followed_is_refused_with_its_name() {
    let typo = from_text(&format!("{HEAD}profile: []")).unwrap_err().to_string();
    assert!(typo.contains("scheduler.yaml") && typo.contains("profiles"), "{typo}");
    assert!(config(&["--config", "/no/such/file"]).unwrap_err().to_string().contains("/no/such/file"));
}

#[test]
fn a_name_that_no_pod_can_have_is_refused() {
    let long = "x".repeat(64);
    for name in ["", "A", "a b", "a/b", "a\0", &long] {
        let error = config(&["--scheduler-name", name]).unwrap_err().to_string();
        assert!(error.contains("schedulerName"), "{error}");
    }
}

#[test]
fn a_file_can_name_a_plugin_that_was_brought_along() {
    let text = format!("{HEAD}profiles: [{{plugins: {{filter: {{enabled: [{{name: Mine}}]}}}}}}]");
    let error = from_text(&text).unwrap_err().to_string();
    assert!(error.contains("\"Mine\" is not a plugin"), "{error}");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("scheduler.yaml");
    std::fs::write(&file, text).unwrap();
    let args = Args::parse_from(["reserve-daemon", "--config", file.to_str().unwrap()]);
    let mine = Descriptor::new("Mine", &[ExtensionPoint::Filter], |_| Ok(Implementations::default()));
    let plugins = trace::plugins().with(mine);
    assert!(Config::new(args, plugins).unwrap().scheduler.profiles[0].runs("Mine"));
}

/// The command line that seed 000 prints.
#[test]
fn the_command_line_of_seed_000_works() {
    let config = from_text_and(
        &format!("{HEAD}profiles: [{{schedulerName: test-scheduler}}]"),
        &[
            "--kube-api-qps=200",
            "--kube-api-burst=300",
            "--leader-elect=false",
            "--profiling=false",
            "--authentication-kubeconfig=scheduler.conf",
            "--authorization-kubeconfig=scheduler.conf",
            "--kubeconfig=scheduler.conf",
        ],
    )
    .unwrap();
    assert_eq!(names(&config), ["test-scheduler"]);
    assert!(!config.scheduler.leader_election.leader_elect);
    assert_eq!(config.connection.kubeconfig.as_deref(), Some("scheduler.conf".as_ref()));
    assert_eq!(config.connection.limit, Limit::new(50.0, 100), "as with kube-scheduler: the file counts");
    assert!(
        config.warnings.iter().any(|warning| warning.contains("--kube-api-qps")),
        "{:?}",
        config.warnings
    );
    assert_eq!(config.remarks, ["--profiling has no meaning here"]);
}

#[test]
fn a_profile_that_nobody_will_get_is_said_to_be_none() {
    for flag in ["--profiling", "--profiling=true", "--contention-profiling"] {
        let name = flag.trim_end_matches("=true");
        let words = format!("{name} is not followed: nothing is served under /debug/pprof");
        assert_eq!(config(&[flag]).unwrap().warnings, [words]);
    }
    let off = config(&["--profiling=true", "--profiling=false"]).unwrap();
    assert_eq!(off.warnings, [""; 0], "the last one counts");
}

/// The flags that kubeadm writes, after the image and the program's name were changed.
#[test]
fn the_command_line_of_a_static_pod_works() {
    let flags = [
        "--authentication-kubeconfig=/etc/kubernetes/scheduler.conf",
        "--authorization-kubeconfig=/etc/kubernetes/scheduler.conf",
        "--bind-address=127.0.0.1",
        "--kubeconfig=/etc/kubernetes/scheduler.conf",
        "--leader-elect=true",
        "--feature-gates=GenericWorkload=true,PodLevelResources=true,WatchList=false",
        "--vmodule=cache*=5",
        "--cert-dir=",
    ];
    let config =
        from_text_and(&format!("{HEAD}profiles: [{{schedulerName: default-scheduler}}]"), &flags).unwrap();
    assert_eq!(names(&config), ["default-scheduler"]);
    let election = &config.scheduler.leader_election;
    assert_eq!([&election.resource_namespace, &election.resource_name], ["kube-system", "kube-scheduler"]);
    assert_eq!(config.warnings, ["the feature gate GenericWorkload is not served here"]);
    let serving = config.serving.unwrap();
    assert_eq!(serving.address.to_string(), "127.0.0.1:10259");
    assert_eq!(serving.certificate, Certificate::Memory);
    assert_eq!(serving.access.client_ca, Authorities::Cluster);
}

#[test]
fn which_lease_it_is() {
    let lease = |config: anyhow::Result<Config>| {
        let election = config.unwrap().scheduler.leader_election;
        format!("{}/{}", election.resource_namespace, election.resource_name)
    };
    assert_eq!(lease(config(&["--namespace=here"])), "here/reserve-daemon");
    assert_eq!(lease(config(&["--scheduler-name=default-scheduler"])), "kube-system/kube-scheduler");
    assert_eq!(lease(config(&["--leader-elect-resource-name=x", "--namespace=here"])), "here/x");
    assert_eq!(lease(from_text(HEAD)), "kube-system/kube-scheduler");
    let file = format!("{HEAD}leaderElection: {{resourceName: mine, resourceNamespace: there}}");
    assert_eq!(lease(from_text(&file)), "there/mine");
    assert_eq!(lease(from_text_and(&file, &["--leader-elect-resource-name=flag"])), "there/flag");
    let other = from_text(&format!("{HEAD}profiles: [{{schedulerName: other}}]")).unwrap();
    assert!(other.warnings[0].contains("kube-system/kube-scheduler"), "{:?}", other.warnings);
}

#[test]
fn a_file_goes_before_flags_about_the_connection() {
    let file = format!("{HEAD}clientConnection: {{kubeconfig: file.conf, qps: 5000, burst: 6000}}");
    let both = from_text_and(&file, &["--kubeconfig=flag.conf", "--kube-api-qps=1"]).unwrap().connection;
    assert_eq!(both.kubeconfig.as_deref(), Some("file.conf".as_ref()));
    assert_eq!(both.limit, Limit::new(5000.0, 6000));
    let flags = config(&["--kube-api-qps=7", "--kube-api-burst=8", "--master=http://127.0.0.1:1"])
        .unwrap()
        .connection;
    assert_eq!(flags.limit, Limit::new(7.0, 8));
    assert_eq!(flags.master.as_deref(), Some("http://127.0.0.1:1"));
}

#[test]
fn parked_pods_are_tried_again_when_the_flag_says_so() {
    let parked = |arguments: &[&str]| config(arguments).unwrap().unschedulable_max.as_secs();
    assert_eq!(parked(&[]), 300);
    for (value, expected) in [("60s", 60), ("2h", 7200), ("0s", 30), ("1s", 30), ("-1s", 30)] {
        assert_eq!(parked(&[&format!("--pod-max-in-unschedulable-pods-duration={value}")]), expected);
    }
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let table: [(&[&str], &str); 8] = [
        (&["--leader-elect-renew-deadline=20s"], "must be longer"),
        (&["--leader-elect-retry-period=-1s"], "more than 0s"),
        (&["--leader-elect-resource-lock=endpoints"], "only \"leases\""),
        (&["--tls-cert-file=a"], "go together"),
        (&["--tls-min-version=VersionTLS14"], "VersionTLS13"),
        (&["--feature-gates=A"], "missing bool value"),
        (&["--authorization-always-allow-paths=/a*b"], "only trailing *"),
        (&["--replica-name=A_B"], "--replica-name"),
    ];
    for (arguments, expected) in table {
        let error = config(arguments).unwrap_err().to_string();
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn replicas_on_one_machine_have_different_names() {
    let name = |arguments: &[&str]| config(arguments).unwrap().replica;
    assert_ne!(name(&["--secure-port=1"]), name(&["--secure-port=2"]));
    assert_ne!(name(&["--secure-port=0"]), name(&[]));
    assert_eq!(name(&["--replica-name=reserve-daemon-5-x"]), "reserve-daemon-5-x");
    assert!(config(&["--secure-port=0"]).unwrap().serving.is_none(), "nothing is served on port 0");
}

#[test]
fn extenders_are_asked_about_nodes_and_victims() {
    let extender =
        format!("{HEAD}extenders: [{{urlPrefix: 'http://127.0.0.1:1', filterVerb: f, preemptVerb: p}}]");
    let config = from_text(&extender).unwrap();
    assert_eq!(config.scheduler.extenders.len(), 1);
    assert_eq!(config.warnings, [""; 0]);
}

#[test]
fn an_extender_is_served_to_this_machine_or_to_those_with_a_certificate() {
    let files = ["--extender-cert-file=c", "--extender-key-file=k"];
    let with = |address: &str, more: &[&str]| {
        let address = format!("--extender-address={address}");
        config(&[&[address.as_str()], more].concat()).map(|config| config.extender)
    };
    assert!(config(&[]).unwrap().extender.is_none());
    assert!(with("127.0.0.1:8888", &[]).unwrap().is_some());
    assert!(with("[::1]:8888", &files).unwrap().is_some());
    let open = with("0.0.0.0:8888", &files).unwrap_err().to_string();
    assert!(open.contains("--extender-client-ca-file"), "{open}");
    let closed = with("0.0.0.0:8888", &[&files[..], &["--extender-client-ca-file=ca"]].concat()).unwrap();
    assert!(closed.is_some_and(|serving| serving.files.is_some()));
    for odd in [&files[..1], &["--extender-client-ca-file=ca"]] {
        assert!(with("127.0.0.1:8888", odd).is_err(), "{odd:?}");
    }
    assert!(config(&files).is_err(), "nowhere to serve");
}

#[test]
fn bindings_are_served_to_clients_with_a_certificate_or_when_asked_for() {
    let binds = |more: &[&str]| {
        let extender = config(&[&["--extender-address=127.0.0.1:8888"], more].concat()).unwrap().extender;
        extender.unwrap().is_binding
    };
    let mutual = ["--extender-cert-file=c", "--extender-key-file=k", "--extender-client-ca-file=ca"];
    assert!(!binds(&[]));
    assert!(!binds(&mutual[..2]), "without an authority for clients anybody may ask");
    assert!(binds(&mutual));
    assert!(binds(&["--extender-bind"]));
    assert!(!binds(&[&mutual[..], &["--extender-bind=false"]].concat()));
    assert!(config(&["--extender-bind"]).is_err(), "nothing is served");
}

#[test]
fn probes_have_a_port_of_their_own_when_asked_for() {
    let probes = |address: &str| {
        let config = config(&[&format!("--health-probe-bind-address={address}")]);
        config.map(|config| config.probes.map(|address| address.to_string()))
    };
    assert_eq!(config(&[]).unwrap().probes, None);
    for (text, expected) in [
        (":8081", Some("[::]:8081")),
        ("127.0.0.1:8081", Some("127.0.0.1:8081")),
        ("[::1]:8081", Some("[::1]:8081")),
        ("0", None),
        ("", None),
    ] {
        assert_eq!(probes(text).unwrap().as_deref(), expected, "{text:?}");
    }
    for odd in ["8081", ":x", ":70000", "localhost:8081"] {
        assert!(probes(odd).unwrap_err().to_string().contains(":8081 or"), "{odd}");
    }
}
