//! What is offered for which words. Names are handed in; `tests/tests/citizen` asks a real cluster for them.

use super::asked::{Asked, Wanted};
use super::{is_asked_by, text};

fn asked(words: &[&str]) -> Asked {
    Asked::new(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
}

/// The candidates without their descriptions, and the directive.
fn offered(words: &[&str], live: &[&str]) -> Vec<String> {
    let text = text(&asked(words), live.iter().map(ToString::to_string).collect());
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
    let wanted = |words: &[&str]| asked(words).wanted;
    for words in
        [&["-n", ""][..], &["list", "-n", ""], &["list", "--namespace", "k"], &["list", "--namespace="]]
    {
        assert_eq!(wanted(words), [Wanted::Namespaces], "{words:?}");
    }
    assert_eq!(wanted(&["list", "--context", ""]), [Wanted::Contexts]);
    assert_eq!(wanted(&["list", "--cluster", ""]), [Wanted::Clusters]);
    assert_eq!(wanted(&["list", "--user", ""]), [Wanted::Users]);
    assert_eq!(wanted(&["list", "--kubeconfig", ""]), [Wanted::Files]);
    assert_eq!(wanted(&["list", ""]), [Wanted::Reservations]);
    assert_eq!(wanted(&["why", ""]), [Wanted::PendingPods]);
    assert_eq!(wanted(&["explain", "-n", "shop", "deploy/w"]), [Wanted::Workloads]);
    assert_eq!(wanted(&["-n", "list", ""]), [], "the value of a flag is no verb");
    assert_eq!(wanted(&["list", "--no-headers", ""]), [Wanted::Reservations]);
    assert_eq!(wanted(&["list", "-"]), []);
}

#[test]
fn the_connection_is_what_was_typed_so_far() {
    for words in
        [&["explain", "-n", "shop", ""][..], &["-nshop", "explain", ""], &["explain", "--namespace=shop", ""]]
    {
        assert_eq!(asked(words).connection.namespace.as_deref(), Some("shop"), "{words:?}");
    }
    let both = asked(&["explain", "--insecure-skip-tls-verify", "--context", "c", "--color", "never", ""]);
    assert_eq!(both.connection.context.as_deref(), Some("c"));
    assert_eq!(both.connection.insecure_skip_tls_verify, Some(true));
    let open = asked(&["explain", "--context", "c", "-n", ""]).connection;
    assert_eq!((open.context.as_deref(), open.namespace), (Some("c"), None), "the flag that is asked about");
    assert_eq!(open.request_timeout, "0", "what makes no sense must not keep us from connecting");
    let odd = asked(&["explain", "--color", "nonsense", ""]).connection;
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
        assert!(is_asked_by(name.as_ref()), "{name}");
    }
    assert!(!is_asked_by("/usr/bin/kubectl-reserve".as_ref()));
}
