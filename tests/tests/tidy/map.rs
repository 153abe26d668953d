//! ARCHITECTURE.md is a map: it stays short, and every path on it exists.

use crate::files::File;

const MAP: &str = "ARCHITECTURE.md";
const MAP_LINES: usize = 250;
const ROOTS: [&str; 7] =
    ["common/", "daemon/", "docs/", "kubectl-reserve/", "manifests/", "sandbox/", "tests/"];

fn map_errors(files: &[File]) -> Vec<String> {
    let mut violations = Vec::new();
    for map in files.iter().filter(|file| file.path == MAP) {
        let count = map.text.lines().count();
        if count > MAP_LINES {
            let what = format!("{count} lines, the limit is {MAP_LINES}; details belong beside the code");
            violations.push(map.violation(count, what));
        }
        for (line, path) in paths(&map.text) {
            let folder = format!("{}/", path.trim_end_matches('/'));
            if !files.iter().any(|file| file.path == path || file.path.starts_with(&folder)) {
                violations.push(map.violation(line, format!("`{path}` does not exist")));
            }
        }
    }
    violations
}

/// The paths in code spans and in links, with the numbers of their lines. `<verb>` in a path stands for several files.
fn paths(text: &str) -> Vec<(usize, &str)> {
    let mut paths = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let spans = line.split('`').skip(1).step_by(2);
        let links = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let is_path =
            |path: &&str| ROOTS.iter().any(|root| path.starts_with(root)) && !path.contains(['<', ' ']);
        paths.extend(spans.chain(links).filter(is_path).map(|path| (index + 1, path)));
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::{MAP, MAP_LINES, map_errors, paths};
    use crate::files::{File, assert_found, assert_none, repository};

    #[test]
    fn the_map_is_short_and_true() {
        let files = repository();
        let map = files.iter().find(|file| file.path == MAP).unwrap();
        assert!(paths(&map.text).len() > 30, "few paths were found");
        assert_none(&map_errors(&files));
    }

    #[test]
    fn the_map_can_fail() {
        let text =
            format!("a\n`tests/x.rs`, `tests/<verb>.rs`, [x](docs/y.md) `tests/z`{}", "\n".repeat(MAP_LINES));
        let files = [File::new(MAP, &text), File::new("tests/z/a.rs", "")];
        assert_found(&map_errors(&files), &["ARCHITECTURE.md:251", "ARCHITECTURE.md:2", "ARCHITECTURE.md:2"]);
    }
}
