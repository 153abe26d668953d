//! The command inside another program: what it prints goes to that program, which also says when to stop. The streams,
//! signals and files of the process are none of its business there.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// The program around the command.
#[derive(Clone, Debug)]
pub struct Around {
    said: Arc<Mutex<String>>,
    stops: watch::Sender<u32>,
}

tokio::task_local! {
    /// Whatever runs within it is inside.
    static AROUND: Around;
}

impl Default for Around {
    fn default() -> Self {
        Self { said: Arc::default(), stops: watch::Sender::new(0) }
    }
}

impl Around {
    /// All that was printed, data and talk, in its order.
    pub fn said(&self) -> String {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// As Ctrl-C does.
    pub fn interrupt(&self) {
        self.stops.send_modify(|count| *count += 1);
    }

    /// Runs something inside.
    pub(crate) async fn run<T>(&self, inside: impl Future<Output = T>) -> T {
        AROUND.scope(self.clone(), inside).await
    }
}

/// Whether the command is inside another program.
pub(super) fn is_so() -> bool {
    AROUND.try_with(|_| ()).is_ok()
}

/// Hands text to the program around, if there is one.
pub(super) fn hand(text: &str) -> bool {
    AROUND
        .try_with(|around| around.said.lock().unwrap_or_else(PoisonError::into_inner).push_str(text))
        .is_ok()
}

/// How often the program around has asked to stop, if there is one.
pub(super) fn stops() -> Option<watch::Receiver<u32>> {
    AROUND.try_with(|around| around.stops.subscribe()).ok()
}

/// Where notes of the command are put; nowhere if it is inside another program.
pub(crate) fn state_folder() -> Option<PathBuf> {
    dirs::state_dir().or_else(dirs::data_local_dir).filter(|_| !is_so())
}

#[cfg(test)]
mod tests {
    use super::Around;
    use crate::ui::printer;
    use crate::ui::signal::Stops;

    #[tokio::test]
    async fn what_is_printed_inside_is_heard_around_and_stops_the_other_way() {
        let around = Around::default();
        let count = around.run(async {
            printer::out("data\n").unwrap();
            printer::tell("talk");
            let mut stops = Stops::listen().unwrap();
            around.interrupt();
            stops.next().await.count
        });
        assert_eq!(count.await, 1);
        assert_eq!(around.said(), "data\ntalk\n");
    }
}
