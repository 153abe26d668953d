//! The manifests as text, without a cluster: roles that are the rights the code has, names that agree, configurations that
//! load. What they do in a cluster is for `policies`.
#![forbid(unsafe_code)]

mod ports;

use clap::Parser as _;
use common::config::{Configuration, load};
use common::model::CatalogKind;
use common::model::owner::OwnerKind;
use common::plugins::PluginList;
use daemon::args::Args;
use daemon::rights::{RightScope, rights};
use reserve_tests::bench_cluster::REQUESTS_PER_SECOND;
use reserve_tests::control_plane::workspace_dir;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Verbs by group and resource.
type Rules = BTreeMap<(String, String), BTreeSet<String>>;

fn path(name: &str) -> PathBuf {
    workspace_dir().join("manifests").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn documents(name: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn object(file: &str, kind: &str, name: &str) -> Value {
    let is_it = |one: &Value| one["kind"] == kind && one["metadata"]["name"] == name;
    documents(file).into_iter().find(is_it).unwrap_or_else(|| panic!("{file} has no {kind} {name}"))
}

fn words(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The rules of a role. Nothing may be said twice: whoever takes a right away must find all of it.
fn rules(file: &str, name: &str) -> Rules {
    let mut rules = Rules::new();
    for rule in object(file, "ClusterRole", name)["rules"].as_array().into_iter().flatten() {
        for (group, resource) in words(&rule["apiGroups"])
            .iter()
            .flat_map(|group| words(&rule["resources"]).into_iter().map(move |one| (group.clone(), one)))
        {
            let known = rules.insert((group, resource.clone()), words(&rule["verbs"]).into_iter().collect());
            assert_eq!(known, None, "{name} has two rules for {resource}");
        }
    }
    rules
}

/// The rights that the code has at one place.
fn needed(scope: RightScope) -> Rules {
    let mut needed = Rules::new();
    for right in rights().iter().filter(|right| right.scope == scope) {
        let verbs = needed.entry((right.group.to_owned(), right.resource.to_owned())).or_default();
        verbs.extend(right.verbs.iter().map(|verb| (*verb).to_owned()));
    }
    needed
}

#[test]
fn the_daemon_may_do_what_its_code_does_and_nothing_else() {
    assert_eq!(rules("daemon/rbac.yaml", "reserve-daemon"), needed(RightScope::Cluster));
    assert_eq!(rules("daemon/rbac.yaml", "reserve-daemon-leases"), needed(RightScope::OwnNamespace));
}

#[test]
fn what_is_watched_and_what_writes_is_among_the_rights() {
    let everywhere = needed(RightScope::Cluster);
    let owners = OwnerKind::ALL.map(|kind| (kind.group(), kind.plural()));
    let others = CatalogKind::ALL.map(|kind| (kind.group(), kind.plural()));
    for (group, resource) in owners.into_iter().chain(others).chain([("", "nodes"), ("", "pods")]) {
        let verbs = everywhere.get(&(group.to_owned(), resource.to_owned()));
        assert!(verbs.is_some_and(|verbs| verbs.contains("list") && verbs.contains("watch")), "{resource}");
    }
    let users: BTreeSet<&str> = rights().iter().map(|right| right.user).collect();
    for entry in std::fs::read_dir(workspace_dir().join("daemon/src/effects")).unwrap() {
        let file = entry.unwrap().path();
        let module = file.file_stem().unwrap().to_string_lossy().into_owned();
        let module = format!("effects::{module}");
        let writes = !["effects::mod", "effects::tests"].contains(&module.as_str());
        assert!(!writes || users.contains(module.as_str()), "{module} is in no line of daemon/src/rights.rs");
    }
}

#[test]
fn people_who_look_may_list_what_decisions_read() {
    let viewer = rules("daemon/rbac.yaml", "reserve-viewer");
    let mut watched: BTreeSet<_> = needed(RightScope::Cluster)
        .into_iter()
        .filter(|(_, verbs)| verbs.contains("list"))
        .map(|(what, _)| what)
        .collect();
    // Quotas limit what the daemon reserves by itself; no decision reads them.
    watched.remove(&(String::new(), "resourcequotas".to_owned()));
    // Which priorities there are, and what was said about a pod. Leases are for everybody to read, in the daemon's namespace.
    let besides = [("scheduling.k8s.io", "priorityclasses"), ("", "events")];
    watched.extend(besides.map(|(group, resource)| (group.to_owned(), resource.to_owned())));
    assert_eq!(viewer.keys().cloned().collect::<BTreeSet<_>>(), watched);
    let allowed: BTreeSet<&str> = viewer.values().flatten().map(String::as_str).collect();
    assert_eq!(allowed, BTreeSet::from(["get", "list"]));
}

/// Rights by which somebody could get all others, or see what is secret.
const NEVER: [&str; 11] = [
    "*",
    "secrets",
    "nodes/proxy",
    "nodes/status",
    "pods/exec",
    "pods/attach",
    "pods/portforward",
    "serviceaccounts/token",
    "impersonate",
    "escalate",
    "bind",
];

#[test]
fn no_role_has_what_nobody_needs() {
    for file in ["daemon/rbac.yaml", "daemon/account.yaml", "static-pod/rbac.yaml"] {
        for role in documents(file) {
            for rule in role["rules"].as_array().into_iter().flatten() {
                let all =
                    [words(&rule["apiGroups"]), words(&rule["resources"]), words(&rule["verbs"])].concat();
                assert!(!all.iter().any(|word| NEVER.contains(&word.as_str())), "{file}: {rule}");
            }
        }
    }
}

/// A loop over tens of thousands of annotations keeps the API server busy for half a minute, so no policy that confines our accounts
/// begins one before it knows that there are few.
#[test]
fn no_policy_loops_over_annotations_before_it_has_counted_them() {
    let mut loops = 0;
    for file in ["daemon/policies.yaml", "daemon/fence.yaml", "static-pod/rbac.yaml"] {
        let policies = documents(file).into_iter().filter(|one| one["kind"] == "ValidatingAdmissionPolicy");
        for policy in policies {
            let (spec, name) = (&policy["spec"], &policy["metadata"]["name"]);
            let validations = spec["validations"].as_array().into_iter().flatten();
            let of_fence =
                spec["variables"].as_array().into_iter().flatten().filter(|one| one["name"] == "adds");
            for expression in validations.chain(of_fence).filter_map(|one| one["expression"].as_str()) {
                // In all policies `key` is the variable of a loop over annotations, labels or fields.
                let is_loop = ["now", "before", "written", "removed"]
                    .map(|list| format!("variables.{list}.all(key"))
                    .iter()
                    .any(|over| expression.contains(over))
                    || expression.contains("annotations.orValue({}).all(key");
                let is_counted =
                    expression.starts_with("!variables.isSmall || (") || expression.contains("size(o");
                assert!(!is_loop || is_counted, "{file}, {name}: {expression}");
                loops += usize::from(is_loop);
            }
        }
    }
    assert_eq!(loops, 8, "loops were added or removed, or are not recognised any more");
}

#[test]
fn every_file_of_the_folder_is_applied() {
    let kustomization = documents("daemon/kustomization.yaml").remove(0);
    let mut applied: BTreeSet<String> = words(&kustomization["resources"]).into_iter().collect();
    assert!(applied.remove("../policies"), "who may write reservations, and what they may look like");
    applied.extend(words(&kustomization["configMapGenerator"][0]["files"]));
    applied.insert("kustomization.yaml".to_owned());
    let files = std::fs::read_dir(path("daemon")).unwrap();
    let files: BTreeSet<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(applied, files);
}

#[test]
fn the_daemon_is_known_by_one_name_everywhere() {
    let deployment = object("daemon/deployment.yaml", "Deployment", "reserve-daemon");
    let account = deployment["spec"]["template"]["spec"]["serviceAccountName"].as_str().unwrap();
    let namespace = deployment["metadata"]["namespace"].as_str().unwrap();
    object("daemon/account.yaml", "ServiceAccount", account);
    object("daemon/namespace.yaml", "Namespace", namespace);
    let condition = format!("request.userInfo.username == 'system:serviceaccount:{namespace}:{account}'");
    let policies = ["policies", "fence"].map(|file| documents(&format!("daemon/{file}.yaml"))).concat();
    for policy in policies.iter().filter(|one| one["kind"] == "ValidatingAdmissionPolicy") {
        assert_eq!(policy["spec"]["matchConditions"][0]["expression"], *condition);
    }
    for schema in documents("daemon/flow.yaml").iter().filter(|one| one["kind"] == "FlowSchema") {
        let subject = &schema["spec"]["rules"][0]["subjects"][0]["serviceAccount"];
        assert_eq!((&subject["name"], &subject["namespace"]), (&account.into(), &namespace.into()));
    }
    let fence = object("daemon/fence.yaml", "ValidatingAdmissionPolicyBinding", "reserve-fence");
    let election = configuration("daemon/config.yaml").leader_election;
    assert!(election.leader_elect, "the fence refuses everybody if nobody is elected");
    assert_eq!(fence["spec"]["paramRef"]["name"], *election.resource_name);
    assert_eq!(fence["spec"]["paramRef"]["namespace"], *election.resource_namespace);
}

/// Everything that the account may write is confined by a policy, but for what the fence's and the authorizer's own objects are.
#[test]
fn every_write_of_the_daemon_is_confined_by_a_policy() {
    let mut confined = BTreeSet::new();
    for policy in documents("daemon/policies.yaml") {
        for rule in policy["spec"]["matchConstraints"]["resourceRules"].as_array().into_iter().flatten() {
            confined.extend(words(&rule["resources"]));
        }
    }
    let writes = ["create", "update", "patch", "delete"];
    let unconfined = ["nodes/reservations", "events", "tokenreviews", "subjectaccessreviews"];
    for ((_, resource), verbs) in needed(RightScope::Cluster) {
        let is_written = verbs.iter().any(|verb| writes.contains(&verb.as_str()));
        assert!(
            !is_written || unconfined.contains(&&*resource) || confined.contains(&resource),
            "{resource}"
        );
    }
}

/// Both accounts are held to the same by the same rules.
#[test]
fn a_static_pod_is_confined_on_nodes_as_the_daemon_is() {
    let daemon = object("daemon/policies.yaml", "ValidatingAdmissionPolicy", "reserve-daemon-confinement");
    let kind = "ValidatingAdmissionPolicy";
    let static_pod = object("static-pod/rbac.yaml", kind, "reserve-static-pod-nodes");
    assert_eq!(daemon["spec"]["variables"], static_pod["spec"]["variables"]);
    let rules = |policy: &Value| -> Vec<Value> {
        let rules = policy["spec"]["validations"].as_array().cloned().unwrap_or_default();
        rules.into_iter().map(|rule| rule["expression"].clone()).collect()
    };
    assert_eq!(rules(&daemon), rules(&static_pod));
}

/// The rates in the README were measured so.
#[test]
fn the_daemon_is_installed_with_the_request_rate_that_was_measured() {
    let connection = configuration("daemon/config.yaml").client_connection;
    let measured = REQUESTS_PER_SECOND.to_string();
    assert_eq!(
        (connection.qps.to_string(), connection.burst.to_string()),
        (measured.clone(), measured.clone())
    );
    let pod = object("static-pod/kube-scheduler.yaml", "Pod", "kube-scheduler");
    let command = words(&pod["spec"]["containers"][0]["command"]);
    for flag in ["qps", "burst"] {
        assert!(command.contains(&format!("--kube-api-{flag}={measured}")), "{command:?}");
    }
}

#[test]
fn the_daemon_takes_the_arguments_that_it_is_given() {
    let deployment = object("daemon/deployment.yaml", "Deployment", "reserve-daemon");
    let extender = object("extender/deployment.yaml", "Deployment", "reserve-daemon");
    let container = |deployment: &Value| deployment["spec"]["template"]["spec"]["containers"][0].clone();
    let static_pod = object("static-pod/kube-scheduler.yaml", "Pod", "kube-scheduler");
    let (plain, extending) = (words(&container(&deployment)["args"]), words(&container(&extender)["args"]));
    assert_eq!(extending[..plain.len()], plain, "the patch replaces the list");
    for arguments in [plain, extending, words(&static_pod["spec"]["containers"][0]["command"])[1..].to_vec()]
    {
        let program = std::iter::once("reserve-daemon".to_owned());
        let parsed = Args::try_parse_from(program.chain(arguments));
        assert!(parsed.is_ok(), "{}", parsed.unwrap_err());
    }
}

#[test]
fn the_image_is_of_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    let kustomization = documents("daemon/kustomization.yaml").remove(0);
    assert_eq!(kustomization["images"][0]["newTag"], *version);
    let pod = object("static-pod/kube-scheduler.yaml", "Pod", "kube-scheduler");
    assert_eq!(pod["spec"]["containers"][0]["image"], *format!("reserve-daemon:{version}"));
}

fn configuration(file: &str) -> Configuration {
    let loaded = load(file, &text(file), &PluginList::built_in().declarations())
        .unwrap_or_else(|error| panic!("{error}"));
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, Vec::<String>::new(), "{file}");
    loaded.configuration
}

#[test]
fn the_configuration_of_each_example_loads_and_names_the_scheduler_of_its_pods() {
    let examples = [
        ("000-reserve-cpu", "test-scheduler"),
        ("001-node-label", "sample-scheduler"),
        ("002-extender", "reserve-scheduler"),
        ("003-pod-limit", "test-pod-maxnum-scheduler"),
        ("004-extension-points", "wyq"),
    ];
    for (folder, name) in examples {
        let loaded = configuration(&format!("examples/{folder}/scheduler.yaml"));
        assert_eq!(loaded.profiles[0].scheduler_name, name, "{folder}");
        let ours = configuration("daemon/config.yaml").leader_election;
        assert_eq!(loaded.leader_election, ours, "{folder}: the fence looks at this Lease");
        let workload = text(&format!("examples/{folder}/workload.yaml"));
        assert!(
            folder == "002-extender" || workload.contains(&format!("schedulerName: {name}\n")),
            "{folder}"
        );
    }
}

#[test]
fn what_kube_scheduler_is_told_loads_and_is_safe() {
    for file in ["extender/kube-scheduler.yaml", "examples/002-extender/kube-scheduler.yaml"] {
        let extender = &configuration(file).extenders[0];
        assert!(extender.ignorable && extender.node_cache_capable, "{file}");
        let loopback = extender.url_prefix.starts_with("http://127.0.0.1:");
        let document = &documents(file)[0];
        let tls = &document["extenders"][0]["tlsConfig"];
        let mutual =
            ["caFile", "certFile", "keyFile", "serverName"].iter().all(|field| tls[*field].is_string());
        assert!(loopback || (extender.enable_https && mutual), "{file}");
        assert_eq!(document["percentageOfNodesToScore"], 100, "{file}");
    }
}
