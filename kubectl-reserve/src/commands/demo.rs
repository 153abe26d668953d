//! `kubectl reserve demo`: shows what reservations are for, in a cluster inside this process.

use crate::cli::Demo;
use crate::demo;
use crate::error::Failure;
use crate::ui::{Ui, printer};

pub(crate) async fn run(args: &Demo, ui: Ui) -> Result<(), Failure> {
    // Without a terminal nobody watches, so there are no pauses.
    let is_paced = !args.fast && ui.is_stdout_terminal;
    let ui = Ui { has_stderr_color: ui.has_color, is_stderr_terminal: ui.is_stdout_terminal, ..ui };
    printer::configure(&ui);
    printer::send_messages_to_stdout();
    demo::run(ui, is_paced).await
}
