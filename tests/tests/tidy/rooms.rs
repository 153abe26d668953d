//! Which module may use which: the rooms inside `common`, the line between thinking and doing inside `daemon`, and the one
//! room of the command that knows the daemon and the sandbox.

use crate::files::File;
use crate::lexer::Code;
use crate::syntax::{Named, line_of, paths};

/// The rooms of `common`, bottom first, and the other rooms each may use. `plugins` and `cycle` are siblings: a cycle
/// never names a plugin. `testing` holds builders for tests and may use whatever it builds.
const COMMON: [(&str, &[&str]); 8] = [
    ("model", &[]),
    ("api", &["model"]),
    ("config", &["api", "model"]),
    ("cluster", &["api", "model"]),
    ("framework", &["cluster", "model"]),
    ("plugins", &["framework", "cluster", "config", "api", "model"]),
    ("cycle", &["framework", "cluster", "model"]),
    ("testing", &["cycle", "plugins", "framework", "cluster", "api", "model"]),
];

/// The modules of `daemon` that decide, and what they therefore may not know: the modules that act, and their tools.
const DAEMON_PURE: [&str; 7] =
    ["state", "scheduler", "queue", "outbox", "controller", "comparer", "extender_logic"];
const DAEMON_IO: [&str; 11] = [
    "watch",
    "effects",
    "extender",
    "lease",
    "admin",
    "run",
    "clock",
    "connect",
    "connections",
    "metrics",
    "log",
];
const IO_CRATES: [&str; 2] = ["kube", "tokio"];

/// Where plugins live, and the one file of the daemon that names one: it connects the plugin Trace to the log.
const PLUGINS: &str = "common/src/plugins/";
const TRACE_SINK: &str = "daemon/src/trace.rs";

/// The room of the command in which a cluster runs, and the crates that no other room of it may use.
const DEMO: &str = "kubectl-reserve/src/demo/";
const DEMO_CRATES: [&str; 2] = ["daemon", "sandbox"];

/// A file's room and how many modules deep in its crate it is: `src/a/mod.rs` is `a`, 1; `src/a/b.rs` is `a`, 2.
fn room<'a>(path: &'a str, source: &str) -> Option<(&'a str, usize)> {
    let module = path.strip_prefix(source)?.strip_suffix(".rs")?;
    let module = module.strip_suffix("/mod").unwrap_or(module);
    let room = module.split('/').next()?;
    (room != "lib" && room != "main").then(|| (room, module.split('/').count()))
}

/// What the path names at the root of its crate, by way of `crate::` or of enough `super::`.
fn at_root<'a>(path: &Named<'a>, depth: usize) -> Option<&'a str> {
    let segments = path.segments.strip_prefix(&["self"]).unwrap_or(&path.segments);
    let up = segments.iter().take_while(|segment| **segment == "super").count();
    let reaches_root = segments.first() == Some(&"crate") || up >= depth;
    reaches_root.then(|| segments.get(up.max(1)).copied()).flatten()
}

fn common_rooms(files: &[File]) -> Vec<String> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.is_product()) {
        let Some((room, depth)) = room(&file.path, "common/src/") else { continue };
        let Some((_, allowed)) = COMMON.iter().find(|(name, _)| *name == room) else {
            violations.push(file.violation(
                1,
                format!("`{room}` is not a room of common; add it to COMMON in tests/tests/tidy/rooms.rs"),
            ));
            continue;
        };
        let code = Code::new(&file.text);
        for path in paths(&code.text).iter().filter(|path| !code.is_test(path.at)) {
            let Some(used) = at_root(path, depth) else { continue };
            if used != room && !allowed.contains(&used) {
                let what =
                    format!("`{room}` may not use `{used}`, only {allowed:?}; move what it needs down");
                violations.push(file.violation(line_of(&code.text, path.at), what));
            }
        }
    }
    violations
}

fn daemon_rooms(files: &[File]) -> Vec<String> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.is_product()) {
        let Some((room, depth)) = room(&file.path, "daemon/src/") else { continue };
        if !DAEMON_PURE.contains(&room) {
            continue;
        }
        let code = Code::new(&file.text);
        for path in paths(&code.text).iter().filter(|path| !code.is_test(path.at)) {
            let module = at_root(path, depth).filter(|used| DAEMON_IO.contains(used));
            let tool =
                path.segments.first().filter(|first| path.segments.len() > 1 && IO_CRATES.contains(first));
            if let Some(used) = module.or(tool.copied()) {
                let what = format!(
                    "`{room}` decides and may not use `{used}`; return an effect and let it be carried out elsewhere"
                );
                violations.push(file.violation(line_of(&code.text, path.at), what));
            }
        }
    }
    violations
}

/// The daemon carries out what any plugin wants, and so names none of them. `cycle` may not use `plugins` at all.
fn daemon_plugins(files: &[File]) -> Vec<String> {
    let folder = |file: &File| file.path.strip_prefix(PLUGINS)?.strip_suffix("/mod.rs").map(str::to_owned);
    let plugins: Vec<String> = files.iter().filter_map(folder).collect();
    let mut violations = Vec::new();
    let is_daemon = |file: &&File| file.is_product() && file.path.starts_with("daemon/src/");
    for file in files.iter().filter(is_daemon).filter(|file| file.path != TRACE_SINK) {
        let code = Code::new(&file.text);
        for path in paths(&code.text).iter().filter(|path| !code.is_test(path.at)) {
            let is_plugin =
                |pair: &[&str]| pair[0] == "plugins" && plugins.iter().any(|name| name == pair[1]);
            if let Some(pair) = path.segments.windows(2).find(|pair| is_plugin(pair)) {
                let what = format!(
                    "the daemon may not name the plugin `{}`; ask through a trait of framework or a function of cycle",
                    pair[1]
                );
                violations.push(file.violation(line_of(&code.text, path.at), what));
            }
        }
    }
    violations
}

