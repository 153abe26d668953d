//! Compares what is believed with what the API server has, from time to time and when somebody asks for it.
//!
//! ```text
//!   Input::Compare ──▶ Effect::List ──▶ Input::Listed ──▶ the belief sees as much as the list ──▶ Note::Compared
//! ```
//!
//! One comparison is under way at a time. The rules are those of [`common::cluster::compare`].

#[cfg(test)]
mod tests;

use crate::state::{Cause, Compared, Effect, Note, Step};
use common::cluster::compare::{Comparison, Listing};
use std::time::Duration;

/// A comparison that has waited for so long for the watches is given up when the next one is due. A watch that is alive
/// brings a bookmark each minute, and one that is dead is noticed after a minute and a half.
const PATIENCE: Duration = Duration::from_secs(180);

/// The comparison that is under way, if there is one.
#[derive(Default)]
pub(crate) struct Comparer {
    under_way: Option<UnderWay>,
}

enum UnderWay {
    /// The API server was asked for a list.
    Asked,
    /// The list is there, and the watches have yet to bring as much.
    Listed { comparison: Box<Comparison>, since: Duration },
}

impl Comparer {
    /// A comparison is due.
    pub(crate) fn begin(&mut self, cause: Cause, is_leading: bool, step: &mut Step<'_>) {
        if cause == Cause::Period && !is_leading {
            return;
        }
        if !step.cluster.is_complete() {
            return say(step, Compared::Unknown("not everything was listed yet".to_owned()));
        }
        match &self.under_way {
            Some(UnderWay::Listed { since, .. }) if step.now.elapsed >= since.saturating_add(PATIENCE) => {
                let why = format!("the watches did not reach the list in {} s", PATIENCE.as_secs());
                say(step, Compared::Unknown(why));
            }
            // Its result answers this one, too.
            Some(_) => return,
            None => {}
        }
        step.cluster.begin_comparison();
        self.under_way = Some(UnderWay::Asked);
        step.effects.push(Effect::List);
    }

    /// The API server has answered.
    pub(crate) fn listed(&mut self, listing: Result<Box<Listing>, String>, step: &mut Step<'_>) {
        match listing {
            Ok(listing) => {
                let (comparison, since) = (Box::new(Comparison::new(*listing)), step.now.elapsed);
                self.under_way = Some(UnderWay::Listed { comparison, since });
                self.go_on(step);
            }
            Err(why) => self.end(Compared::Unknown(why), step),
        }
    }

    /// Goes on if the belief has seen enough by now.
    pub(crate) fn go_on(&mut self, step: &mut Step<'_>) {
        let Some(UnderWay::Listed { comparison, .. }) = &mut self.under_way else { return };
        match comparison.step(step.cluster) {
            None => {}
            Some(differences) if differences.is_empty() => self.end(Compared::Equal, step),
            Some(differences) => self.end(Compared::Different(differences), step),
        }
    }

    fn end(&mut self, compared: Compared, step: &mut Step<'_>) {
        self.under_way = None;
        step.cluster.end_comparison();
        say(step, compared);
    }
}

fn say(step: &mut Step<'_>, compared: Compared) {
    step.notes.push(Note::Compared(compared));
}
