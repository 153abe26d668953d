//! Malformed and hostile files: each is refused with a reason, and none causes a panic.

use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_oneof, proptest};

use super::{HEAD, load, refusal};

#[test]
fn odd_files_are_named() {
    let big = format!("{HEAD}# {}", "x".repeat(300 << 10));
    assert_eq!(refusal(&big), "scheduler.yaml: has 307278 bytes; a configuration has at most 262144");
    assert_eq!(refusal(&format!("{HEAD}\0")), "scheduler.yaml: line 3: a NUL byte; this is not a text file");
    let deep = format!("{HEAD}profiles: {}", "[".repeat(5_000));
    assert!(refusal(&deep).contains("line 3"), "{}", refusal(&deep));
    let deep = format!("{HEAD}profiles: {}{}", "[".repeat(70), "]".repeat(70));
    assert!(refusal(&deep).contains("line 3, column 7"), "{}", refusal(&deep));
    let deep = format!(
        "{HEAD}profiles:\n{}",
        (0..200).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect::<String>()
    );
    assert!(refusal(&deep).contains("depth"), "{}", refusal(&deep));
    let names = format!("scheduler\u{1b}[31m{}", "y".repeat(500));
    let error = load(&names, "", &[]).expect_err("an empty file").to_string();
    assert!(error.starts_with("scheduler\\u{1b}[31myyy") && error.len() < 300, "{error}");
}

#[test]
fn anchors_do_not_multiply() {
    let mut text = format!("{HEAD}a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let before = vec![format!("*a{}", level - 1); 10].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{before}]\n"));
    }
    let error = refusal(&text);
    assert!(error.contains("line ") && error.len() < 300, "{error}");
}

#[test]
fn foreign_words_are_cut_and_escaped() {
    let key = format!("\"\\e[31m{}\"", "k".repeat(500));
    let error = refusal(&format!("{HEAD}{key}: 1\nparallelism: \"\\e{}\"\n", "v".repeat(500)));
    assert!(error.len() < 400 && !error.contains('\u{1b}'), "{error}");
}

/// A random tree of known words in any position.
fn tree(depth: u32) -> impl Strategy<Value = String> {
    let words =
        ["profiles", "plugins", "score", "enabled", "name", "*", "NodeResourcesFit", "weight", "args"];
    let more = ["pluginConfig", "extenders", "leaderElection", "leaseDuration", "15s", "multiPoint", "shape"];
    let all: Vec<&str> = words.into_iter().chain(more).collect();
    let leaf = prop_oneof![
        prop::sample::select(all.clone()).prop_map(str::to_owned),
        any::<i64>().prop_map(|number| number.to_string()),
        Just("null".to_owned()),
        Just("1.5".to_owned()),
        Just("true".to_owned()),
    ];
    leaf.prop_recursive(depth, 64, 5, move |inner| {
        let pair = (prop::sample::select(all.clone()), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::btree_map(pair.0, pair.1, 0..5).prop_map(|fields| {
                let fields: Vec<String> =
                    fields.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
                format!("{{{}}}", fields.join(", "))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = load("a", &text, &[]);
        let _ = load("a", &format!("{HEAD}{text}"), &[]);
        let _ = load("a", &format!("kind: Policy\n{text}"), &[]);
    }

    #[test]
    fn no_tree_panics(version in 0..4u8, key in "profiles|extenders|leaderElection|predicates|priorities", tree in tree(5)) {
        let version = if version == 0 { "v1".to_owned() } else { format!("v1beta{version}") };
        let head = format!("apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\n");
        let _ = load("a", &format!("{head}{key}: {tree}"), &[]);
        let _ = load("a", &format!("kind: Policy\n{key}: {tree}"), &[]);
    }

    /// Every configuration that loads is printed as a file that loads.
    #[test]
    fn what_loads_is_shown_as_what_loads(profiles in prop::collection::vec(tree(4), 0..3)) {
        if let Ok(loaded) = load("a", &format!("{HEAD}profiles: [{}]", profiles.join(", ")), &[]) {
            let shown = loaded.configuration.to_yaml();
            let again = load("b", &shown, &[]);
            prop_assert!(again.is_ok_and(|again| again.configuration == loaded.configuration), "{}", shown);
        }
    }
}
