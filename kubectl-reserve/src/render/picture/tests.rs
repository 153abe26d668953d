//! Golden reports; what they may contain, how long they are and how large.

use super::html::MODULES;
use super::layers::of_words;
use super::markdown::LINES_MAX;
use super::{
    Layer, Meaning, Picture, PictureSource, Remedy, of_nodes, of_report, of_reservations, of_rows,
    of_snapshot,
};
use crate::explain::testing::{TestCluster, at, node, now, pod, test_cluster};
use crate::explain::{GroupBy, Limit, Options};
use crate::print::schema_check::assert_valid;
use crate::reservations::{fixture, rows};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::path::Path;

/// What no report may contain.
const SECRET: &str = "hunter2";

fn source() -> PictureSource {
    let made_at = "2026-11-16T09:10:00Z".parse().unwrap();
    PictureSource::snapshot(Path::new("/tmp/hunter2/cluster.gz"), made_at)
}

fn options() -> Options {
    Options { nodes: Limit::All, group_by: GroupBy::Reason, ..Options::default() }
}

/// The picture of `explain` about `web`.
fn explained(cluster: &TestCluster) -> Picture {
    let web = secretive(pod("web").cpu("4").priority(5));
    let report = cluster.explain(&web, options());
    let mut known = cluster.clone().pod(web).cluster();
    let tiles = of_snapshot(&known.snapshot(now()), now(), |_| true);
    let layers = vec![of_report(&report, &tiles)];
    Picture { title: "Pod default/web".into(), source: source(), read_at: now(), tiles, layers }
}

/// An object with a secret wherever people put one.
fn secretive(object: crate::explain::testing::Json) -> crate::explain::testing::Json {
    let mut object = object.annotation("example.com/token", SECRET);
    object.0["metadata"]["managedFields"] = json!([{ "manager": SECRET }]);
    if let Some(containers) = object.0["spec"].get_mut("containers") {
        containers[0]["env"] = json!([{ "name": "PASSWORD", "value": SECRET }]);
        containers[0]["command"] = json!([SECRET]);
        containers[0]["args"] = json!([SECRET]);
        object.0["spec"]["volumes"] = json!([{ "name": "v", "secret": { "secretName": SECRET } }]);
    } else {
        object.0["spec"]["providerID"] = json!(SECRET);
    }
    object
}

fn three() -> TestCluster {
    let reserved = json!({ "v": 1, "owner": { "kind": "Deployment", "namespace": "shop", "name": "db", "uid": "7f3a0c1e-47c9-4475-b1f4-cac44597e173" },
        "replaces": { "name": "db-1", "uid": "gone" }, "priority": 9, "created": at(-60), "expires": at(600),
        "request": "r1", "by": "admin", "reason": "test", "placement": "wait" });
    let id = "7f3a0c1e-47c9-4475-b1f4-cac44597e173.7f3a0c";
    test_cluster()
        .node(secretive(node("gpu-1").label("pool", "gpu").taint("gpu=yes:NoSchedule")))
        .node(
            secretive(node("web-1").cpu("8").label("pool", "web"))
                .annotation(&format!("reserve.cpu/{id}"), "3")
                .annotation(&format!("reserve.info/{id}"), &reserved.to_string()),
        )
        .node(secretive(node("web-2").cpu("8").label("pool", "web")))
        .pod(secretive(pod("a").on("web-1").cpu("2")))
        .pod(secretive(pod("b").on("web-2").cpu("7")))
}

/// Nodes of ten pools, all full in one of three ways, each with two reservations.
fn many(nodes: usize) -> TestCluster {
    (0..nodes).fold(test_cluster(), |cluster, at| {
        let name = format!("node-{at:05}");
        let mut one = node(&name).cpu("4").label("pool", &format!("pool-{}", at % 10));
        one = one.label("topology.kubernetes.io/zone", &format!("zone-{}", at % 3));
        if at % 3 == 0 {
            one = one.taint("dedicated=db:NoSchedule");
        }
        for seat in ["aaaa", "bbbb"] {
            one = one.annotation(&format!("reserve.cpu/7f3a0c1e-47c9-4475-b1f4-cac44597e173.{seat}"), "500m");
        }
        cluster.node(one).pod(pod(&format!("p-{at}")).on(&name).cpu(&format!("{}m", 1000 + at % 2000)))
    })
}

#[test]
fn a_report_about_a_pod_says_what_explain_says() {
    let picture = explained(&three());
    insta::assert_snapshot!("explain_markdown", picture.markdown());
    let document = picture.document();
    assert_valid(&document);
    insta::assert_snapshot!("explain_document", serde_json::to_string_pretty(&document).unwrap());
}

#[test]
fn reports_about_nodes_and_reservations() {
    let mut cluster = fixture::cluster();
    let snapshot = cluster.snapshot(fixture::now());
    let tiles = of_snapshot(&snapshot, fixture::now(), |_| true);
    let layers = vec![of_nodes(&tiles)];
    let nodes = Picture { title: "Nodes".into(), source: source(), read_at: now(), tiles, layers };
    insta::assert_snapshot!("nodes_markdown", nodes.markdown());
    assert_valid(&nodes.document());
    let tiles = of_rows(&rows(&snapshot), fixture::now());
    let layers = vec![of_reservations(&tiles)];
    let kept = Picture { title: "Reservations".into(), source: source(), read_at: now(), tiles, layers };
    insta::assert_snapshot!("reservations_markdown", kept.markdown());
    assert_valid(&kept.document());
}

