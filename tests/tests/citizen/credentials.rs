//! Tokens, credential plugins and proxies.

use super::connecting::token;
use super::{SHARED_CLUSTER, Said, kubectl};
use anyhow::{Context as _, Result};
use reserve_tests::shared_cluster::TestNamespace;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

/// A kubeconfig for the cluster's server with this user.
fn kubeconfig(ns: &TestNamespace, name: &str, cluster: &str, user: &str) -> Result<PathBuf> {
    let dir = ns.cluster.dir();
    let text = format!(
        "current-context: x\ncontexts: [{{name: x, context: {{cluster: x, user: x}}}}]\n\
         clusters: [{{name: x, cluster: {{certificate-authority: ca.crt, {cluster}}}}}]\n\
         users: [{{name: x, user: {{{user}}}}}]\n"
    );
    let path = dir.join(format!("{name}.kubeconfig"));
    fs::write(&path, text)?;
    Ok(path)
}

fn server(ns: &TestNamespace) -> Result<String> {
    Ok(format!("server: 'https://127.0.0.1:{}'", ns.cluster.api_port()?))
}

fn list(
    ns: &TestNamespace,
    kubeconfig: &std::path::Path,
    environment: &[(&str, &str)],
    more: &[&str],
) -> Result<Said> {
    let file = kubeconfig.to_str().context("not text")?;
    let environment = [&[("KUBECONFIG", file)][..], environment].concat();
    kubectl(ns.cluster, &environment, &[&["reserve", "list", "-A"][..], more].concat())
}

