//! The effects in progress: starts those that the outbox gives out, and returns their answers as inputs.

use crate::clock::Clock;
use crate::config::CALLS_MAX;
use crate::effects::Effects;
use crate::extender::replies::Replies;
use crate::lease::Leadership;
use crate::outbox::Outbox;
use crate::state::{Effect, Input, Subject};
use crate::watch::list_nodes_and_pods;
use anyhow::Context as _;
use common::cluster::compare::Listing;
use tokio::task::JoinSet;

/// The effects in progress, and those that wait.
pub(super) struct Work {
    effects: Effects,
    client: kube::Client,
    lists: JoinSet<Result<Box<Listing>, String>>,
    pub(super) outbox: Outbox,
    running: JoinSet<(Subject, Option<Input>)>,
    clock: Clock,
    leadership: Leadership,
    replies: Replies,
}

impl Work {
    pub(super) fn new(
        (effects, client): (Effects, kube::Client),
        clock: Clock,
        leadership: Leadership,
        replies: Replies,
    ) -> Self {
        let (outbox, running, lists) = (Outbox::default(), JoinSet::new(), JoinSet::new());
        Self { effects, client, lists, outbox, running, clock, leadership, replies }
    }

    pub(super) fn add(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                // A reply needs no call, so it does not wait in the outbox.
                Effect::Reply { id, reply } => self.replies.answer(id, reply),
                Effect::List => self.list(),
                effect => self.outbox.push(effect),
            }
        }
        self.start();
    }

    /// The next answer for the state; pending for ever when no effect is in progress. An error means that an effect panicked:
    /// its pod may or may not be bound, and only a restart can find out.
    pub(super) async fn next(&mut self) -> anyhow::Result<Input> {
        loop {
            let ended = tokio::select! {
                biased;
                Some(ended) = self.running.join_next() => ended,
                Some(listed) = self.lists.join_next() => return Ok(Input::Listed(listed.context("list")?)),
                else => std::future::pending().await,
            };
            let (subject, answer) = ended.context("carry out an effect")?;
            self.outbox.done(&subject);
            self.start();
            match answer {
                Some(answer) => return Ok(answer),
                None if self.is_busy() => {}
                // `finish` waits until nothing is in progress; this input lets it check again.
                None => return Ok(Input::Tick),
            }
        }
    }

    pub(super) fn try_next(&mut self) -> anyhow::Result<Option<Input>> {
        while let Some(ended) = self.running.try_join_next() {
            let (subject, answer) = ended.context("carry out an effect")?;
            self.outbox.done(&subject);
            self.start();
            if answer.is_some() {
                return Ok(answer);
            }
        }
        Ok(None)
    }

    fn start(&mut self) {
        // The process may have been paused since the effect was decided, and another replica may lead now.
        while self.running.len() < CALLS_MAX
            && !self.leadership.is_lost(self.clock.now())
            && let Some(effect) = self.outbox.pop()
        {
            let (effects, now) = (self.effects.clone(), self.clock.now().wall);
            self.running.spawn(async move { (effect.subject(), effects.run(effect, now).await) });
        }
    }

    /// Starts to read the lists. A big list takes a while; `is_busy` ignores it, so that shutdown does not wait for it.
    fn list(&mut self) {
        let (client, clock) = (self.client.clone(), self.clock.clone());
        self.lists.spawn(async move { list_nodes_and_pods(&client, &clock).await.map(Box::new) });
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.running.is_empty()
    }
}