fn demo_room(files: &[File]) -> Vec<String> {
    let mut violations = Vec::new();
    let is_other =
        |file: &&File| file.path.starts_with("kubectl-reserve/src/") && !file.path.starts_with(DEMO);
    for file in files.iter().filter(|file| file.is_product()).filter(is_other) {
        let code = Code::new(&file.text);
        for path in paths(&code.text).iter().filter(|path| path.segments.len() > 1) {
            let Some(used) = path.segments.first().filter(|first| DEMO_CRATES.contains(first)) else {
                continue;
            };
            // A verb may be called like a crate.
            if !code.text.contains(&format!("mod {used};")) {
                let what =
                    format!("only {DEMO} may use `{used}`; the command itself speaks with any API server");
                violations.push(file.violation(line_of(&code.text, path.at), what));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{assert_found, assert_none, repository};

    #[test]
    fn the_rooms_of_common_use_only_what_is_below_them() {
        assert_none(&common_rooms(&repository()));
    }

    #[test]
    fn common_rooms_can_fail() {
        let bad = [
            ("common/src/model/pod.rs", "use crate::api::names;"),
            ("common/src/model/pod.rs", "use super::super::api::names;"),
            ("common/src/model/mod.rs", "use super::cluster;"),
            ("common/src/cycle/mod.rs", "fn f() { crate::plugins::all() }"),
            ("common/src/framework/mod.rs", "use crate::{model::Pod, cycle};"),
            ("common/src/cluster/mod.rs", "use crate::Everything;"),
            ("common/src/config/merge.rs", "use crate::plugins::default_registry;"),
            ("common/src/cellar/mod.rs", ""),
        ];
        for (path, text) in bad {
            assert_found(&common_rooms(&[File::new(path, text)]), &[&format!("{path}:1")]);
        }
        let good = [
            ("common/src/model/pod.rs", "use super::node; use crate::model::ids; // crate::api"),
            (
                "common/src/plugins/ports/filter.rs",
                "use super::super::shared; use crate::{framework::Filter, model::{Pod, Node}};",
            ),
            ("common/src/model/pod.rs", "fn f() {} #[cfg(test)] mod tests { use crate::plugins; }"),
            ("common/src/model/tests.rs", "use crate::plugins;"),
            ("common/src/lib.rs", "pub use crate::plugins;"),
        ];
        for (path, text) in good {
            assert_none(&common_rooms(&[File::new(path, text)]));
        }
    }

    #[test]
    fn in_the_daemon_what_decides_does_not_act() {
        assert_none(&daemon_rooms(&repository()));
    }

    #[test]
    fn daemon_rooms_can_fail() {
        let bad = [
            "use crate::effects::Effects;",
            "use super::run;",
            "fn f(c: kube::Client) {}",
            "use tokio::{self, sync};",
        ];
        for text in bad {
            assert!(!daemon_rooms(&[File::new("daemon/src/queue/mod.rs", text)]).is_empty(), "{text}");
            assert_none(&daemon_rooms(&[File::new("daemon/src/watch.rs", text)]));
        }
        let good = "use crate::{queue::wake, scheduler::Effect}; use common::model; fn run(queue: u8) { let kube = \"tokio::x\"; }";
        assert_none(&daemon_rooms(&[File::new("daemon/src/queue/mod.rs", good)]));
    }

    #[test]
    fn the_daemon_names_no_plugin() {
        assert_none(&daemon_plugins(&repository()));
    }

    #[test]
    fn daemon_plugins_can_fail() {
        let file = |path: &str, text: &str| {
            daemon_plugins(&[File::new("common/src/plugins/ports/mod.rs", ""), File::new(path, text)])
        };
        let bad = [
            "use common::plugins::ports::Ports;",
            "use common::plugins::{PluginList, ports};",
            "use common::plugins; fn f() { plugins::ports::f() }",
        ];
        for text in bad {
            assert_eq!(file("daemon/src/scheduler/mod.rs", text).len(), 1, "{text}");
            assert_none(&file(TRACE_SINK, text));
            assert_none(&file("kubectl-reserve/src/explain/evidence.rs", text));
        }
        let good = "use common::plugins::{PluginList, default_registry};";
        assert_none(&file("daemon/src/run.rs", good));
        assert_none(&file("daemon/src/queue/tests.rs", bad[0]));
    }

    #[test]
    fn the_command_knows_the_daemon_in_one_room_only() {
        assert_none(&demo_room(&repository()));
    }

    #[test]
    fn demo_room_can_fail() {
        let file =
            |path: &str, text: &str| demo_room(&[File::new(&format!("kubectl-reserve/src/{path}"), text)]);
        for text in ["use daemon::run;", "fn f(it: sandbox::Sandbox) {}"] {
            assert_eq!(file("commands/list.rs", text).len(), 1, "{text}");
            assert_none(&file("demo/cluster.rs", text));
        }
        assert_none(&file("commands/mod.rs", "mod sandbox;\nfn f() { sandbox::run() }"));
    }
}
