//! The verbs that look and change nothing: the same lines on a terminal and in a pipe, in a cluster where time stands still.

use crate::alive;
use crate::command::Person;
use crate::golden::{Times, golden, wide};
use crate::still::{Still, shared_cluster};
use anyhow::{Result, ensure};
use serde_json::json;

/// Verb by verb, what is typed.
fn lines(shared_cluster: &Still) -> Vec<(&'static str, Vec<String>)> {
    let (shop, web) = (&shared_cluster.shop, &shared_cluster.web[0]);
    let own = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    vec![
        (
            "list",
            own(&[
                "list",
                "list -A",
                "list -A -o wide",
                "list -A -o name",
                "list 7f3a0c",
                "list -A -l pool=db",
                "list -l 'pool in ('",
                "list nope",
                "list -n kube-system --owner deploy/web",
            ]),
        ),
        (
            "describe",
            own(&[
                "describe 7f3a0c",
                "describe -n data 91c0aa",
                "describe node/node-2",
                "describe node-3/reserve.cpu/oops",
                &format!("describe pod/{web}"),
                "describe nope",
                "describe node/node-3 -o name",
            ]),
        ),
        ("nodes", own(&["nodes", "nodes --free", "nodes node-1 -o wide", "nodes -l pool=db", "nodes nope"])),
        (
            "explain",
            own(&[
                "explain",
                "explain -A",
                &format!("explain {shop}"),
                &format!("explain {shop} --full"),
                "explain deploy/shop --brief",
                &format!("explain {web}"),
                &format!("explain {shop} --node node-1"),
                &format!("explain {shop} --what-if uncordon=node-3"),
                "explain -n kube-system",
                "explain nope",
                "explain -f many.yaml",
                "explain -f wrong.yaml",
                "explain -f empty.yaml",
                &format!("explain {shop} --what-if priority=1"),
            ]),
        ),
        (
            "fit",
            own(&[
                "fit --cpu 1 --memory 1Gi --replicas 3",
                "fit --cpu 3 --per-node",
                "fit --cpu 9 --per-node",
                "fit -f many.yaml",
                "fit --cpu 6 --replicas 2 --scheduler reserve-scheduler",
                "fit --cpu 1 --scheduler reserve-scheduler --toleration dedicated=db --per-node -o name",
                "fit",
            ]),
        ),
        ("status", own(&["status", "status -o wide"])),
        ("version", own(&["version", "version --client"])),
        ("options", own(&["options"])),
        ("completion", own(&["completion nothing"])),
    ]
}

#[test]
fn every_verb_that_looks_on_a_terminal() -> Result<()> {
    let shared_cluster = shared_cluster()?;
    for (verb, lines) in lines(&shared_cluster) {
        let mut person = Person::at(&shared_cluster.cluster);
        for line in &lines {
            let left = person.types(line)?;
            let wide = if line.contains("wide") { Vec::new() } else { wide(&left.text) };
            ensure!(wide.is_empty(), "{line}: {wide:#?}");
        }
        golden(&format!("terminal-{verb}"), &person.transcript(), Times::Shown);
    }
    Ok(())
}

/// That nobody schedules it is half of the answer; the nodes are the other half.
#[test]
fn a_pod_that_nobody_schedules_is_told_so_and_what_the_nodes_would_say() -> Result<()> {
    let shared_cluster = shared_cluster()?;
    let container =
        |cpu: &str| json!([{ "name": "c", "image": "x", "resources": { "requests": { "cpu": cpu } } }]);
    for (name, cpu) in [("small", "1"), ("large", "9")] {
        let pod = json!({ "metadata": { "name": name },
                          "spec": { "schedulerName": "nobody", "containers": container(cpu) } });
        shared_cluster.cluster.create("/api/v1/namespaces/default/pods", &pod)?;
    }
    shared_cluster.wait(20)?;
    let mut person = Person::at(&shared_cluster.cluster);
    for (name, nodes) in [("small", "It fits now on node-1"), ("large", "No node fits.")] {
        let piped = person.pipes(&format!("explain {name}"))?;
        let told = piped.out.split_whitespace().collect::<Vec<_>>().join(" ");
        let (first, second) =
            (told.find("Nobody schedules it: no scheduler of the name \"nobody\""), told.find(nodes));
        ensure!(piped.code == 10 && first.is_some() && first < second, "{name}: {piped:#?}");
        ensure!(!told.contains("running?"), "{name}: that is what the first sentence answers: {told}");
    }
    let overview = person.pipes("explain")?;
    ensure!(overview.out.contains("nobody schedules it"), "{overview:#?}");
    Ok(())
}

/// Every command that is printed as the next step can be typed as it is, whatever was asked.
#[test]
fn the_next_step_can_be_pasted() -> Result<()> {
    let shared_cluster = shared_cluster()?;
    let mut person = Person::at(&shared_cluster.cluster);
    person.pipes(&format!("explain {} --save-snapshot saved.gz", shared_cluster.shop))?;
    for line in [
        "explain",
        "explain --snapshot saved.gz",
        &format!("explain {}", shared_cluster.shop),
        &format!("explain {} --snapshot saved.gz", shared_cluster.shop),
        "explain -f many.yaml --scheduler default-scheduler",
        "explain -n kube-system",
    ] {
        let piped = person.pipes(line)?;
        let said = format!("{}{}", piped.out, piped.talk);
        let next: Vec<&str> =
            said.split("kubectl reserve ").skip(1).filter_map(|text| text.lines().next()).collect();
        for next in next.into_iter().filter(|next| next.starts_with("explain")) {
            let followed = person.pipes(next)?;
            ensure!(
                matches!(followed.code, 0 | 10) && !followed.out.is_empty(),
                "{line}: {next}: {followed:#?}"
            );
            ensure!(!line.contains("saved") || next.contains("--snapshot saved.gz"), "{line}: {next}");
        }
    }
    Ok(())
}

/// It compares clocks, and so needs a cluster where time passes.
#[test]
fn doctor_looks_at_everything() -> Result<()> {
    let cluster = alive::shared_cluster()?;
    alive::replicas_have_seen_all_nodes(&cluster)?;
    let mut person = Person::at(&cluster);
    let left = person.types("doctor")?;
    ensure!(wide(&left.text).is_empty(), "{:#?}", wide(&left.text));
    golden("terminal-doctor", &person.transcript(), Times::Covered);
    person.pipes("doctor")?;
    golden("pipe-doctor", &person.transcript(), Times::Covered);
    Ok(())
}

#[test]
fn every_verb_that_looks_in_a_pipe() -> Result<()> {
    let shared_cluster = shared_cluster()?;
    for (verb, lines) in lines(&shared_cluster) {
        let mut person = Person::at(&shared_cluster.cluster);
        for line in &lines {
            let piped = person.pipes(line)?;
            ensure!(!piped.out.contains('\u{1b}') && !piped.talk.contains('\u{1b}'), "{line}");
        }
        golden(&format!("pipe-{verb}"), &person.transcript(), Times::Shown);
    }
    Ok(())
}
