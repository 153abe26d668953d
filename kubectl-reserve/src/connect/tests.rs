//! Tests: flags and kubeconfigs are read as kubectl reads them.

use super::flags::{server_url, timeout};
use super::kubeconfig::resolve;
use super::{Environment, connect_with};
use crate::cli::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const ONE: &str = "
current-context: one
clusters: [{name: c1, cluster: {server: 'https://one:6443', insecure-skip-tls-verify: true}}]
users: [{name: u1, user: {token: t1}}, {name: u2, user: {username: me, password: secret}}]
contexts: [{name: one, context: {cluster: c1, user: u1, namespace: n1}}]
";
const TWO: &str = "
current-context: two
clusters: [{name: c2, cluster: {server: 'two:8080', proxy-url: 'http://proxy'}}]
contexts: [{name: two, context: {cluster: c2, user: u1}}]
";

fn file(name: &str, text: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tests-connect");
    fs::create_dir_all(&dir).unwrap();
    let path = dir.join(format!("{name}-{}", std::process::id()));
    fs::write(&path, text).unwrap();
    path
}

fn with(files: &[PathBuf]) -> Environment {
    Environment { kubeconfigs: files.to_vec(), ..Environment::default() }
}

#[test]
fn files_are_merged_and_missing_ones_passed_over() {
    let (one, two) = (file("merged-1", ONE), file("merged-2", TWO));
    let environment = with(&["/no/such/file".into(), one, two]);
    let first = resolve(&Connection::default(), &environment).unwrap().unwrap();
    assert_eq!(first.cluster.server.as_deref(), Some("https://one:6443"));
    assert_eq!(first.namespace, "n1");
    let flags = Connection { context: Some("two".into()), ..Connection::default() };
    let second = resolve(&flags, &environment).unwrap().unwrap();
    assert_eq!(second.cluster.server.as_deref(), Some("two:8080"));
    assert_eq!(second.cluster.proxy_url.as_deref(), Some("http://proxy"));
    assert_eq!(second.namespace, "default");
    assert!(second.user.token.is_some(), "a user of the other file");
}

#[test]
fn what_is_not_there_is_named() {
    let environment = with(&[file("missing", ONE)]);
    let message = |flags| resolve(&flags, &environment).unwrap_err().message.unwrap();
    let named = |name: &str| Some(name.to_owned());
    let context = Connection { context: named("no"), ..Connection::default() };
    assert_eq!(message(context), "context was not found for specified context: no");
    let cluster = Connection { cluster: named("no"), ..Connection::default() };
    assert_eq!(message(cluster), "no server found for cluster \"no\"");
    let user = Connection { user: named("no"), ..Connection::default() };
    assert_eq!(message(user), "auth info \"no\" does not exist");
    let group = Connection { as_group: vec!["g".into()], ..Connection::default() };
    assert!(message(group).contains("without impersonating a user"));
    let empty = resolve(&Connection::default(), &with(&[file("empty", "")])).unwrap_err();
    assert!(empty.message.unwrap().contains("no current context"));
}

#[test]
fn flags_go_before_the_kubeconfig() {
    let environment = with(&[file("flags", ONE)]);
    let flags = Connection {
        user: Some("u2".into()),
        token: Some("t2".into()),
        server: Some("https://other".into()),
        tls_server_name: Some("name".into()),
        insecure_skip_tls_verify: Some(false),
        client_certificate: Some("c.pem".into()),
        client_key: Some("k.pem".into()),
        as_user: Some("jane".into()),
        as_uid: Some("7".into()),
        as_group: vec!["g1".into(), "g2".into()],
        as_user_extra: vec!["a=1".into(), "a=2".into(), "b=".into()],
        ..Connection::default()
    };
    let chosen = resolve(&flags, &environment).unwrap().unwrap();
    assert_eq!(chosen.cluster.server.as_deref(), Some("https://other"));
    assert_eq!(chosen.cluster.tls_server_name.as_deref(), Some("name"));
    assert_eq!(chosen.cluster.insecure_skip_tls_verify, Some(false));
    let user = chosen.user;
    assert!(user.token.is_some() && user.username.is_none() && user.password.is_none());
    assert_eq!(user.client_certificate.as_deref(), Some("c.pem"));
    assert_eq!((user.impersonate.as_deref(), user.impersonate_uid.as_deref()), (Some("jane"), Some("7")));
    assert_eq!(user.impersonate_groups.unwrap(), ["g1", "g2"]);
    let extras = user.impersonate_user_extra.unwrap();
    assert_eq!((&extras["a"], &extras["b"]), (&vec!["1".to_owned(), "2".into()], &vec![String::new()]));
}

#[test]
fn an_address_alone_is_enough_and_nothing_at_all_is_not() {
    let flags = Connection { server: Some("http://127.0.0.1:1".into()), ..Connection::default() };
    assert!(resolve(&flags, &with(&[])).unwrap().is_some());
    assert!(resolve(&Connection::default(), &with(&[])).unwrap().is_none());
}

#[tokio::test]
async fn a_broken_kubeconfig_is_an_error_and_never_another_cluster() {
    let flags = Connection { request_timeout: "0".into(), ..Connection::default() };
    for broken in ["clusters: [", "clusters: 7", "- a"] {
        let environment = with(&[file("broken", broken)]);
        let failure = connect_with(&flags, &environment, 0).await.err().unwrap();
        let message = failure.message.unwrap();
        assert!(message.starts_with("kubeconfig ") && message.contains("broken-"), "{message}");
    }
}

#[test]
fn addresses_are_read_as_kubectl_reads_them() {
    let url = |server, tls| server_url(server, tls).ok().map(|url| url.to_string());
    assert_eq!(url("host:8080", false).as_deref(), Some("http://host:8080/"));
    assert_eq!(url("host", true).as_deref(), Some("https://host/"));
    assert_eq!(url("https://host/sub", false).as_deref(), Some("https://host/sub"));
    for odd in ["", "ftp://host", "https://", "https://a b", "http://[x"] {
        assert_eq!(url(odd, true), None, "{odd:?}");
    }
}

#[test]
fn durations_are_kubectls() {
    let seconds = |text| timeout(text).unwrap().map(|duration: Duration| duration.as_secs_f64());
    assert_eq!(seconds("0"), None);
    assert_eq!(seconds("0s"), None);
    assert_eq!(seconds("7"), Some(7.0));
    assert_eq!(seconds("30s"), Some(30.0));
    assert_eq!(seconds("1m30s"), Some(90.0));
    assert_eq!(seconds("1h"), Some(3600.0));
    assert_eq!(seconds("500ms"), Some(0.5));
    for odd in ["", "s", "-1s", "1d", "ten", "1 s", "99999999999999999h", "1ä"] {
        assert!(timeout(odd).is_err(), "{odd:?}");
    }
}
