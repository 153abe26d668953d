//! The platforms that krew supports, and their Rust target triples.

use std::process::Command;

/// One platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The Rust target triple.
    pub triple: &'static str,
    /// The operating system as Go and krew name it.
    pub os: &'static str,
    /// The architecture as Go and krew name it.
    pub arch: &'static str,
}

/// All supported platforms. On Linux always with musl: one file that runs everywhere.
pub(super) const ALL: [Target; 7] = [
    Target { triple: "x86_64-unknown-linux-musl", os: "linux", arch: "amd64" },
    Target { triple: "aarch64-unknown-linux-musl", os: "linux", arch: "arm64" },
    Target { triple: "arm-unknown-linux-musleabihf", os: "linux", arch: "arm" },
    Target { triple: "powerpc64le-unknown-linux-musl", os: "linux", arch: "ppc64le" },
    Target { triple: "x86_64-apple-darwin", os: "darwin", arch: "amd64" },
    Target { triple: "aarch64-apple-darwin", os: "darwin", arch: "arm64" },
    Target { triple: "x86_64-pc-windows-gnu", os: "windows", arch: "amd64" },
];

impl Target {
    /// The platform of that triple.
    pub fn of(triple: &str) -> Option<Self> {
        ALL.into_iter().find(|target| target.triple == triple)
    }

    /// The file name of a program on this platform.
    pub fn file_name(&self, program: &str) -> String {
        if self.os == "windows" { format!("{program}.exe") } else { program.to_owned() }
    }

    /// Installs the standard library of this platform with rustup, if it is missing. false: that failed. A linker may still be
    /// missing.
    pub fn add(&self) -> bool {
        self.is_there() || {
            let added = Command::new("rustup").args(["target", "add", self.triple]).output();
            added.is_ok_and(|output| output.status.success()) && self.is_there()
        }
    }

    fn is_there(&self) -> bool {
        let asked = ["--print", "target-libdir", "--target", self.triple];
        let said = Command::new("rustc").args(asked).output();
        said.is_ok_and(|output| std::path::Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
    }
}

/// The platform of this machine, for which no cross compiler is needed.
pub fn here() -> Option<Target> {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let os = if os == "macos" { "darwin" } else { os };
    let arch = match arch {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "powerpc64" => "ppc64le",
        other => other,
    };
    ALL.into_iter().find(|target| target.os == os && target.arch == arch)
}
