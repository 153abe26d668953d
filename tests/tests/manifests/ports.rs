//! Who may connect to which port: probes, and NetworkPolicies.

use super::{documents, object, text, words};
use serde_json::{Value, json};

/// They ask over plain HTTP, which is served nowhere else.
#[test]
fn probes_ask_the_port_that_the_daemon_serves_them_on() {
    let deployment = object("daemon/deployment.yaml", "Deployment", "reserve-daemon");
    let static_pod = object("static-pod/kube-scheduler.yaml", "Pod", "kube-scheduler");
    let both = [&deployment["spec"]["template"]["spec"], &static_pod["spec"]];
    for container in both.map(|spec| &spec["containers"][0]) {
        let ports: Vec<Value> = container["ports"].as_array().cloned().unwrap_or_default();
        let mut count = 0;
        for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
            let Some(get) = container[probe].get("httpGet") else { continue };
            let named = ports.iter().find(|port| port["name"] == get["port"]);
            let port = named.map_or(&get["port"], |port| &port["containerPort"]);
            let host = get["host"].as_str().unwrap_or_default();
            let flag = format!("--health-probe-bind-address={host}:{port}");
            let given = [words(&container["args"]), words(&container["command"])].concat();
            assert!(given.contains(&flag), "{probe}: {flag}");
            assert!(get["scheme"].is_null(), "{probe}: plain HTTP is served there");
            count += 1;
        }
        assert!(count >= 2, "{container}");
    }
}

#[test]
fn no_port_of_the_daemon_is_open_to_everybody() {
    let shipped = [("daemon/network.yaml", "reserve-daemon"), ("extender/network.yaml", "reserve-daemon")];
    for (file, name) in shipped.into_iter().chain([("extender/control-plane.yaml", "reserve-extender")]) {
        let policy = object(file, "NetworkPolicy", name);
        for rule in policy["spec"]["ingress"].as_array().unwrap() {
            let from = rule["from"].as_array().cloned().unwrap_or_default();
            assert!(!from.is_empty() && !from.contains(&json!({})), "{file}: {rule}");
            let everybody = ["0.0.0.0/0", "::/0"];
            let is_open = |peer: &Value| everybody.iter().any(|all| peer["ipBlock"]["cidr"] == **all);
            assert!(!from.iter().any(is_open), "{file}: {rule}");
            let ports: Vec<&Value> =
                rule["ports"].as_array().unwrap().iter().map(|port| &port["port"]).collect();
            assert!(!ports.is_empty(), "{file}: a rule without ports is for all of them");
            assert!(!ports.contains(&&Value::from("probes")), "{file}: kubelets need no rule");
        }
    }
}

/// No selector finds a kube-scheduler on its host's network: its addresses are a step of their own, which nobody may overlook.
#[test]
fn the_addresses_of_the_control_plane_are_a_step_that_is_told() {
    let own = object("daemon/network.yaml", "NetworkPolicy", "reserve-daemon");
    let addresses = object("extender/control-plane.yaml", "NetworkPolicy", "reserve-extender");
    assert_eq!(addresses["spec"]["podSelector"], own["spec"]["podSelector"]);
    assert_eq!(addresses["metadata"]["namespace"], own["metadata"]["namespace"]);
    let rules = addresses["spec"]["ingress"].as_array().unwrap();
    assert_eq!((rules.len(), &rules[0]["ports"]), (1, &json!([{"port": "extender"}])));
    // Addresses that no cluster has, so that they must be replaced.
    let is_placeholder =
        |peer: &Value| peer["ipBlock"]["cidr"].as_str().is_some_and(|cidr| cidr.starts_with("192.0.2."));
    assert!(rules[0]["from"].as_array().unwrap().iter().all(is_placeholder), "{rules:?}");
    let resources = words(&documents("extender/kustomization.yaml")[0]["resources"]);
    assert!(!resources.contains(&"control-plane.yaml".to_owned()), "an upgrade would take addresses away");
    let readme = text("extender/README.md");
    assert!(readme.contains("kubectl apply -f control-plane.yaml"), "{readme}");
    // The last is what `kubectl reserve install --extender` prints.
    for file in ["extender/network.yaml", "extender/kube-scheduler.yaml"] {
        assert!(text(file).contains("control-plane.yaml"), "{file}");
    }
}
