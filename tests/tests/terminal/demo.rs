//! The demo on a terminal: it gives a reader time, fits the screen, and can be left.

use anyhow::{Result, ensure};
use portable_pty::CommandBuilder;
use reserve_tests::programs;
use reserve_tests::pty::{FinalScreen, Terminal};

/// Runs the demo, and does what `then` says meanwhile.
fn demo(then: impl FnOnce(&mut Terminal) -> Result<()>) -> Result<FinalScreen> {
    let mut command = CommandBuilder::new(programs::build()?.join("kubectl-reserve"));
    command.env_clear();
    command.env("TERM", "xterm");
    command.arg("demo");
    let mut terminal = Terminal::start(command)?;
    then(&mut terminal)?;
    terminal.ends()
}

/// A line that is too wide for the screen would be two there.
#[test]
fn it_is_the_same_story_and_no_line_breaks() -> Result<()> {
    let left = demo(|_| Ok(()))?;
    ensure!(left.end == "exit 0" && left.bytes.contains(&b'\x1b'), "{}:\n{}", left.end, left.text);
    let program = programs::build()?.join("kubectl-reserve");
    let piped = std::process::Command::new(program).arg("demo").env_clear().output()?;
    let piped = String::from_utf8(piped.stdout)?;
    // The columns of tables stand closer where the terminal is narrow.
    let words = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    assert_eq!(words(&left.text), words(&piped));
    Ok(())
}

#[test]
fn ctrl_c_ends_it_at_any_time() -> Result<()> {
    for part in ["== 1.", "pod/shop-0 recreated"] {
        let left = demo(|terminal| {
            terminal.sees(part)?;
            terminal.types("\u{3}")
        })?;
        ensure!(left.end != "exit 0" && !left.text.contains("== Now you"), "{}:\n{}", left.end, left.text);
    }
    Ok(())
}
