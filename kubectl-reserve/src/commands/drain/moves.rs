//! The moves of a drain: `prepare` reads everything and changes nothing, `all` reserves room for all pods and then recreates them
//! one by one. The reservations of pods that wait for their turn are extended meanwhile.

use super::plan::{self, DrainPlan};
use crate::cli::Recreate;
use crate::commands::Context;
use crate::commands::recreate::{
    NodeReservation, RecreationTask, dry_run, keep_alive, prepare, recreate, release, reserve, take_over,
};
use crate::error::{Exit, Failure};
use crate::flow::places::Place;
use crate::node_patch::DryRun;
use crate::render::plural;
use crate::ui::printer;
use crate::ui::progress::ProgressFallback;
use crate::ui::signal::StopRequests;
use common::model::ReservationId;
use common::model::{NodeName, PodKey, Uid};
use jiff::Timestamp;
use std::collections::BTreeMap;
use tokio::time::Instant;

/// The sort key of reservations: pods take the oldest one that they may use first.
pub(crate) type Age = (Option<Timestamp>, ReservationId);

const REASON: &str = "kubectl reserve drain";

/// A pod that is moved to another node.
struct Move {
    key: PodKey,
    task: Option<RecreationTask>,
    is_begun: bool,
    /// Its reservation, once its recreation was begun. It is left over if the pod took that of a sibling.
    reservation: Option<NodeReservation>,
}

pub(super) struct Moves<'a> {
    context: &'a Context,
    flags: Recreate,
    node: String,
    /// The tasks, in the order in which room is reserved for them.
    tasks: Vec<(PodKey, RecreationTask)>,
    moves: Vec<Move>,
    places: Vec<Place>,
}

impl<'a> Moves<'a> {
    pub(super) fn new(context: &'a Context, flags: Recreate, node: &str, plan: DrainPlan) -> Self {
        let (tasks, moves) = (Vec::new(), Vec::new());
        Self { context, flags, node: node.to_owned(), tasks, moves, places: plan.places }
    }

    /// Reads what is needed to move each pod, and refuses what is not safe. Nothing is changed.
    pub(super) async fn prepare(&mut self) -> Result<(), Failure> {
        for place in self.places.clone() {
            let task = self.prepare_task(&place).await.map_err(|failure| unchanged(failure, &place.pod))?;
            self.tasks.push((place.pod, task));
        }
        let seat = |(_, one): &(PodKey, RecreationTask)| one.age().map(|age| (one.place().to_owned(), age));
        sort_by_seat_age(&mut self.tasks, seat);
        Ok(())
    }

