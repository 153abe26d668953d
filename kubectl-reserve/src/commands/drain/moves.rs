//! The moves of a drain: all places are reserved and acknowledged, then the pods go one by one, and what is still to come is
//! kept alive meanwhile.

use super::plan::{self, Plan};
use crate::cli::Recreate;
use crate::commands::Context;
use crate::commands::recreate::{
    Kept, Prepared, keep_alive, prepare, recreate, rehearse, release, reserve, take_over,
};
use crate::error::{Exit, Failure};
use crate::flow::places::Place;
use crate::node_patch::DryRun;
use crate::ui::printer;
use crate::ui::progress::Otherwise;
use crate::ui::signal::Stops;
use common::model::ReservationId;
use common::model::{NodeName, PodKey, Uid};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// Reservations from old to new, as those who may use several of them take them.
pub(crate) type Age = (Option<Timestamp>, ReservationId);

const REASON: &str = "kubectl reserve drain";

/// A pod with its place.
struct Move {
    key: PodKey,
    prepared: Option<Prepared>,
    /// Whether its recreation was begun.
    is_begun: bool,
    /// What was reserved for it then: it is left over if a sibling's room was taken instead.
    kept: Option<Kept>,
}

/// All moves of one drain.
pub(super) struct Moves<'a> {
    context: &'a Context,
    flags: Recreate,
    node: String,
    /// What is prepared, in the order in which it is reserved.
    prepared: Vec<(PodKey, Prepared)>,
    moves: Vec<Move>,
    places: Vec<Place>,
}

impl<'a> Moves<'a> {
    pub(super) fn new(context: &'a Context, flags: Recreate, node: &str, plan: Plan) -> Self {
        let (prepared, moves) = (Vec::new(), Vec::new());
        Self { context, flags, node: node.to_owned(), prepared, moves, places: plan.places }
    }

    /// Reads what is needed to move each pod, and refuses what is not safe. Nothing is changed.
    pub(super) async fn prepare(&mut self) -> Result<(), Failure> {
        for place in self.places.clone() {
            let prepared = self.ready(&place).await.map_err(|failure| unchanged(failure, &place.pod))?;
            self.prepared.push((place.pod, prepared));
        }
        let seat = |(_, one): &(PodKey, Prepared)| one.age().map(|age| (one.place().to_owned(), age));
        in_turn(&mut self.prepared, seat);
        Ok(())
    }

    /// Reserves all places, and then moves the pods. Ctrl-C is heard between two writes, so that none is left half done.
    pub(super) async fn all(&mut self, stops: &mut Stops) -> Result<(), Failure> {
        for (key, prepared) in std::mem::take(&mut self.prepared) {
            stops.heed()?;
            self.moves.push(Move { key, prepared: Some(prepared), is_begun: false, kept: None });
            if let Some(prepared) = self.moves.last().and_then(|one| one.prepared.as_ref()) {
                reserve(self.context, prepared).await?;
            }
        }
        let count = self.moves.len();
        printer::say(&format!("{count} places reserved"));
        let bar = self.context.ui.bar(count as u64, &self.node, Otherwise::Nothing);
        for index in 0..count {
            stops.heed()?;
            self.keep_rest_alive(index).await;
            bar.message(&self.moves[index].key.to_string());
            self.one(index).await?;
            bar.done(index as u64 + 1);
        }
        Ok(())
    }

    /// What the server says to each step of each move, with nothing changed.
    pub(super) async fn rehearsed(&self) -> Result<String, Failure> {
        let mut text = String::new();
        for (_, prepared) in &self.prepared {
            text += &rehearse(self.context, prepared, DryRun::Server).await?;
        }
        Ok(text)
    }

    async fn ready(&self, place: &Place) -> Result<Prepared, Failure> {
        let Ok(to) = &place.to else { return Err(Failure::new("a pod has no place").exit(Exit::NoRoom)) };
        let prepared = prepare(self.context, &place.pod, &self.flags, REASON).await?;
        prepared.elsewhere(self.context, to.as_str()).await
    }

    /// Moves one pod. If its place was lost or taken by a sibling, another one is looked for first.
    async fn one(&mut self, index: usize) -> Result<(), Failure> {
        let key = self.moves[index].key.clone();
        let Some(mut prepared) = self.moves[index].prepared.take() else { return Ok(()) };
        if !prepared.is_kept(self.context).await? {
            prepared = self.elsewhere(&key, &prepared).await?;
        }
        printer::say(&format!("evicting pod {key} -> {}", prepared.place()));
        self.moves[index].is_begun = true;
        self.moves[index].kept = prepared.kept();
        let done = recreate(self.context, prepared).await?;
        printer::say(&done.summary);
        Ok(())
    }

    /// Room for a pod whose own was lost or taken by a sibling: what the sibling left, else wherever there is any.
    async fn elsewhere(&self, key: &PodKey, lost: &Prepared) -> Result<Prepared, Failure> {
        let suits = |left: &&Kept| lost.kept().is_some_and(|own| left.suits(&own));
        for left in self.moves.iter().filter_map(|one| one.kept.as_ref()).filter(suits) {
            let place = Place { pod: key.clone(), to: Ok(NodeName::from(left.node())) };
            let prepared = self.ready(&place).await?;
            if take_over(self.context, &prepared, left).await? {
                return Ok(prepared);
            }
        }
        let place = plan::again(self.context, &self.node, key).await?;
        if let Err(why) = &place.to {
            return Err(Failure::new(format!("pod {key} has no place any more: {why}")).exit(Exit::NoRoom));
        }
        self.ready(&place).await
    }

    async fn keep_rest_alive(&self, from: usize) {
        for prepared in self.moves[from..].iter().filter_map(|one| one.prepared.as_ref()) {
            if let Err(failure) = keep_alive(self.context, prepared).await {
                printer::warn(&failure.message.unwrap_or_default());
            }
        }
    }

    /// Releases the places of the pods that were not touched; says how many could not be.
    pub(super) async fn release_rest(&mut self) -> usize {
        let mut left = 0;
        for one in &mut self.moves {
            if let Some(prepared) = one.prepared.take() {
                left += usize::from(!release(self.context, &prepared).await);
            }
        }
        left
    }

    /// How many pods were not touched.
    pub(super) fn left(&self) -> usize {
        self.total() - self.moves.iter().filter(|one| one.is_begun).count()
    }

    pub(super) fn total(&self) -> usize {
        self.places.len()
    }
}

/// One pod cannot be moved, and so none is.
fn unchanged(failure: Failure, pod: &PodKey) -> Failure {
    let message = failure.message.unwrap_or_default();
    let message = format!("pod {pod} cannot be moved: {message}\n  Nothing was changed.");
    Failure { message: Some(message), ..failure }
}

/// Siblings are alike, and the first that comes to a node takes the oldest of their seats there: so those that go to the same
/// node go in the order of their seats, and each finds its own. The others keep their turn.
fn in_turn<T>(moves: &mut [T], seat: impl Fn(&T) -> Option<(String, Age)>) {
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
    use super::{Age, in_turn};
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
        in_turn(&mut moves, Clone::clone);
        let expected = vec![e, f, a, db, other, None];
        assert_eq!(moves, expected);
    }
}
