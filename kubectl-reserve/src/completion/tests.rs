//! Tests: which candidates are offered for which words. Names are arguments here; `tests/tests/citizen` reads them from a real
//! cluster.

use super::request::{CandidateKind, CompletionRequest};
use super::{is_completion_program, text};

fn request(words: &[&str]) -> CompletionRequest {
    CompletionRequest::new(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
}

/// The candidates without their descriptions, and the directive.
fn offered(words: &[&str], live: &[&str]) -> Vec<String> {
    let text = text(&request(words), live.iter().map(ToString::to_string).collect());
    text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[test]
fn verbs_flags_and_values_are_offered() {
    let verbs = offered(&[""], &[]);
    assert!(verbs.contains(&"list".into()) && verbs.contains(&"explain".into()), "{verbs:?}");
    assert_eq!(verbs.last().unwrap(), ":4");
    assert_eq!(offered(&[], &[]), verbs);
    assert_eq!(offered(&["lis"], &[]), ["list", ":4"]);
    assert_eq!(offered(&["list", "--no-h"], &[]), ["--no-headers", ":4"]);
    assert!(offered(&["explain", "--"], &[]).contains(&"--namespace".into()));
    for words in [&["list", "--color", ""][..], &["list", "--color="], &["--color", ""]] {
        assert_eq!(offered(words, &[]), ["auto", "always", "never", ":4"], "{words:?}");
    }
    assert_eq!(offered(&["list", "-o", "j"], &[]), ["json", "jsonpath=", ":4"]);
    assert_eq!(offered(&["list", "-o", "jsonp"], &[]), ["jsonpath=", ":6"]);
}

#[test]
fn names_are_asked_for_where_they_belong() {
    let wanted = |words: &[&str]| request(words).kinds;
    for words in
        [&["-n", ""][..], &["list", "-n", ""], &["list", "--namespace", "k"], &["list", "--namespace="]]
    {
        assert_eq!(wanted(words), [CandidateKind::Namespaces], "{words:?}");
    }
    assert_eq!(wanted(&["list", "--context", ""]), [CandidateKind::Contexts]);
    assert_eq!(wanted(&["list", "--cluster", ""]), [CandidateKind::Clusters]);
    assert_eq!(wanted(&["list", "--user", ""]), [CandidateKind::Users]);
    assert_eq!(wanted(&["list", "--kubeconfig", ""]), [CandidateKind::Files]);
    assert_eq!(wanted(&["list", ""]), [CandidateKind::Reservations]);
    assert_eq!(wanted(&["why", ""]), [CandidateKind::PendingPods]);
    assert_eq!(wanted(&["explain", "-n", "shop", "deploy/w"]), [CandidateKind::Workloads]);
    assert_eq!(wanted(&["-n", "list", ""]), [], "the value of a flag is no verb");
    assert_eq!(wanted(&["list", "--no-headers", ""]), [CandidateKind::Reservations]);
    assert_eq!(wanted(&["list", "-"]), []);
}

#[test]
fn the_connection_is_what_was_typed_so_far() {
    for words in
        [&["explain", "-n", "shop", ""][..], &["-nshop", "explain", ""], &["explain", "--namespace=shop", ""]]
    {
        assert_eq!(request(words).connection.namespace.as_deref(), Some("shop"), "{words:?}");
    }
    let both = request(&["explain", "--insecure-skip-tls-verify", "--context", "c", "--color", "never", ""]);
    assert_eq!(both.connection.context.as_deref(), Some("c"));
    assert_eq!(both.connection.insecure_skip_tls_verify, Some(true));
    let open = request(&["explain", "--context", "c", "-n", ""]).connection;
    assert_eq!((open.context.as_deref(), open.namespace), (Some("c"), None), "the flag that is asked about");
    assert_eq!(open.request_timeout, "0", "what makes no sense must not keep us from connecting");
    let odd = request(&["explain", "--color", "nonsense", ""]).connection;
    assert_eq!(odd.request_timeout, "0");
}

#[test]
fn what_ends_with_a_slash_goes_on() {
    assert_eq!(offered(&["explain", "dep"], &[]), ["deployment/", ":6"]);
    assert_eq!(offered(&["explain", "dep"], &["depot-1"]), ["deployment/", "depot-1", ":4"]);
    assert_eq!(offered(&["explain", "deploy/w"], &["deploy/web", "deploy/api"]), ["deploy/web", ":4"]);
    assert_eq!(offered(&["explain", ""], &["b", "a"]), ["b", "a", ":4"], "in the order in which they came");
    assert_eq!(offered(&["list", "--kubeconfig", ""], &[]), [":0"]);
}

#[test]
fn only_the_link_asks_for_completion() {
    for name in ["/usr/bin/kubectl_complete-reserve", "kubectl_complete-pod_reserve.exe"] {
        assert!(is_completion_program(name.as_ref()), "{name}");
    }
    assert!(!is_completion_program("/usr/bin/kubectl-reserve".as_ref()));
}
