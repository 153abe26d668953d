//! Who waits for which answer.

use crate::extender_logic::Reply;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// The questions that have no answer yet. Clones are one list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replies(Arc<Mutex<Open>>);

#[derive(Debug, Default)]
struct Open {
    next: u64,
    waiting: BTreeMap<u64, oneshot::Sender<Reply>>,
}

/// A question that was asked; forgotten when this is dropped.
pub(crate) struct Ticket {
    /// Its number.
    pub(crate) id: u64,
    answer: oneshot::Receiver<Reply>,
    replies: Replies,
}

impl Replies {
    /// A new question.
    pub(crate) fn open(&self) -> Ticket {
        let (sender, answer) = oneshot::channel();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = open.next;
        open.next += 1;
        open.waiting.insert(id, sender);
        Ticket { id, answer, replies: self.clone() }
    }

    /// Passes the answer on to whoever still waits for it.
    pub(crate) fn answer(&self, id: u64, reply: Reply) {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner).waiting.remove(&id);
        if let Some(sender) = sender {
            // Whoever asked may have gone.
            let _ = sender.send(reply);
        }
    }
}

impl Ticket {
    /// The answer; `None` if there will be none.
    pub(crate) async fn wait(&mut self) -> Option<Reply> {
        (&mut self.answer).await.ok()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.replies.0.lock().unwrap_or_else(PoisonError::into_inner).waiting.remove(&self.id);
    }
}
