//! install.sh, run as a user runs it, with an archive that holds a small script in place of the real plugin: what it
//! installs, what it refuses, and that a refusal leaves nothing behind.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const PLUGIN: &str = "kubectl-reserve";
const LINK: &str = "kubectl_complete-reserve";

/// What install.sh itself needs besides a shell; a PATH of only these has neither cargo nor kubectl.
const PROGRAMS: [&str; 17] = [
    "cat",
    "chmod",
    "cp",
    "cut",
    "dirname",
    "gzip",
    "ln",
    "mkdir",
    "mktemp",
    "mv",
    "readlink",
    "rm",
    "sed",
    "sha256sum",
    "tail",
    "tar",
    "tr",
];

/// A home of its own for each test, with an archive in it.
struct Home {
    dir: TempDir,
}

impl Home {
    fn new() -> Home {
        let home = Home {
            dir: TempDir::with_prefix("install ").unwrap_or_else(|e| panic!("temporary directory: {e}")),
        };
        home.archive("plugin.tar.gz", PLUGIN, "#!/bin/sh\necho one\n");
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Packs one file under `member` and writes the checksum beside the archive.
    fn archive(&self, archive: &str, member: &str, content: &str) {
        let pack = self.path("pack");
        let _ = fs::remove_dir_all(&pack);
        script(&pack.join(member), content);
        must(Command::new("tar").arg("-czf").arg(self.path(archive)).arg("-C").arg(&pack).arg(member));
        let sum = must(Command::new("sha256sum").arg(archive).current_dir(self.dir.path()));
        write(&self.path(&format!("{archive}.sha256")), &sum);
    }

    fn bin(&self) -> PathBuf {
        self.path(".local/bin")
    }

    /// `sh install.sh`, from an unrelated directory, in an environment that holds nothing of the caller's but PATH.
    fn command(&self) -> Command {
        let mut command = Command::new("/bin/sh");
        command.arg(root().join("install.sh")).current_dir("/").env_clear().env("HOME", self.dir.path());
        command.env("TMPDIR", self.dir.path()).envs(std::env::vars_os().filter(|(name, _)| name == "PATH"));
        command
    }

    fn install(&self) -> Command {
        let mut command = self.command();
        command.env("ARCHIVE", self.path("plugin.tar.gz"));
        command
    }

    fn uninstall(&self) -> Run {
        run(self.command().arg("--uninstall"))
    }

    /// A directory with links to the programs that install.sh needs and to nothing else.
    fn bare_path(&self) -> PathBuf {
        let dir = self.path("programs");
        make_dir(&dir);
        for tool in PROGRAMS {
            let found = must(Command::new("/bin/sh").arg("-c").arg(format!("command -v {tool}")));
            symlink(found.trim(), dir.join(tool)).unwrap_or_else(|e| panic!("{tool}: {e}"));
        }
        dir
    }

    #[track_caller]
    fn assert_installed(&self, dir: &Path, answer: &str) {
        assert_eq!(must(&mut Command::new(dir.join(PLUGIN))), answer);
        assert_eq!(fs::read_link(dir.join(LINK)).unwrap_or_default(), Path::new(PLUGIN));
        assert_eq!(names(dir), [PLUGIN, LINK], "only the two files");
    }

    #[track_caller]
    fn assert_nothing_installed(&self) {
        assert_eq!(names(&self.bin()), [""; 0]);
        let left = names(self.dir.path()).into_iter().filter(|name| name.starts_with("tmp."));
        assert_eq!(left.collect::<Vec<_>>(), [""; 0], "scratch directories are removed");
    }
}

struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Run {
    #[track_caller]
    fn ok(self) -> Run {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self
    }

    /// It failed with `code`, and said each of `words` on stderr.
    #[track_caller]
    fn refused(self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        for word in words {
            assert!(self.err.contains(word), "not said: {word}\n{}", self.err);
        }
    }
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

fn run(command: &mut Command) -> Run {
    let Output { status, stdout, stderr } = output(command);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Run { code: status.code(), out: text(stdout), err: text(stderr) }
}

/// The stdout of a command that may not fail.
#[track_caller]
fn must(command: &mut Command) -> String {
    run(command).ok().out
}

fn write(path: &Path, content: &str) {
    fs::write(path, content).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

fn make_dir(path: &Path) {
    fs::create_dir_all(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

fn script(path: &Path, content: &str) {
    path.parent().into_iter().for_each(make_dir);
    write(path, content);
    fs::set_permissions(path, PermissionsExt::from_mode(0o755))
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

/// The names in a directory, sorted, or none if there is no such directory.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn installs_the_plugin_and_its_completion_link() {
    let home = Home::new();
    run(&mut home.install()).ok();
    home.assert_installed(&home.bin(), "one\n");
}

#[test]
fn repeating_it_changes_nothing_and_a_newer_archive_replaces_the_plugin() {
    let home = Home::new();
    run(&mut home.install()).ok();
    run(&mut home.install()).ok();
    home.assert_installed(&home.bin(), "one\n");

    home.archive("plugin.tar.gz", PLUGIN, "#!/bin/sh\necho two\n");
    run(&mut home.install()).ok();
    home.assert_installed(&home.bin(), "two\n");
}

#[test]
fn the_directory_may_have_spaces_and_be_relative() {
    let home = Home::new();
    let dir = home.path("my own/bin dir");
    run(home.install().env("INSTALL_DIR", &dir)).ok();
    home.assert_installed(&dir, "one\n");

    run(home
        .install()
        .current_dir(home.dir.path())
        .env("INSTALL_DIR", "here/")
        .env("ARCHIVE", "plugin.tar.gz"))
    .ok();
    home.assert_installed(&home.path("here"), "one\n");
}

#[test]
fn a_wrong_checksum_is_refused() {
    let home = Home::new();
    run(home.install().env("SHA256", "0".repeat(64))).refused(1, &["checksum", "is wrong", "expected 000"]);
    home.assert_nothing_installed();

    write(&home.path("plugin.tar.gz.sha256"), &format!("{}  plugin.tar.gz\n", "1".repeat(64)));
    run(&mut home.install()).refused(1, &["is wrong", "expected 111"]);
    home.assert_nothing_installed();
}

#[test]
fn a_wrong_checksum_leaves_the_installed_plugin_alone() {
    let home = Home::new();
    run(&mut home.install()).ok();
    home.archive("plugin.tar.gz", PLUGIN, "#!/bin/sh\necho two\n");
    run(home.install().env("SHA256", "0".repeat(64))).refused(1, &["is wrong"]);
    home.assert_installed(&home.bin(), "one\n");
}

#[test]
fn the_checksum_may_come_from_the_environment_and_in_capitals() {
    let home = Home::new();
    let sum = must(Command::new("sha256sum").arg(home.path("plugin.tar.gz")));
    let sum = sum.split_whitespace().next().unwrap_or_default().to_uppercase();
    let _ = fs::remove_file(home.path("plugin.tar.gz.sha256"));
    run(home.install().env("SHA256", sum)).ok();
    home.assert_installed(&home.bin(), "one\n");
}

#[test]
fn a_missing_or_unreadable_checksum_is_refused() {
    let home = Home::new();
    for content in ["", "\n", "not a checksum\n"] {
        write(&home.path("plugin.tar.gz.sha256"), content);
        run(&mut home.install()).refused(1, &["is not a sha256"]);
    }
    let _ = fs::remove_file(home.path("plugin.tar.gz.sha256"));
    run(&mut home.install()).refused(1, &["no checksum", "SHA256="]);
    home.assert_nothing_installed();
}

#[test]
fn an_archive_without_the_plugin_is_refused() {
    let home = Home::new();
    home.archive("plugin.tar.gz", "kubectl-other", "#!/bin/sh\n");
    run(&mut home.install()).refused(1, &["does not hold kubectl-reserve"]);
    home.assert_nothing_installed();

    run(home.install().env("ARCHIVE", home.path("nowhere.tar.gz"))).refused(1, &["cannot read the archive"]);
    home.assert_nothing_installed();
}

#[test]
fn a_plugin_that_cannot_run_here_is_refused() {
    let home = Home::new();
    home.archive("plugin.tar.gz", PLUGIN, "#!/no/such/loader\n");
    run(&mut home.install()).refused(1, &["does not run here"]);
    home.assert_nothing_installed();
}

#[test]
fn uninstall_removes_the_two_files_and_is_repeatable() {
    let home = Home::new();
    run(&mut home.install()).ok();
    write(&home.bin().join("neighbour"), "");
    assert!(home.uninstall().ok().out.contains("Removed"));
    assert_eq!(names(&home.bin()), ["neighbour"]);
    assert!(home.uninstall().ok().out.contains("Nothing to remove"));
}

#[test]
fn uninstall_leaves_what_it_did_not_install() {
    let home = Home::new();
    script(&home.bin().join(PLUGIN), "#!/bin/sh\n");
    home.uninstall().refused(1, &["nothing was removed"]);
    symlink("something-else", home.bin().join(LINK)).unwrap();
    home.uninstall().refused(1, &["nothing was removed"]);
    assert_eq!(names(&home.bin()), [PLUGIN, LINK]);
}

#[test]
fn a_foreign_file_in_the_way_is_not_overwritten() {
    let home = Home::new();
    make_dir(&home.bin());
    symlink("something-else", home.bin().join(LINK)).unwrap();
    run(&mut home.install()).refused(1, &["does not point to kubectl-reserve", "INSTALL_DIR"]);
    assert_eq!(names(&home.bin()), [LINK]);

    fs::remove_file(home.bin().join(LINK)).unwrap();
    make_dir(&home.bin().join(PLUGIN));
    run(&mut home.install()).refused(1, &["not a plain file"]);
    assert_eq!(names(&home.bin()), [PLUGIN]);
}

#[test]
fn an_unknown_flag_is_refused_and_help_is_not() {
    let home = Home::new();
    run(home.install().arg("--frobnicate")).refused(2, &["--frobnicate", "Usage:"]);
    home.assert_nothing_installed();
    assert!(run(home.install().arg("--help")).ok().out.contains("INSTALL_DIR"));
    home.assert_nothing_installed();
}

/// Root may write anywhere, so the directory is one that nobody can make: its parent is a file.
#[test]
fn a_directory_that_cannot_be_made_is_named_with_the_next_step() {
    let home = Home::new();
    write(&home.path("file"), "");
    run(home.install().env("INSTALL_DIR", home.path("file/bin")))
        .refused(1, &["cannot create", "file/bin", "INSTALL_DIR="]);
}

#[test]
fn says_what_is_missing() {
    let home = Home::new();
    let programs = home.bare_path();
    run(home.command().env("PATH", &programs)).refused(1, &["cargo", "rustup", "ARCHIVE="]);
    home.assert_nothing_installed();

    let out = run(home.install().env("PATH", &programs)).ok().out;
    assert!(out.contains("kubectl was not found"), "{out}");
    assert!(out.contains(&format!("export PATH=\"{}:$PATH\"", home.bin().display())), "{out}");

    let on_path = [programs.as_os_str(), home.bin().as_os_str()].join(OsStr::new(":"));
    let out = run(home.install().env("PATH", on_path)).ok().out;
    assert!(!out.contains("export PATH"), "{out}");
}

/// cargo is played by a script: it records how it was called and says, as cargo does, where the program is.
#[test]
fn without_an_archive_it_builds_the_checkout() {
    let home = Home::new();
    let programs = home.bare_path();
    let built = home.path("target dir/release").join(PLUGIN);
    script(&built, "#!/bin/sh\necho built\n");
    let answer =
        format!(r#"{{"reason":"compiler-artifact","executable":"{}","fresh":true}}"#, built.display());
    let called = home.path("called");
    let record = format!("(pwd; echo \"$@\") > '{}'", called.display());
    script(&programs.join("cargo"), &format!("#!/bin/sh\n{record}\necho '{answer}'\n"));

    run(home.command().env("PATH", &programs)).ok();
    home.assert_installed(&home.bin(), "built\n");
    let called = fs::read_to_string(called).unwrap();
    let (place, arguments) = called.split_once('\n').unwrap();
    assert_eq!(Path::new(place), root().canonicalize().unwrap());
    assert!(arguments.starts_with("build --release --locked -p kubectl-reserve"), "{arguments}");
}

#[test]
fn a_failed_build_installs_nothing() {
    let home = Home::new();
    let programs = home.bare_path();
    script(&programs.join("cargo"), "#!/bin/sh\nexit 101\n");
    run(home.command().env("PATH", &programs)).refused(1, &["the build failed", "nothing was installed"]);
    home.assert_nothing_installed();
}
