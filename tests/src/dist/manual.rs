//! Manual pages, generated from the clap definitions of the command line.

use anyhow::{Context as _, Result};
use clap::Command;

/// File name and text of a page for the command and one for each verb (`kubectl-reserve-VERB.1`).
pub(super) fn pages() -> Result<Vec<(String, Vec<u8>)>> {
    let mut root = kubectl_reserve::command().disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    write(&root, &mut pages)?;
    Ok(pages)
}

fn write(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone())
        .render(&mut page)
        .with_context(|| format!("the manual of {name}"))?;
    pages.push((format!("{name}.1"), page));
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        write(verb, pages)?;
    }
    Ok(())
}
