//! Runs the command inside another program (tests, simulation): output goes to that program, and that program requests a stop.
//! Then the command uses neither the streams nor the signals nor the state folder of the process.
//!
//! Entry point: [`HostProgram::run`], which sets a task-local value; `printer`, `signal` and `Ui` ask this module first.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// The program that runs the command: it collects the output and can request a stop.
#[derive(Clone, Debug)]
pub struct HostProgram {
    output: Arc<Mutex<String>>,
    stop_requests: watch::Sender<u32>,
}

tokio::task_local! {
    /// Set while the command runs inside another program.
    static HOST: HostProgram;
}

impl Default for HostProgram {
    fn default() -> Self {
        Self { output: Arc::default(), stop_requests: watch::Sender::new(0) }
    }
}

impl HostProgram {
    /// Everything that was printed so far, data and messages, in order.
    pub fn output(&self) -> String {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Requests a stop, as Ctrl-C does.
    pub fn interrupt(&self) {
        self.stop_requests.send_modify(|count| *count += 1);
    }

    pub(crate) async fn run<T>(&self, command: impl Future<Output = T>) -> T {
        HOST.scope(self.clone(), command).await
    }
}

/// Whether the command runs inside another program.
pub(super) fn is_embedded() -> bool {
    HOST.try_with(|_| ()).is_ok()
}

/// Gives `text` to the host program. Returns false if there is none.
pub(super) fn write_to_host(text: &str) -> bool {
    HOST.try_with(|host| host.output.lock().unwrap_or_else(PoisonError::into_inner).push_str(text)).is_ok()
}

/// Whether this was given to the host program before; `None` if there is none.
pub(super) fn has_host_text(text: &str) -> Option<bool> {
    HOST.try_with(|host| host.output().contains(text)).ok()
}

/// How often the host program has requested a stop; `None` if there is no host program.
pub(super) fn stop_requests() -> Option<watch::Receiver<u32>> {
    HOST.try_with(|host| host.stop_requests.subscribe()).ok()
}

/// The folder for files that the command writes about its own runs; `None` if it runs inside another program.
pub(crate) fn state_folder() -> Option<PathBuf> {
    dirs::state_dir().or_else(dirs::data_local_dir).filter(|_| !is_embedded())
}

#[cfg(test)]
mod tests {
    use super::HostProgram;
    use crate::ui::printer;
    use crate::ui::signal::StopRequests;

    #[tokio::test]
    async fn what_is_printed_inside_is_heard_around_and_stops_the_other_way() {
        let host = HostProgram::default();
        let count = host.run(async {
            printer::out("data\n").unwrap();
            printer::say_always("talk");
            let mut stop_requests = StopRequests::listen().unwrap();
            host.interrupt();
            stop_requests.next().await.count
        });
        assert_eq!(count.await, 1);
        assert_eq!(host.output(), "data\ntalk\n");
    }

    /// In `restart` of a hundred pods the same is wrong with each.
    #[tokio::test]
    async fn a_warning_is_printed_once() {
        let host = HostProgram::default();
        let warnings = async {
            for text in ["one", "two", "one"] {
                printer::warn_once(text);
            }
        };
        host.run(warnings).await;
        assert_eq!(host.output(), "Warning: one\nWarning: two\n");
    }
}
