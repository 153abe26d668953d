//! Compares each golden vector, which is kube-scheduler's result for a file, with ours. `common/vectors/README.md` says how the
//! vectors are made.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::super::plugin_catalog::RESERVATION;
use super::{Configuration, LoadedConfiguration, load, shown};
use crate::model::ExtensionPoint;
use crate::plugins::PluginList;

const VECTORS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/config.jsonl"));

/// The minimum number of vectors: the file is generated, and an empty one must not pass.
const VECTORS_MIN: usize = 300;
const REFUSED_MIN: usize = 120;

#[test]
fn agrees_with_kube_scheduler() {
    let (mut accepted, mut refused) = (0, 0);
    for vector in vectors() {
        let name = vector["name"].as_str().expect("a name");
        let ours = load(name, vector["text"].as_str().expect("a text"), &[]);
        match (ours, vector["error"].as_str()) {
            (Ok(loaded), None) => {
                assert_same(name, &loaded, &vector);
                assert_round_trip(name, &loaded.configuration);
                accepted += 1;
            }
            (Err(error), Some(theirs)) => {
                assert_same_reason(name, &error.to_string(), theirs);
                let paths = error.errors.iter().map(|note| note.path.as_str());
                assert_fields(name, paths, &vector["fields"], &error.to_string());
                refused += 1;
            }
            (Ok(_), Some(theirs)) => panic!("{name}: we accept what is refused: {theirs}"),
            (Err(error), None) => panic!("{name}: we refuse what is accepted: {error}"),
        }
    }
    assert!(accepted + refused >= VECTORS_MIN, "only {accepted} and {refused} vectors");
    assert!(refused >= REFUSED_MIN, "only {refused} refused");
}

fn vectors() -> impl Iterator<Item = Value> {
    VECTORS.lines().map(|line| serde_json::from_str(line).expect("a vector is JSON"))
}

fn assert_same(name: &str, loaded: &LoadedConfiguration, vector: &Value) {
    let ours = &loaded.configuration;
    let plugins = ours.profiles.iter().map(|profile| {
        let points = ExtensionPoint::configurable().map(|point| {
            let without_ours = profile.at(point).iter().filter(|enabled| enabled.name != RESERVATION);
            (point.field(), without_ours.map(shown).collect::<Vec<_>>())
        });
        let filled: BTreeMap<_, _> = points.filter(|(_, plugins)| !plugins.is_empty()).collect();
        (profile.scheduler_name.clone(), filled)
    });
    assert_eq!(json!(plugins.collect::<BTreeMap<_, _>>()), vector["effective"], "plugins of {name}");
    if let Some(theirs) = vector["configuration"].as_object() {
        assert_settings(name, ours, theirs);
    }
}

fn assert_settings(name: &str, ours: &Configuration, theirs: &serde_json::Map<String, Value>) {
    let mut shown = ours.to_value();
    let fields = shown.as_object_mut().expect("a map");
    fields.remove("profiles");
    for (key, value) in fields.iter() {
        let nothing = json!(null);
        assert_eq!(value, theirs.get(key).unwrap_or(&nothing), "{key} of {name}");
    }
    for (key, value) in theirs.iter().filter(|(key, _)| *key != "profiles") {
        assert_eq!(fields.get(key), Some(value), "{key} of {name}");
    }
    let theirs = theirs["profiles"].as_array().expect("a list");
    assert_eq!(ours.profiles.len(), theirs.len(), "profiles of {name}");
    for (ours, theirs) in ours.profiles.iter().zip(theirs) {
        assert_eq!(json!(ours.percentage_of_nodes_to_score), theirs["percentageOfNodesToScore"], "{name}");
        for config in theirs["pluginConfig"].as_array().into_iter().flatten() {
            let plugin = config["name"].as_str().expect("a name");
            if !ours.args(plugin).is_null() {
                assert_eq!(*ours.args(plugin), config["args"], "arguments of {plugin} in {name}");
            }
        }
    }
}

