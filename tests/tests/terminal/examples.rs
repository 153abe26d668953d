//! The examples in the help of every verb: each is run as it is printed, in a cluster like that of `kubectl reserve sandbox`.

use crate::cluster::Cluster;
use crate::command::Person;
use crate::still::{NOBODY, apps, info, node, uid, workload};
use anyhow::{Result, ensure};
use jiff::Timestamp;
use serde_json::json;

/// The verbs, those that change nothing first. The help of all verbs together is that of "".
const VERBS: [&str; 17] = [
    "",
    "list",
    "describe",
    "nodes",
    "explain",
    "fit",
    "status",
    "doctor",
    "version",
    "install",
    "uninstall",
    "extend",
    "add",
    "release",
    "restart",
    "pod",
    "drain",
];

/// Examples that cannot be run here: they change the machine, need an image, or end the cluster. Other tests run them.
const ELSEWHERE: [&str; 4] = ["demo", "install --image", "uninstall --all", "completion install"];

/// The verbs that ask, and so need `--yes` where nobody can answer.
const ASKING: [&str; 4] = ["pod", "restart", "drain", "release"];

/// Three nodes that are full with one pod each, and one with room. The pod of `batch` fits nowhere. Two reservations are on `node-2`.
fn cluster() -> Result<Cluster> {
    let cluster = Cluster::alive()?;
    let sets = apps("default", "statefulsets");
    // Each node is added when the ones before it are full.
    for (name, app) in [("node-1", "mail"), ("node-2", "shop"), ("node-3", "db")] {
        cluster.create("/api/v1/nodes", &node(name, "4", "a"))?;
        cluster.create(&sets, &workload(app, 1, "4"))?;
        cluster.wait("it has a node", || {
            let found = cluster.read(&format!("/api/v1/namespaces/default/pods/{app}-0"));
            Ok(found.is_ok_and(|pod| pod["status"]["phase"] == "Running"))
        })?;
    }
    cluster.create("/api/v1/nodes", &node("node-4", "6", "gpu"))?;
    cluster.create(&sets, &workload("batch", 1, "8"))?;
    cluster.wait("it is told to wait", || {
        let found = cluster.read("/api/v1/namespaces/default/pods/batch-0");
        Ok(found.is_ok_and(|pod| pod["status"]["conditions"].is_array()))
    })?;
    reserve(&cluster)?;
    for (name, kind, group) in [("job.yaml", "Job", "batch"), ("deployment.yaml", "Deployment", "apps")] {
        let mut manifest = workload("new", 1, "1");
        manifest["kind"] = kind.into();
        manifest["apiVersion"] = format!("{group}/v1").into();
        if let Some(spec) = manifest["spec"].as_object_mut() {
            spec.retain(|field, _| field == "template" || (kind == "Deployment" && field != "serviceName"));
        }
        cluster.file(name, &manifest.to_string())?;
    }
    Ok(cluster)
}

/// The reservation `7f3a0c` for the pod `shop-0`, and one in the plain form for nobody.
#[expect(clippy::disallowed_methods, reason = "time passes in this cluster")]
fn reserve(cluster: &Cluster) -> Result<()> {
    let shop = cluster.read(&format!("{}/shop", apps("default", "statefulsets")))?;
    let pod = cluster.read("/api/v1/namespaces/default/pods/shop-0")?;
    let replaced = json!({ "name": "shop-0", "uid": uid(&pod) });
    let record = info("StatefulSet", &shop, &replaced, Timestamp::now(), 600);
    let id = format!("{}.7f3a0c", uid(&shop));
    let annotations = json!({
        format!("reserve.cpu/{id}"): "4", format!("reserve.memory/{id}"): "1Gi", format!("reserve.info/{id}"): record,
        format!("reserve.memory/{NOBODY}"): "1Gi",
    });
    cluster.merge("/api/v1/nodes/node-2", &json!({ "metadata": { "annotations": annotations } })).map(drop)
}

/// The commands in the section `Examples:` of a help text, without the name of the program. Of a pipeline, the first.
fn examples(help: &str) -> Vec<String> {
    let section = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let section = section.take_while(|line| line.is_empty() || line.starts_with("  "));
    let commands = section.filter_map(|line| line.trim().strip_prefix("kubectl reserve "));
    commands.map(|line| line.split(" | ").next().unwrap_or(line).to_owned()).collect()
}

#[test]
fn every_example_in_the_help_works_as_it_stands() -> Result<()> {
    let cluster = cluster()?;
    let mut person = Person::at(&cluster);
    let mut ran = 0;
    for verb in VERBS {
        let help = person.pipes(format!("{verb} --help").trim())?;
        let lines = examples(&help.out);
        ensure!(!lines.is_empty(), "{verb} has no examples: {help:#?}");
        for line in lines.iter().filter(|line| !ELSEWHERE.iter().any(|other| line.starts_with(other))) {
            let asks = ASKING.iter().any(|asking| line.starts_with(asking)) && !line.contains("--yes");
            let typed = format!("{line}{}", if asks { " --yes" } else { "" });
            let piped = person.pipes(&typed)?;
            // 10: the pod that is asked about fits nowhere, and that is the answer.
            let is_answer = piped.code == 0
                || (piped.code == 10 && (verb.is_empty() || matches!(verb, "explain" | "fit")));
            ensure!(is_answer, "{line}: {piped:#?}\n{}", person.transcript());
            ran += 1;
        }
    }
    ensure!(ran > 40, "only {ran} examples were run");
    Ok(())
}

/// The examples of the verbs that are not in [`VERBS`], and of the topics, are examples, too.
#[test]
fn every_verb_has_examples() -> Result<()> {
    let cluster = Cluster::alive()?;
    let mut person = Person::at(&cluster);
    let all = person.pipes("--help")?.out;
    let verbs =
        all.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| line.starts_with("  "));
    // What a verb does may take several lines; the next ones are indented more.
    let verbs = verbs.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let verbs: Vec<&str> = verbs.filter(|verb| !verb.is_empty()).collect();
    ensure!(verbs.len() > 15, "{verbs:?}");
    for verb in verbs.into_iter().filter(|verb| !matches!(*verb, "help" | "options")) {
        let help = person.pipes(&format!("{verb} --help"))?.out;
        ensure!(!examples(&help).is_empty() || help.contains("Examples:\n"), "{verb}: {help}");
        let is_known = VERBS.contains(&verb) || matches!(verb, "demo" | "sandbox" | "completion");
        ensure!(is_known, "the examples of {verb} are not run");
    }
    for topic in ["exit-codes", "states", "what-if", "environment"] {
        let help = person.pipes(&format!("help {topic}"))?;
        ensure!(
            help.code == 0 && !help.out.starts_with("error") && help.talk.is_empty(),
            "{topic}: {help:#?}"
        );
    }
    Ok(())
}