#[test]
fn secrets_variables_arguments_and_annotations_stay_out() {
    let picture = explained(&three());
    assert!(serde_json::to_string(&three().nodes).unwrap().contains(SECRET), "the test can fail");
    for report in [picture.html(), picture.markdown()] {
        assert!(!report.contains(SECRET), "{report}");
    }
}

#[test]
fn five_thousand_nodes_are_a_small_file_and_sixty_lines() {
    let cluster = many(5000);
    let mut known = cluster.cluster();
    let tiles = of_snapshot(&known.snapshot(now()), now(), |_| true);
    let report = cluster.explain(&pod("web").cpu("6"), options());
    let layers = vec![of_report(&report, &tiles)];
    let picture = Picture { title: "x".into(), source: source(), read_at: now(), tiles, layers };
    let html = picture.html();
    assert!(html.len() <= 3_000_000, "{} bytes", html.len());
    let markdown = picture.markdown();
    assert!(markdown.lines().count() <= LINES_MAX, "{markdown}");
    assert!(markdown.trim_end().ends_with("</details>"), "{markdown}");
}

#[test]
fn many_layers_are_sixty_lines_too() {
    for count in [0, 1, 2, 30] {
        let layers: Vec<Layer> =
            (0..count).map(|at| of_words(&format!("l{at}"), vec!["a".into(); 30])).collect();
        let picture = Picture { layers, ..explained(&three()) };
        let markdown = picture.markdown();
        assert!(
            markdown.lines().count() <= LINES_MAX && markdown.trim_end().ends_with("</details>"),
            "{markdown}"
        );
    }
}

#[test]
fn the_longest_report_is_sixty_lines_too() {
    let mut layer = of_words("l", vec!["a".into(); 30]);
    for at in 0..40 {
        layer.mark(
            &format!("n{at}"),
            &format!("reason {}", at % 20),
            Meaning::Blocked,
            at + 1,
            "words".into(),
        );
    }
    layer.remedies = vec![Remedy { words: "w".into(), commands: vec!["c".into(); 9] }; 9];
    let mut cluster = many(200).cluster();
    let mut tiles = of_snapshot(&cluster.snapshot(now()), now(), |_| true);
    tiles.iter_mut().enumerate().for_each(|(at, tile)| tile.status = format!("Status{}", at % 20));
    for layers in [vec![layer], vec![of_nodes(&tiles)], vec![of_reservations(&tiles)]] {
        let (source, tiles) = (source(), tiles.clone());
        let markdown = Picture { title: "x".into(), source, read_at: now(), tiles, layers }.markdown();
        assert!(markdown.lines().count() <= LINES_MAX, "{}: {markdown}", markdown.lines().count());
    }
}

/// The parts of a page between two texts.
fn between<'h>(html: &'h str, from: &str, to: &str) -> &'h str {
    html.split_once(from).unwrap().1.split_once(to).unwrap().0
}

#[test]
fn a_page_allows_its_own_style_and_script_and_nothing_else() {
    let odd = "</script><img src=x onerror=alert(1)>{{script}}\u{202e}";
    let layers = vec![of_words(odd, vec![odd.to_owned()])];
    let html = Picture { title: odd.into(), layers, ..explained(&three()) }.html();
    let policy = between(&html, "Content-Security-Policy\" content=\"", "\">");
    for (name, open, close) in
        [("style", "<style>", "</style>"), ("script", "<script type=\"module\">", "</script>")]
    {
        let hash = BASE64_STANDARD.encode(Sha256::digest(between(&html, open, close)));
        assert!(policy.contains(&format!("{name}-src 'sha256-{hash}'")), "{policy}");
    }
    assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"), "{policy}");
    assert_eq!((html.matches("<script").count(), html.matches("</script>").count()), (2, 2));
    assert!(!html.contains("<img") && !html.contains('\u{202e}'));
    assert!(!html.contains("\nimport ") && !html.contains("://"), "it needs nothing from elsewhere");
    let data: Value = serde_json::from_str(between(&html, "id=\"picture\">", "</script>")).unwrap();
    assert!(data["layers"][0]["title"].as_str().unwrap().starts_with("</script><img"), "{data}");
    let handlers = ["onclick=", "onload=", "onerror=\"", "javascript:", " style=\""];
    assert!(handlers.iter().all(|handler| !html.contains(handler)));
}

#[test]
fn the_modules_are_small_and_say_what_they_import_on_one_line() {
    let size: usize = MODULES.iter().map(|module| module.len()).sum();
    assert!(size < 150_000, "{size} bytes");
    let lines = MODULES.iter().flat_map(|module| module.lines());
    assert!(lines.filter(|line| line.starts_with("import ")).all(|line| line.ends_with(';')));
}
