//! Connects questions of the extender server with the replies of the loop.

use crate::extender_logic::Reply;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// The questions that have no reply yet. Clones share one list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replies(Arc<Mutex<PendingReplies>>);

#[derive(Debug, Default)]
struct PendingReplies {
    next: u64,
    waiting: BTreeMap<u64, oneshot::Sender<Reply>>,
}

/// A question that waits for its reply. Dropping this value gives up waiting.
pub(crate) struct PendingQuestion {
    pub(crate) id: u64,
    answer: oneshot::Receiver<Reply>,
    replies: Replies,
}

impl Replies {
    pub(crate) fn open(&self) -> PendingQuestion {
        let (sender, answer) = oneshot::channel();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = open.next;
        open.next += 1;
        open.waiting.insert(id, sender);
        PendingQuestion { id, answer, replies: self.clone() }
    }

    /// Passes a reply to the task that waits for it, if it still waits.
    pub(crate) fn answer(&self, id: u64, reply: Reply) {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner).waiting.remove(&id);
        if let Some(sender) = sender {
            // The receiver may be gone.
            let _ = sender.send(reply);
        }
    }
}

impl PendingQuestion {
    /// The reply; `None` if there will be none.
    pub(crate) async fn wait(&mut self) -> Option<Reply> {
        (&mut self.answer).await.ok()
    }
}

impl Drop for PendingQuestion {
    fn drop(&mut self) {
        self.replies.0.lock().unwrap_or_else(PoisonError::into_inner).waiting.remove(&self.id);
    }
}
