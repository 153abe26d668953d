//! `kubectl reserve explain` and `fit` on a real control plane with the real kube-scheduler, typed into the real kubectl.

use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{
    User, bare_pod, deployment, describe, job, name_of, stateful_set, unscheduled,
};
use reserve_tests::shared_cluster::{SharedCluster, TestNamespace};
use serde_json::{Value, json};
use std::time::Duration;

static SHARED_CLUSTER: SharedCluster =
    SharedCluster::new("explain", None).with_scheduler("percentageOfNodesToScore: 100\n");

const SOON: Duration = Duration::from_secs(90);
const UPSTREAM: &str = "default-scheduler";

/// What came back: the exit code, data, talk.
#[derive(Debug)]
struct Said {
    code: i32,
    out: String,
    talk: String,
}

impl Said {
    /// Without line breaks, so that a sentence can be looked for.
    fn flat(&self) -> String {
        self.out.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn typed(ns: TestNamespace, user: User, arguments: &[&str]) -> Result<Said> {
    let mut command = ns.cluster.kubectl(user)?;
    command.arg("reserve").args(arguments).args(["-n", ns.name]);
    let output = tokio::task::block_in_place(|| command.output()).context("run kubectl")?;
    let code = output.status.code().context("kubectl was killed")?;
    Ok(Said { code, out: String::from_utf8(output.stdout)?, talk: String::from_utf8(output.stderr)? })
}

fn explain(ns: TestNamespace, arguments: &[&str]) -> Result<Said> {
    typed(ns, User::Admin, &[&["explain"], arguments].concat())
}

/// Explains until the answer has `words`, and then checks the exit code.
async fn expect(ns: TestNamespace, arguments: &[&str], words: &str, code: i32) -> Result<Said> {
    let said = ns
        .cluster
        .wait_until(&format!("explain {arguments:?} says {words:?}"), SOON, async || {
            let said = explain(ns, arguments)?;
            ensure!(said.flat().contains(words), "{said:?}");
            Ok(said)
        })
        .await?;
    ensure!(said.code == code, "exit code {} instead of {code}: {said:?}", said.code);
    // A command stays on one line, so that it can be copied.
    let is_narrow = |line: &str| line.chars().count() <= 80 || line.trim_start().starts_with("kubectl ");
    ensure!(said.out.lines().all(is_narrow), "too wide: {}", said.out);
    Ok(said)
}

#[test]
fn each_pods_own_state_is_said_in_a_plain_sentence() -> Result<()> {
    SHARED_CLUSTER.run("states", async |ns| {
        ns.node("n1", "4").await?;
        let nothing = explain(ns, &[])?;
        assert_eq!((nothing.code, &*nothing.out), (0, ""));
        // Where else pods are Pending depends on the other tests.
        assert_eq!(nothing.talk.lines().next(), Some("No pending pods found in states namespace."));

        let pod = |name: &str| ns.fit_for(bare_pod(name).cpu("100m"), UPSTREAM);
        let claim = json!([{ "name": "v", "persistentVolumeClaim": { "claimName": "missing" } }]);
        ns.cluster.deploy(pod("bound")).await?;
        ns.cluster
            .deploy(pod("gated").pod_field("schedulingGates", json!([{ "name": "example.com/wait" }])))
            .await?;
        ns.cluster.deploy(pod("strange").pod_field("schedulerName", json!("volcano"))).await?;
        ns.cluster.deploy(pod("nowhere").pod_field("nodeName", json!("states-gone"))).await?;
        ns.cluster.deploy(pod("claimless").pod_field("volumes", claim)).await?;

        expect(ns, &["bound"], "It has been on node states-n1", 0).await?;
        expect(ns, &["pod/bound"], "not a scheduling problem. It runs and is ready", 0).await?;
        expect(ns, &["gated"], "removes example.com/wait", 10).await?;
        let nobody =
            "no scheduler of the name \"volcano\" (spec.schedulerName) wrote an event in the last hour";
        expect(ns, &["strange"], nobody, 10).await?;
        expect(
            ns,
            &["claimless"],
            "PersistentVolumeClaim \"missing\" does not exist in namespace states",
            10,
        )
        .await?;
        let ignored = explain(ns, &["gated", "--exit-code=false"])?;
        assert_eq!(ignored.code, 0, "{ignored:?}");

        let all = explain(ns, &[])?;
        assert_eq!(all.code, 10);
        for cause in ["gated", "nobody schedules it", "PVC missing"] {
            assert!(all.out.contains(cause), "{cause}: {}", all.out);
        }
        let missing = explain(ns, &["boundd"])?;
        assert_eq!(missing.code, 1);
        assert!(
            missing.talk.starts_with("Error from server (NotFound): pods \"boundd\" not found"),
            "{missing:?}"
        );
        assert!(missing.talk.contains("there is bound"), "{missing:?}");
        Ok(())
    })
}

#[test]
fn workloads_that_cannot_make_pods_are_found() -> Result<()> {
    SHARED_CLUSTER.run("quota", async |ns| {
        ns.node("n1", "4").await?;
        let quota = json!({ "apiVersion": "v1", "kind": "ResourceQuota", "metadata": { "name": "compute", "namespace": ns.name },
                            "spec": { "hard": { "requests.cpu": "1" } } });
        ns.cluster.apply(&quota.to_string()).await?;
        // The quota counts only once it was looked at.
        ns.cluster
            .wait_until("the quota is known", SOON, async || {
                let text = ns.cluster.run_kubectl(&["get", "quota", "compute", "-n", ns.name, "-o", "json"]).await?;
                let quota: Value = serde_json::from_str(&text)?;
                ensure!(quota["status"]["used"].is_object(), "{quota}");
                Ok(())
            })
            .await?;
        let web = ns.fit_for(deployment("web").replicas(3).cpu("800m"), UPSTREAM);
        let web = ns.cluster.deploy(web).await?;
        // Before others ask for what is left.
        ns.cluster
            .wait_until("web has its one pod", SOON, async || {
                let pods = ns.pods(&web).await?;
                ensure!(pods.len() == 1, "{}", describe(&pods));
                Ok(())
            })
            .await?;
        ns.cluster.deploy(ns.fit_for(stateful_set("db").cpu("800m"), UPSTREAM)).await?;
        ns.cluster.deploy(ns.fit_for(job("work").cpu("800m"), UPSTREAM)).await?;
        let refused = "FailedCreate: exceeded quota: compute, requested: requests.cpu=800m";
        expect(ns, &["deploy/web"], refused, 10).await?;
        expect(ns, &["web"], "(2 pods are missing)", 10).await?;
        expect(ns, &["sts", "db"], "StatefulSet db FailedCreate: exceeded quota", 10).await?;
        expect(ns, &["job/work"], "Job work FailedCreate: exceeded quota", 10).await?;
        let all = expect(ns, &[], "3 workloads cannot create pods", 10).await?;
        assert!(all.flat().contains("not created: quota"), "{}", all.out);
        let json: Value = serde_json::from_str(&explain(ns, &["-o", "json"])?.out)?;
        assert_eq!(json["kind"], "PendingReport");
        assert!(json["items"].as_array().is_some_and(|items| items.iter().all(|one| one["cause"] == "quota")), "{json}");
        Ok(())
    })
}

#[test]
fn pods_that_wait_are_folded_by_cause_and_saved_for_later() -> Result<()> {
    SHARED_CLUSTER.run("triage", async |ns| {
        ns.node("n1", "4").await?;
        let big = ns.fit_for(deployment("big").replicas(4).cpu("3"), UPSTREAM);
        let big = ns.cluster.deploy(big).await?;
        let all_told = async || {
            let pods = ns.cluster.pods_in(ns.name, &big.selector).await?;
            let told = pods.iter().filter(|pod| unscheduled(pod).is_some()).count();
            ensure!(told == 3, "{}", describe(&pods));
            Ok(())
        };
        ns.cluster.wait_until("one of four has the node, the others were told", SOON, all_told).await?;
        let all = expect(ns, &[], "3 pods cpu too low triage/big-* (Deployment/big)", 10).await?;
        assert!(
            all.flat().contains("asks cpu 3 each. ") && all.flat().contains("triage-n1: cpu 2 short"),
            "{}",
            all.out
        );
        assert!(all.out.contains("Details: kubectl reserve explain deployment/big -n triage"), "{}", all.out);
        let one = expect(ns, &["big"], "Another 2 pods wait for the same", 10).await?;
        assert!(one.out.contains("BLOCKED NODES"), "{}", one.out);
        let names = explain(ns, &["-o", "name"])?;
        assert_eq!(names.out.lines().filter(|line| line.starts_with("pod/big-")).count(), 3, "{names:?}");
        let labelled = explain(ns, &["-l", "no=such"])?;
        assert_eq!((labelled.code, &*labelled.out), (0, ""));

        let file = ns.cluster.dir().join("snapshot.gz");
        let file = file.to_str().context("a path")?;
        for asked in [&[][..], &["big"], &["-A"]] {
            let live = explain(ns, &[asked, &["--save-snapshot", file]].concat())?;
            let later = explain(ns, &[asked, &["--snapshot", file]].concat())?;
            // The commands that it prints ask the snapshot, too.
            let later_out = later.out.replace(&format!(" --snapshot {file}"), "");
            assert_eq!((later.code, &later_out), (live.code, &live.out), "{asked:?}");
        }
        let room = typed(
            ns,
            User::Admin,
            &[
                "fit",
                "--cpu",
                "500m",
                "--replicas",
                "3",
                "--node-selector",
                "test.reserve/ns=triage",
                "--toleration",
                "test.reserve/ns",
                "--snapshot",
                file,
            ],
        )?;
        assert_eq!(room.code, 10, "{room:?}");
        assert!(room.flat().contains("2 of 3 pods fit now (cpu 0.5 each)"), "{}", room.out);
        Ok(())
    })
}

#[test]
fn what_is_not_applied_yet_is_judged_as_if_it_were() -> Result<()> {
    SHARED_CLUSTER.run("manifest", async |ns| {
        ns.node("n1", "4").await?;
        let spec = |cpu: &str| {
            json!({ "nodeSelector": { "test.reserve/ns": ns.name }, "tolerations": [{ "operator": "Exists" }],
                    "containers": [{ "name": "c", "image": "c", "resources": { "limits": { "cpu": cpu } } }] })
        };
        let workload = |name: &str, cpu: &str, replicas: u32| {
            json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": name },
                    "spec": { "replicas": replicas, "template": { "spec": spec(cpu) } } })
        };
        let file = ns.cluster.dir().join("manifest.json");
        let path = file.to_str().context("a path")?;
        std::fs::write(&file, format!("{}\n---\n{}\n", workload("small", "1", 4), workload("huge", "5", 1)))?;
        let said = explain(ns, &["-f", path, "--brief"])?;
        assert_eq!(said.code, 10);
        assert!(said.out.contains("manifest/small: fit now (asks cpu 1)"), "{said:?}");
        assert!(said.out.contains("manifest/huge: cpu larger than node (asks cpu 5)"), "{said:?}");
        let fit = typed(ns, User::Admin, &["fit", "-f", path])?;
        assert_eq!(fit.code, 10);
        assert!(fit.flat().contains("4 pods of Deployment/small fit now (cpu 1 each). NODE PODS manifest-n1 4"), "{}", fit.out);
        assert!(fit.flat().contains("0 of 1 pods of Deployment/huge fit now"), "{}", fit.out);
        let json: Value = serde_json::from_str(&typed(ns, User::Admin, &["fit", "-f", path, "-o", "json"])?.out)?;
        assert_eq!((&json["kind"], &json["items"][0]["fit"]), (&json!("FitReport"), &json!(4)));
        Ok(())
    })
}