    /// Reserves room for all pods, and then moves them. Ctrl-C takes effect between two writes, so that each write is completed;
    /// the deadline between two pods.
    pub(super) async fn all(
        &mut self,
        stops: &mut StopRequests,
        deadline: Option<Instant>,
    ) -> Result<(), Failure> {
        for (key, task) in std::mem::take(&mut self.tasks) {
            stops.check()?;
            self.moves.push(Move { key, task: Some(task), is_begun: false, reservation: None });
            if let Some(task) = self.moves.last().and_then(|one| one.task.as_ref()) {
                reserve(self.context, task).await?;
            }
        }
        let count = self.moves.len();
        if count > 0 {
            printer::say(&format!("{} reserved", plural(count, "place")));
        }
        let bar = self.context.ui.bar(count as u64, &self.node, ProgressFallback::Nothing);
        for index in 0..count {
            stops.check()?;
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return Err(Failure::new("timed out").exit(Exit::TimedOut));
            }
            self.keep_rest_alive(index).await;
            bar.message(&self.moves[index].key.to_string());
            self.one(index).await?;
            bar.done(index as u64 + 1);
        }
        Ok(())
    }

    /// Checks each step of each move: with [`DryRun::Server`] the server does.
    pub(super) async fn dry_run(&self, mode: DryRun) -> Result<String, Failure> {
        let mut text = String::new();
        for (_, task) in &self.tasks {
            text += &dry_run(self.context, task, mode).await?;
        }
        Ok(text)
    }

    async fn prepare_task(&self, place: &Place) -> Result<RecreationTask, Failure> {
        let Ok(to) = &place.to else { return Err(Failure::new("a pod has no place").exit(Exit::NoRoom)) };
        let task = prepare(self.context, &place.pod, &self.flags, REASON).await?;
        task.elsewhere(self.context, to.as_str()).await
    }

    /// Moves one pod. If its reservation is gone, or a sibling has taken it, another node is looked for first.
    async fn one(&mut self, index: usize) -> Result<(), Failure> {
        let key = self.moves[index].key.clone();
        let Some(mut task) = self.moves[index].task.take() else { return Ok(()) };
        if !task.is_kept(self.context).await? {
            task = self.elsewhere(&key, &task).await?;
        }
        printer::say(&format!("evicting pod {key} -> {}", task.place()));
        self.moves[index].is_begun = true;
        self.moves[index].reservation = task.node_reservation();
        let done = recreate(self.context, task).await?;
        printer::say(&done.summary);
        Ok(())
    }

    /// A new task for a pod whose reservation is gone or taken: with the reservation that the sibling left, else on any node.
    async fn elsewhere(&self, key: &PodKey, lost: &RecreationTask) -> Result<RecreationTask, Failure> {
        let suits = |left: &&NodeReservation| lost.node_reservation().is_some_and(|own| left.suits(&own));
        for left in self.moves.iter().filter_map(|one| one.reservation.as_ref()).filter(suits) {
            let place = Place { pod: key.clone(), to: Ok(NodeName::from(left.node())) };
            let task = self.prepare_task(&place).await?;
            if take_over(self.context, &task, left).await? {
                return Ok(task);
            }
        }
        let place = plan::again(self.context, &self.node, key).await?;
        if let Err(why) = &place.to {
            return Err(Failure::new(format!("pod {key} has no place any more: {why}")).exit(Exit::NoRoom));
        }
        self.prepare_task(&place).await
    }

    async fn keep_rest_alive(&self, from: usize) {
        for task in self.moves[from..].iter().filter_map(|one| one.task.as_ref()) {
            if let Err(failure) = keep_alive(self.context, task).await {
                printer::warn(&failure.message.unwrap_or_default());
            }
        }
    }

    /// Releases the reservations of the pods that were not touched. Returns how many could not be released.
    pub(super) async fn release_rest(&mut self) -> usize {
        let mut left = 0;
        for one in &mut self.moves {
            if let Some(task) = one.task.take() {
                left += usize::from(!release(self.context, &task).await);
            }
        }
        left
    }

    /// The number of pods that were not touched.
    pub(super) fn left(&self) -> usize {
        self.total() - self.moves.iter().filter(|one| one.is_begun).count()
    }

    pub(super) fn total(&self) -> usize {
        self.places.len()
    }
}

/// The error if one pod cannot be moved, so that none is moved.
fn unchanged(failure: Failure, pod: &PodKey) -> Failure {
    let message = failure.message.unwrap_or_default();
    let message = format!("pod {pod} cannot be moved: {message}\n  Nothing was changed.");
    Failure { message: Some(message), ..failure }
}

/// Sorts the moves so that pods of one owner that go to the same node go in the order of their seats. The first pod that is bound
/// there takes the oldest seat, so each pod takes its own. All other moves keep their order.
fn sort_by_seat_age<T>(moves: &mut [T], seat: impl Fn(&T) -> Option<(String, Age)>) {
    let group = |(node, (_, id)): &(String, Age)| (node.clone(), id.owner.clone());
    let firsts: BTreeMap<(String, Uid), usize> =
        (0..moves.len()).rev().filter_map(|index| Some((group(&seat(&moves[index])?), index))).collect();
    let mut turn = 0..moves.len();
    moves.sort_by_cached_key(|one| {
        let (own, seat) = (turn.next(), seat(one));
        let first = seat.as_ref().and_then(|seat| firsts.get(&group(seat))).copied();
        (first.or(own), seat.map(|(_, age)| age))
    });
}

#[cfg(test)]
mod tests {
    use super::{Age, sort_by_seat_age};
    use common::model::ReservationId;
    use common::model::Seat;
    use jiff::Timestamp;

    fn seat(node: &str, owner: &str, seat: &str, created: i64) -> Option<(String, Age)> {
        let created = Timestamp::from_second(created).unwrap();
        let seat = Some(Seat::parse(seat).unwrap());
        Some((node.into(), (Some(created), ReservationId { owner: owner.into(), seat })))
    }

    #[test]
    fn siblings_go_in_the_order_in_which_their_seats_are_taken() {
        let (f, e, a) = (seat("n", "web", "f", 1), seat("n", "web", "e", 1), seat("n", "web", "a", 2));
        let (db, other) = (seat("n", "db", "b", 1), seat("m", "web", "c", 1));
        let mut moves = vec![f.clone(), db.clone(), other.clone(), e.clone(), None, a.clone()];
        sort_by_seat_age(&mut moves, Clone::clone);
        let expected = vec![e, f, a, db, other, None];
        assert_eq!(moves, expected);
    }
}
