//! The proxy for a server, by Go's rules: kube's own code compares NO_PROXY with the proxy's address instead of the server's.

use super::{Environment, parse_url};
use crate::error::Failure;
use http::Uri;
use std::net::IpAddr;

/// The proxy for `server`: `named` if there is one, else that of the environment, unless NO_PROXY excepts the server.
pub(super) fn choose(
    server: &Uri,
    named: Option<&str>,
    environment: &Environment,
) -> Result<Option<Uri>, Failure> {
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        return parse_url("proxy-url", named).map(Some);
    }
    let is_https = server.scheme_str() == Some("https");
    let proxy = if is_https { &environment.https_proxy } else { &environment.http_proxy };
    let Some(proxy) = proxy.as_deref().filter(|_| !is_excepted(server, environment)) else {
        return Ok(None);
    };
    // As Go: a proxy without a scheme is an HTTP proxy.
    let with_scheme = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
    parse_url("HTTPS_PROXY", &with_scheme).map(Some)
}

fn is_excepted(server: &Uri, environment: &Environment) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']).to_ascii_lowercase();
    let host = host.trim_end_matches('.');
    let address = host.parse::<IpAddr>().ok();
    if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
        return true;
    }
    let port = server.port_u16().unwrap_or(if server.scheme_str() == Some("https") { 443 } else { 80 });
    let exceptions = environment.no_proxy.as_deref().unwrap_or_default();
    let exceptions = exceptions.split([',', ' ']).map(str::trim).filter(|exception| !exception.is_empty());
    exceptions.into_iter().any(|exception| matches(&exception.to_ascii_lowercase(), host, address, port))
}

/// Whether one entry of NO_PROXY matches the host: `*`, a network, an address, or a domain with its subdomains. Addresses and
/// domains may have a port.
fn matches(exception: &str, host: &str, address: Option<IpAddr>, port: u16) -> bool {
    if exception == "*" {
        return true;
    }
    if let Some((network, bits)) = exception.split_once('/') {
        let network = network.parse::<IpAddr>().ok();
        return network
            .zip(address)
            .zip(bits.parse().ok())
            .is_some_and(|((network, address), bits)| is_in(network, address, bits));
    }
    let (name, wanted) = with_port(exception);
    if wanted.is_some_and(|wanted| wanted != port) {
        return false;
    }
    if let Ok(excepted) = name.parse::<IpAddr>() {
        return address == Some(excepted);
    }
    match name.strip_prefix("*.").or_else(|| name.strip_prefix('.')) {
        Some(parent) => host.strip_suffix(parent).is_some_and(|before| before.ends_with('.')),
        None => host == name || host.strip_suffix(name).is_some_and(|before| before.ends_with('.')),
    }
}

/// Splits a host from its port, if it has one. IPv6 addresses may be in brackets.
fn with_port(text: &str) -> (&str, Option<u16>) {
    if text.parse::<IpAddr>().is_ok() {
        return (text, None);
    }
    match text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?))) {
        Some((host, port)) => (host.trim_matches(['[', ']']), Some(port)),
        None => (text.trim_matches(['[', ']']), None),
    }
}

fn is_in(network: IpAddr, address: IpAddr, bits: u32) -> bool {
    let same = |a: u128, b: u128, width: u32| match width.checked_sub(bits) {
        Some(rest) => a.checked_shr(rest) == b.checked_shr(rest),
        None => false,
    };
    match (network, address) {
        (IpAddr::V4(a), IpAddr::V4(b)) => same(u32::from(a).into(), u32::from(b).into(), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => same(a.into(), b.into(), 128),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::choose;
    use crate::connect::Environment;

    fn chosen(server: &str, no_proxy: &str) -> Option<String> {
        let environment = Environment {
            https_proxy: Some("http://proxy:3128".into()),
            no_proxy: Some(no_proxy.into()),
            ..Environment::default()
        };
        let proxy = choose(&server.parse().unwrap(), None, &environment).unwrap();
        proxy.map(|proxy| proxy.to_string())
    }

    #[test]
    fn exceptions_are_about_the_server() {
        let through =
            ["", "proxy", "other.example", "ample.com", "10.0.0.0/8", "api.example.com:443", "x/y", ",, ,"];
        for no_proxy in through {
            assert!(chosen("https://api.example.com:6443", no_proxy).is_some(), "{no_proxy:?}");
        }
        for no_proxy in [
            "*",
            "example.com",
            ".example.com",
            "*.example.com",
            "localhost,api.example.com,",
            "API.example.com",
            "x, example.com:6443",
        ] {
            assert!(chosen("https://api.example.com:6443", no_proxy).is_none(), "{no_proxy:?}");
        }
        assert!(chosen("https://example.com", ".example.com").is_some(), "only what is below");
    }

    #[test]
    fn addresses_can_be_excepted_by_network() {
        for no_proxy in ["10.1.2.3", "10.0.0.0/8", "10.1.2.3:6443", "0.0.0.0/0"] {
            assert!(chosen("https://10.1.2.3:6443", no_proxy).is_none(), "{no_proxy:?}");
        }
        for no_proxy in ["10.1.2.4", "10.2.0.0/16", "10.1.2.3:443", "10.0.0.0/33", "fd00::/8"] {
            assert!(chosen("https://10.1.2.3:6443", no_proxy).is_some(), "{no_proxy:?}");
        }
        assert!(chosen("https://[fd00::1]:6443", "fd00::/8").is_none());
        assert!(chosen("https://[fd00::1]:6443", "[fd00::1]:6443").is_none());
        for loopback in ["https://127.0.0.1:6443", "https://localhost", "https://[::1]:1"] {
            assert!(chosen(loopback, "").is_none(), "{loopback}");
        }
    }

    #[test]
    fn a_named_proxy_has_no_exceptions_and_plain_http_a_proxy_of_its_own() {
        let environment = Environment {
            https_proxy: Some("proxy:3128".into()),
            no_proxy: Some("*".into()),
            ..Environment::default()
        };
        let server = "https://api.example.com".parse().unwrap();
        let named = choose(&server, Some("socks5://other:1080"), &environment).unwrap();
        assert_eq!(named.unwrap().scheme_str(), Some("socks5"));
        let environment = Environment { no_proxy: None, ..environment };
        let proxy = choose(&server, None, &environment).unwrap().unwrap();
        assert_eq!(proxy.to_string(), "http://proxy:3128/");
        assert!(choose(&"http://api.example.com".parse().unwrap(), None, &environment).unwrap().is_none());
        assert!(choose(&server, Some("http://[bad"), &environment).is_err());
    }
}