/// The configuration in the log gives the same configuration when it is loaded.
fn assert_round_trip(name: &str, configuration: &Configuration) {
    let shown = configuration.to_yaml();
    let mut again = load("shown", &shown, &[]).unwrap_or_else(|error| panic!("{name}: {error}\n{shown}"));
    for (again, first) in again.configuration.profiles.iter_mut().zip(&configuration.profiles) {
        // The arguments of plugins that do not run are not shown.
        again.plugin_configs.clone_from(&first.plugin_configs);
    }
    assert_eq!(again.configuration, *configuration, "{name}: {shown}");
}

/// Our errors are about the same fields as those of kube-scheduler's validation. Its errors of other steps name no fields.
fn assert_fields<'a>(name: &str, ours: impl Iterator<Item = &'a str>, theirs: &Value, error: &str) {
    let theirs = theirs.as_array().into_iter().flatten().map(|field| field.as_str().expect("a text"));
    let theirs: BTreeSet<String> = theirs.map(plain).collect();
    let ours: BTreeSet<String> = ours.map(plain).collect();
    if theirs.is_empty() {
        return;
    }
    // A second QueueSort plugin is another error of ours, too: it is enabled twice, or does not have that extension point.
    let ours = ours.into_iter().filter(|path| theirs.contains(path) || !path.contains(".queueSort"));
    let ours: BTreeSet<String> = ours.collect();
    assert_eq!(ours, theirs, "{name}: {error}");
}

/// The field or plugin that kube-scheduler's error names is in our error, too.
fn assert_same_reason(name: &str, ours: &str, theirs: &str) {
    let word = |before: &str, end: &[char]| {
        let (_, after) = theirs.split_once(before)?;
        after.split(end).next().filter(|word| !word.is_empty())
    };
    let fit = "initializing plugin \"NodeResourcesFit\": ";
    let words = [
        word("unknown field \"", &['"']),
        word(fit, &[':']).map(|field| field.trim_start_matches('[')),
        word("lugin \"", &['"']).filter(|_| !theirs.contains(fit)),
    ];
    for word in words.into_iter().flatten() {
        assert!(ours.contains(word), "{name}: {word} is not in: {ours}");
    }
}

/// The path of a field in the spelling that both have in common.
fn plain(path: &str) -> String {
    let path = path.strip_suffix(".name").or(path.strip_suffix(".Enabled")).unwrap_or(path);
    let path = path.strip_suffix("[a]").unwrap_or(path);
    path.replace(".preference.", ".")
}

#[test]
fn the_catalog_is_that_of_kube_scheduler() {
    let all = vectors().find(|vector| vector["name"] == "plugins: plugins behind gates").expect("the vector");
    let effective = all["effective"]["default-scheduler"].as_object().expect("a profile");
    let mut points: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (point, plugins) in effective {
        for plugin in plugins.as_array().expect("a list") {
            let name = plugin.as_str().and_then(|plugin| plugin.split('=').next()).expect("a name");
            points.entry(name).or_default().insert(point);
        }
    }
    assert_eq!(points.len(), 24);
    let declarations = PluginList::built_in().declarations();
    for (name, theirs) in points {
        let ours = declarations.iter().find(|plugin| plugin.name == name).expect(name);
        assert!(ours.is_upstream, "{name}");
        assert_eq!(ours.points.iter().map(|point| point.field()).collect::<BTreeSet<_>>(), theirs, "{name}");
    }
}

#[test]
fn ours_is_the_last_of_the_defaults() {
    let configuration = Configuration::default_for("mine", &PluginList::built_in().declarations());
    assert_eq!(configuration.profiles[0].scheduler_name, "mine");
    let last = |point| super::at(&configuration, point).pop();
    assert_eq!(last(ExtensionPoint::Filter).as_deref(), Some("Reservation"));
    assert_eq!(last(ExtensionPoint::Score).as_deref(), Some("Reservation=100"));
    assert_eq!(last(ExtensionPoint::Reserve).as_deref(), Some("Reservation"));
}