/// A plugin that writes down that it was asked, and answers with `answer`.
fn plugin(ns: &TestNamespace, name: &str, body: &str) -> Result<PathBuf> {
    let path = ns.cluster.dir().join(name);
    fs::write(&path, format!("#!/bin/sh\necho asked >> \"$0.log\"\n{body}\n"))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

fn exec(command: &str) -> String {
    format!(
        "exec: {{apiVersion: client.authentication.k8s.io/v1, command: {command}, interactiveMode: IfAvailable, \
         provideClusterInfo: true, env: [{{name: WHO, value: plugin}}]}}"
    )
}

#[test]
fn a_token_goes_before_whatever_the_kubeconfig_says() -> Result<()> {
    SHARED_CLUSTER.run("token", async |ns| {
        let file = kubeconfig(&ns, "token", &server(&ns)?, "token: wrong")?;
        let refused = list(&ns, &file, &[], &[])?;
        assert!(refused.talk.contains("You must be logged in to the server"), "{}", refused.talk);
        list(&ns, &file, &[], &["--token", &token(&ns)?])?.well()?;
        let file = kubeconfig(&ns, "exec-and-token", &server(&ns)?, &exec("./no-such-plugin"))?;
        list(&ns, &file, &[], &["--token", &token(&ns)?])?.well().map(drop)
    })
}

#[test]
fn a_credential_plugin_is_asked_once_and_heard() -> Result<()> {
    SHARED_CLUSTER.run("exec", async |ns| {
        let body = format!(
            "[ \"$WHO\" = plugin ] || exit 9\n\
             case $KUBERNETES_EXEC_INFO in *'\"server\":\"https://127'*) ;; *) exit 8 ;; esac\n\
             echo 'hello from the plugin' >&2\n\
             echo '{{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",'\n\
             echo '\"status\":{{\"token\":\"{}\"}}}}'",
            token(&ns)?
        );
        let plugin = plugin(&ns, "plugin", &body)?;
        // Relative to the kubeconfig, as in kubectl.
        let file = kubeconfig(&ns, "exec", &server(&ns)?, &exec("./plugin"))?;
        let said = list(&ns, &file, &[], &[])?;
        assert!(said.talk.contains("hello from the plugin"), "{}", said.talk);
        said.well()?;
        let log = fs::read_to_string(plugin.with_extension("log"))?;
        assert_eq!(log.lines().count(), 1, "a person would be asked each time");
        Ok(())
    })
}

#[test]
fn a_credential_plugin_that_fails_is_named() -> Result<()> {
    SHARED_CLUSTER.run("exec-fails", async |ns| {
        plugin(&ns, "failing", "echo no luck >&2; exit 3")?;
        let file = kubeconfig(&ns, "failing", &server(&ns)?, &exec("./failing"))?;
        let said = list(&ns, &file, &[], &[])?;
        assert_eq!(said.code, Some(1));
        assert!(said.talk.contains("no luck") && said.talk.contains("exit status: 3"), "{}", said.talk);
        assert!(said.talk.contains("failing"), "{}", said.talk);
        Ok(())
    })
}

/// A proxy for one connection: returns the request line that it got, and passes everything on.
#[expect(clippy::expect_used, reason = "a machine that starts no thread runs no test")]
fn proxy(listener: TcpListener, to: Option<u16>) -> std::thread::JoinHandle<Result<String>> {
    std::thread::Builder::new()
        .spawn(move || {
            let (client, _) = listener.accept()?;
            let mut reader = BufReader::new(client.try_clone()?);
            let mut first = String::new();
            reader.read_line(&mut first)?;
            let mut line = String::new();
            while reader.read_line(&mut line)? > 2 {
                line.clear();
            }
            let mut client = client;
            let Some(port) = to else {
                client.write_all(b"HTTP/1.1 403 Forbidden\r\n\r\n")?;
                return Ok(first);
            };
            client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
            let mut server = TcpStream::connect(("127.0.0.1", port))?;
            let (mut from_server, mut to_client) = (server.try_clone()?, client.try_clone()?);
            let back =
                std::thread::Builder::new().spawn(move || std::io::copy(&mut from_server, &mut to_client))?;
            let _ = std::io::copy(&mut client, &mut server);
            let _ = server.shutdown(std::net::Shutdown::Both);
            drop(back.join());
            Ok(first)
        })
        .expect("start a thread")
}

#[test]
fn the_way_leads_through_the_proxy_that_is_named() -> Result<()> {
    SHARED_CLUSTER.run("proxy", async |ns| {
        let port = ns.cluster.api_port()?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let passed = proxy(listener, Some(port));
        let file = kubeconfig(&ns, "proxy", &server(&ns)?, &format!("token: {}", token(&ns)?))?;
        let said = kubectl(
            ns.cluster,
            &[("KUBECONFIG", file.to_str().context("not text")?), ("NO_PROXY", "*")],
            &["reserve", "version", &format!("--proxy-url={url}")],
        )?;
        said.well()?;
        let first = passed.join().expect("the proxy ran")?;
        assert!(first.starts_with(&format!("CONNECT 127.0.0.1:{port} ")), "{first}");
        Ok(())
    })
}

#[test]
fn exceptions_from_the_proxy_are_about_the_server() -> Result<()> {
    SHARED_CLUSTER.run("no-proxy", async |ns| {
        let server = "server: 'https://api.cluster.invalid:6443'";
        let file = kubeconfig(&ns, "no-proxy", server, "token: x")?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let asked = proxy(listener, None);
        // A comma at the end and the proxy's own name: both are kube's stumbling blocks.
        let through = [("HTTPS_PROXY", url.as_str()), ("NO_PROXY", "127.0.0.1,")];
        assert_eq!(list(&ns, &file, &through, &[])?.code, Some(1));
        let first = asked.join().expect("the proxy ran")?;
        assert!(first.starts_with("CONNECT api.cluster.invalid:6443 "), "{first}");
        // Nobody listens there any more: a refused connection would name the proxy's port.
        let past = [("HTTPS_PROXY", url.as_str()), ("NO_PROXY", "cluster.invalid")];
        let said = list(&ns, &file, &past, &["--request-timeout=20s"])?;
        assert_eq!(said.code, Some(1));
        assert!(
            said.talk.contains("dns")
                || said.talk.contains("lookup")
                || said.talk.contains("resolve")
                || said.talk.contains("timeout"),
            "{}",
            said.talk
        );
        Ok(())
    })
}
