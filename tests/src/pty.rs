//! A pseudo-terminal of 80 columns and 24 lines for tests: [`Terminal::start`] runs a program in it, [`Terminal::types`] types
//! keys, [`Terminal::sees`] waits for output, [`Terminal::ends`] waits for the end and returns what is on the screen.

use anyhow::{Context as _, Result, bail, ensure};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::fs::OFlags;
use rustix::termios::{LocalModes, tcgetattr};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

const ROWS: u16 = 24;
/// The width of the terminal.
pub const COLUMNS: u16 = 80;

/// The screen that tests look at has more lines than the terminal, so that it also shows what has scrolled away.
const SCREEN_ROWS: u16 = 2000;

/// Between two polls.
const PAUSE: Duration = Duration::from_millis(20);

/// However slow the machine, nothing takes longer than two minutes.
const POLLS: u32 = 6_000;

/// A program in a terminal.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    written: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
    tty: PathBuf,
    // Last field, so dropped last: closing it sends SIGHUP to the program.
    _master: Box<dyn MasterPty + Send>,
}

/// What the terminal shows when the program has ended.
pub struct FinalScreen {
    /// The screen as text, without escape sequences.
    pub text: String,
    /// All bytes that the program wrote.
    pub bytes: Vec<u8>,
    /// The exit code, or the signal that ended it, in words.
    pub end: String,
}

impl Terminal {
    /// Starts a program as a shell would: the terminal is its controlling terminal, so that Ctrl-C reaches it.
    ///
    /// # Errors
    /// When no pseudo-terminal can be opened, or the program cannot be started.
    #[expect(clippy::disallowed_methods, reason = "a terminal has to be read while somebody types")]
    pub fn start(command: CommandBuilder) -> Result<Self> {
        let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size)?;
        let tty = pair.master.tty_name().context("a terminal without a name")?;
        let child = pair.slave.spawn_command(command)?;
        // While our copy of the slave is open, reading from the master never reports the end.
        drop(pair.slave);
        let written = Arc::new(Mutex::new(Vec::new()));
        let mut screen = pair.master.try_clone_reader()?;
        let output = Arc::clone(&written);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // On Linux the end of a pseudo-terminal is a read error.
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                output.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&bytes[..count]);
            }
        });
        let keys = pair.master.take_writer()?;
        Ok(Self { child, keys, written, reader: Some(reader), tty, _master: pair.master })
    }

    fn text(&self) -> String {
        screen_text(&self.written.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until `text` is on the screen.
    ///
    /// # Errors
    /// When the text does not appear within two minutes.
    pub fn sees(&self, text: &str) -> Result<()> {
        self.wait(&format!("see {text:?}"), || Ok(self.text().contains(text)))
    }

    /// Waits until the program asks `question`, and types `keys`.
    ///
    /// # Errors
    /// When the program does not ask within two minutes.
    pub fn answers(&mut self, question: &str, keys: &str) -> Result<()> {
        self.sees(question)?;
        // Until the program switches echo off, the terminal itself would show the keys.
        self.wait(&format!("be asked {question:?}"), || Ok(!echoes(&self.tty)?))?;
        self.types(keys)
    }

    /// Types `keys`.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn types(&mut self, keys: &str) -> Result<()> {
        self.keys.write_all(keys.as_bytes())?;
        self.keys.flush()?;
        Ok(())
    }

    /// Waits until the program has ended.
    ///
    /// # Errors
    /// When the program does not end within two minutes.
    pub fn ends(mut self) -> Result<FinalScreen> {
        let mut polls = 0;
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            ensure!(polls < POLLS, "it does not end; on the screen:\n{}", self.text());
            polls += 1;
            std::thread::sleep(PAUSE);
        };
        if let Some(reader) = self.reader.take() {
            reader.join().map_err(|_| anyhow::anyhow!("the reader panicked"))?;
        }
        let bytes = std::mem::take(&mut *self.written.lock().unwrap_or_else(PoisonError::into_inner));
        let code = status.exit_code();
        let end = status.signal().map_or_else(|| format!("exit {code}"), |signal| format!("signal {signal}"));
        Ok(FinalScreen { text: screen_text(&bytes), bytes, end })
    }

    fn wait(&self, what: &str, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
        for _ in 0..POLLS {
            if is_so()? {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
        bail!("waited to {what}; on the screen:\n{}", self.text());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A test that failed leaves no process behind.
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Whether the terminal echoes typed keys.
fn echoes(tty: &Path) -> Result<bool> {
    let flags = i32::try_from(OFlags::NOCTTY.bits())?;
    let tty: File = OpenOptions::new().read(true).write(true).custom_flags(flags).open(tty)?;
    Ok(tcgetattr(&tty)?.local_modes.contains(LocalModes::ECHO))
}

/// What a terminal shows after a program has written `bytes`.
fn screen_text(bytes: &[u8]) -> String {
    let (Some(rows), Some(columns)) = (NonZeroU16::new(SCREEN_ROWS), NonZeroU16::new(COLUMNS)) else {
        return String::new();
    };
    let mut parser = vt100::Parser::new(rows, columns, 0);
    parser.process(bytes);
    let lines = parser.screen().contents();
    let lines: Vec<&str> = lines.lines().map(str::trim_end).collect();
    lines.join("\n")
}