#[test]
fn a_rollout_that_waits_for_itself_is_told_how_to_go_on() -> Result<()> {
    SHARED_CLUSTER.run("surge", async |ns| {
        ns.node("n1", "4").await?;
        let rolling = json!({ "rollingUpdate": { "maxUnavailable": 0, "maxSurge": 1 } });
        let web = ns.fit_for(deployment("web").replicas(1).cpu("3").field("strategy", rolling), UPSTREAM);
        let web = ns.cluster.deploy(web).await?;
        ns.running(&web, 1).await?;
        ns.cluster.run_kubectl(&["set", "env", "deploy/web", "A=1", "-n", ns.name]).await?;
        let said = expect(ns, &["web"], "The rollout of Deployment web waits for itself", 10).await?;
        let patch = r#"{"spec":{"strategy":{"rollingUpdate":{"maxUnavailable":1,"maxSurge":0}}}}"#;
        assert!(said.flat().contains(patch), "{}", said.out);
        // And it helps.
        ns.cluster.run_kubectl(&["patch", "deployment", "web", "-n", ns.name, "-p", patch]).await?;
        let pods = ns.running(&web, 1).await?;
        expect(ns, &[name_of(&pods[0])], "not a scheduling problem", 0).await?;
        Ok(())
    })
}

#[test]
fn somebody_who_may_not_see_nodes_is_told_which_rule_is_missing() -> Result<()> {
    // Alone: with each node that a neighbour adds the scheduler's words are others.
    SHARED_CLUSTER.run_alone("tenant", async |ns| {
        ns.node("n1", "1").await?;
        ns.cluster.grant(User::Tenant, "view", Some(ns.name)).await?;
        let web = ns.cluster.deploy(ns.fit_for(deployment("web").cpu("3"), UPSTREAM)).await?;
        let told = ns.cluster.wait_until_unschedulable(ns.name, &web.selector).await?;
        for asked in [&["explain", "web"][..], &["explain"]] {
            let said = typed(ns, User::Tenant, asked)?;
            assert_eq!(said.code, 14, "{said:?}");
            let told: String = told.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.flat().contains(&told), "the scheduler's own words: {said:?}");
            assert!(said.talk.contains("needs: get,list nodes (cluster scope)"), "{said:?}");
        }
        let fit = typed(ns, User::Tenant, &["fit", "--cpu", "1"])?;
        assert_eq!(fit.code, 14, "{fit:?}");
        Ok(())
    })
}
