//! `kubectl reserve demo`: what this is for, shown in a cluster that is part of this process.

use crate::cli::Demo;
use crate::demo;
use crate::error::Failure;
use crate::ui::{Ui, printer};

pub(crate) async fn run(args: &Demo, ui: Ui) -> Result<(), Failure> {
    // In a pipe nobody reads along.
    let is_paced = !args.fast && ui.is_out_terminal;
    let ui = Ui { has_talk_color: ui.has_color, is_talk_terminal: ui.is_out_terminal, ..ui };
    printer::talk_as(&ui);
    printer::talk_is_data();
    demo::tell(ui, is_paced).await
}
