//! kube-scheduler's flags are parsed as kube-scheduler does.

use super::{Args, LogFormat};
use clap::{CommandFactory as _, Parser as _};
use jiff::SignedDuration;

fn args(arguments: &[&str]) -> Result<Args, clap::Error> {
    Args::try_parse_from([&["reserve-daemon"], arguments].concat())
}

#[test]
fn the_definition_is_sound() {
    Args::command().debug_assert();
}

#[test]
fn switches_are_written_as_in_go() {
    let table: [(&[&str], Option<bool>); 7] = [
        (&[], None),
        (&["--leader-elect"], Some(true)),
        (&["--leader-elect=true"], Some(true)),
        (&["--leader-elect=T"], Some(true)),
        (&["--leader-elect=0"], Some(false)),
        (&["--leader-elect=false"], Some(false)),
        (&["--leader-elect", "--leader-elect=false"], Some(false)),
    ];
    for (arguments, expected) in table {
        assert_eq!(args(arguments).unwrap().election.leader_elect, expected, "{arguments:?}");
    }
    assert!(args(&["--leader-elect=maybe"]).is_err());
    assert!(
        args(&["--leader-elect", "false"]).is_err(),
        "a switch takes no next word; kube-scheduler refuses it too"
    );
}

#[test]
fn verbosity_in_all_its_forms() {
    for arguments in [&["-v=4"][..], &["-v", "4"], &["-v4"], &["--v=4"], &["--v", "4"], &["-v=2", "--v=4"]] {
        assert_eq!(args(arguments).unwrap().log.verbosity, 4, "{arguments:?}");
    }
    assert_eq!(args(&["--logging-format=json"]).unwrap().log.logging_format, LogFormat::Json);
    assert!(args(&["--logging-format=xml"]).is_err());
}

#[test]
fn durations_and_lists() {
    let args = args(&[
        "--leader-elect-lease-duration=1m30s",
        "--leader-elect-lease-duration=20s",
        "--authorization-always-allow-paths=/a,/b",
        "--authorization-always-allow-paths=/c*",
        "--tls-cipher-suites=A,B",
    ])
    .unwrap();
    let lease = args.election.leader_elect_lease_duration;
    assert_eq!(lease, Some(SignedDuration::from_secs(20)), "the last one counts");
    assert_eq!(args.access.authorization_always_allow_paths, ["/a", "/b", "/c*"], "lists add up");
    assert_eq!(args.serving.tls_cipher_suites, ["A", "B"]);
}

#[test]
fn an_unknown_flag_is_refused_with_the_nearest_known_one() {
    let error = args(&["--leader-elekt"]).unwrap_err().to_string();
    assert!(error.contains("--leader-elect"), "{error}");
}

#[test]
fn the_help_shows_what_matters() {
    let help = Args::command().render_long_help().to_string();
    assert!(help.contains("--secure-port") && help.contains("Leader election:"), "{help}");
    assert!(!help.contains("--vmodule"), "what has no meaning is taken and not shown");
}

/// All flags of kube-scheduler 1.37, as its `--help` lists them.
#[test]
fn every_flag_of_kube_scheduler_is_known() {
    let flags = "allow-metric-labels allow-metric-labels-manifest authentication-kubeconfig authentication-skip-lookup \
        authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure \
        authorization-always-allow-paths authorization-kubeconfig authorization-webhook-cache-authorized-ttl \
        authorization-webhook-cache-unauthorized-ttl bind-address cert-dir client-ca-file config \
        contention-profiling disable-http2-serving disabled-metrics emulated-version feature-gates help \
        http2-max-streams-per-connection kube-api-burst kube-api-content-type kube-api-qps kubeconfig leader-elect \
        leader-elect-lease-duration leader-elect-renew-deadline leader-elect-resource-lock \
        leader-elect-resource-name leader-elect-resource-namespace leader-elect-retry-period log-flush-frequency \
        log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size log-text-split-stream \
        logging-format master min-compatibility-version permit-address-sharing permit-port-sharing \
        pod-max-in-unschedulable-pods-duration profiling requestheader-allowed-names \
        requestheader-client-ca-file requestheader-extra-headers-prefix requestheader-group-headers \
        requestheader-uid-headers requestheader-username-headers secure-port show-hidden-metrics-for-version \
        tls-cert-file tls-cipher-suites tls-curve-preferences tls-min-version tls-private-key-file \
        tls-sni-cert-key v version vmodule write-config-to";
    let mut command = Args::command();
    command.build();
    for flag in flags.split_whitespace() {
        assert!(command.get_arguments().any(|known| known.get_long() == Some(flag)), "--{flag}");
    }
}
