//! Renders the krew manifest from the template `.krew.yaml`: only the platforms that were built, each with its checksum.

use super::{ReleaseArchive, tag};
use crate::control_plane::workspace_dir;
use anyhow::{Context as _, Result, ensure};
use std::fs;

/// The first line of a platform in the template.
const PLATFORM: &str = "  - selector:\n";

/// The manifest that lists these archives.
///
/// # Errors
/// When the template cannot be read, or lacks a platform.
pub fn manifest(packed: &[ReleaseArchive]) -> Result<String> {
    let template = workspace_dir().join(".krew.yaml");
    let template = fs::read_to_string(template).context("read .krew.yaml")?;
    let sha256 = |os: &str, arch: &str| {
        let built = packed.iter().find(|packed| packed.target.os == os && packed.target.arch == arch);
        built.map(|built| built.sha256.clone())
    };
    let (text, count) = render_manifest(&template, &tag(), sha256)?;
    ensure!(count == packed.len(), "{count} of {} archives have a platform in .krew.yaml", packed.len());
    Ok(text)
}

/// The template with `tag` and with the platforms for which `sha256` returns a checksum, and the number of these platforms.
///
/// # Errors
/// When the template is not as expected.
pub fn render_manifest(
    template: &str,
    tag: &str,
    sha256: impl Fn(&str, &str) -> Option<String>,
) -> Result<(String, usize)> {
    let mut parts = template.split(PLATFORM);
    let head = parts.next().unwrap_or_default();
    let mut text: String =
        head.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    let mut count = 0;
    for part in parts {
        let label = |name: &str| {
            let line = part.lines().find_map(|line| line.trim().strip_prefix(name));
            line.map(str::trim).with_context(|| format!("a platform without {name}"))
        };
        let Some(sha256) = sha256(label("os:")?, label("arch:")?) else { continue };
        text.push_str(PLATFORM);
        for line in part.lines() {
            match line.trim().strip_prefix("{{addURIAndSha \"") {
                // Quoted, because YAML reads some checksums as numbers.
                Some(rest) => {
                    let uri = rest.split('"').next().unwrap_or_default();
                    text.push_str(&format!("    uri: {uri}\n    sha256: \"{sha256}\"\n"));
                }
                None => text.push_str(&format!("{line}\n")),
            }
        }
        count += 1;
    }
    Ok((text.replace("{{ .TagName }}", tag), count))
}
