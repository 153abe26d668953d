//! `kubectl reserve add`: room is reserved by hand.

mod amounts;
mod told;
mod whose;

use super::Context;
use super::change::{ttl, verbed};
use crate::cli::Add;
use crate::error::Failure;
use crate::node_patch::{DryRun, rewrite};
use crate::reservations::record::{self, Unwritable};
use crate::reservations::{self, Pods, View, Which, change, name_of};
use crate::ui::printer;
use crate::whoami::whoami;
use common::cluster::{Terms, replacing};
use common::model::reservation::{Origin, Placement, Record, Seat};
use common::model::{Moment, Reservation, ReservationId};
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;
use whose::Whose;

/// A pod that was bound within the same second must not seem to have come for the reservation.
const CLOCK_MARGIN: SignedDuration = SignedDuration::from_secs(1);

/// What does not follow from the arguments: when, by whom, and a number that nobody else has.
pub(super) struct Made {
    pub(super) now: Timestamp,
    pub(super) by: String,
    pub(super) chance: u64,
}

pub(crate) async fn run(args: &Add, context: &Context) -> Result<(), Failure> {
    let session = &context.session;
    let (life, amounts) = (ttl(&args.ttl)?, amounts::read(args)?);
    let whose = whose::find(args, context).await?;
    let node = whose.node(args)?;
    let mut view = reservations::read(session, &Which::Named(vec![node.clone()]), Pods::IfAllowed).await?;
    let dry_run = args.dry_run.dry_run;
    let by = if dry_run == DryRun::None { whoami(session).await } else { "kubectl-reserve".into() };
    let made = Made { now: view.now, by, chance: fastrand::u64(..) };
    let reservation = reservation(args, &whose, amounts, life, &made)?;
    record::check(&reservation).map_err(|Unwritable { problem, advice }| {
        Failure::usage(format!("cannot be reserved: {problem}")).hint(advice)
    })?;
    judge(&reservation, args, &whose, &mut view)?;
    let written =
        rewrite(session, &node, dry_run, |seen| change::reserve(seen, &reservation, made.now)).await?;
    let name = name_of(&reservation.id);
    if !written.is_changed {
        printer::out(&verbed(&name, "unchanged", dry_run))?;
        printer::say(&format!("it is there already: kubectl reserve describe {node}/{name}"));
        return Ok(());
    }
    printer::out(&verbed(&name, "reserved", dry_run))?;
    told::kept(&reservation, &node, &whose, made.now, dry_run == DryRun::None);
    if dry_run == DryRun::None {
        told::seen(session, written.version, whose.scheduler()).await;
    }
    Ok(())
}

/// The reservation that was asked for.
fn reservation(
    args: &Add,
    whose: &Whose,
    amounts: amounts::Amounts,
    life: Duration,
    made: &Made,
) -> Result<Reservation, Failure> {
    let mut reservation = match whose.replaced() {
        Some(pod) => {
            let terms = Terms {
                now: made.now,
                expires: made.now.checked_add(life).unwrap_or(Timestamp::MAX),
                life: Some(life),
                request: format!("add-{:016x}", made.chance).into(),
                by: made.by.as_str().into(),
                reason: reason(args).into(),
                placement: Placement::Prefer,
            };
            replacing(pod, whose.owner.clone(), terms)
                .ok_or_else(|| Failure::new(format!("pod {} has no proper UID", pod.key)))?
        }
        None => for_owner(args, whose, life, made)?,
    };
    amounts.apply(&mut reservation.amount);
    if let (Origin::Recorded(record), Some(priority)) = (&mut reservation.origin, args.priority) {
        record.priority = priority;
    }
    if args.plain {
        reservation.id.seat = None;
        reservation.origin = Origin::Manual;
        reservation.ports = Box::default();
    }
    let is_nothing = reservation.amount.iter().all(|(resource, _)| resource.as_str() == "pods");
    if is_nothing && reservation.ports.is_empty() {
        return Err(Failure::usage("there is nothing to reserve")
            .hint("say how much: --cpu 500m --memory 1Gi --resource NAME=QUANTITY"));
    }
    Ok(reservation)
}

fn reason(args: &Add) -> &str {
    if args.reason.is_empty() { "kubectl reserve add" } else { &args.reason }
}

/// A reservation that replaces no pod.
fn for_owner(args: &Add, whose: &Whose, life: Duration, made: &Made) -> Result<Reservation, Failure> {
    let seat = Seat::parse(&format!("{:012x}", made.chance >> 16));
    let life = SignedDuration::try_from(life).map_err(|_| Failure::usage("--ttl is too long"))?;
    let later = |more| made.now.checked_add(more).unwrap_or(Timestamp::MAX);
    let record = Record {
        owner: whose.owner.clone(),
        replaces: None,
        priority: whose.priority(),
        created: later(CLOCK_MARGIN),
        expires: Moment::of(later(life)).time(),
        life: None,
        request: format!("add-{:016x}", made.chance).into(),
        by: made.by.as_str().into(),
        reason: reason(args).into(),
        placement: Placement::Prefer,
        unknown: None,
    };
    let mut amount = common::model::Resources::default();
    amount.pods = 1;
    let id = ReservationId { owner: whose.owner.uid.clone(), seat };
    Ok(Reservation { id, amount, ports: Box::default(), origin: Origin::Recorded(Box::new(record)) })
}

/// Refuses what the node can never hold, and warns of what it cannot hold now.
fn judge(reservation: &Reservation, args: &Add, whose: &Whose, view: &mut View) -> Result<(), Failure> {
    let has_pods = view.has_pods;
    let snapshot = view.snapshot();
    let Some(ledger) = snapshot.nodes().next() else { return Err(Failure::new("the node is gone")) };
    if !args.force_overcommit {
        amounts::fits_at_all(&reservation.amount, ledger)?;
    }
    // The room of a pod that sits there is its own.
    let warnings =
        if whose.replaced().is_some() { Vec::new() } else { amounts::lacking(&reservation.amount, ledger) };
    for warning in warnings {
        printer::warn(&warning);
    }
    if !has_pods {
        printer::warn(
            "pods cannot be listed, so nobody knows what is free there; needs: list pods (all namespaces)",
        );
    }
    if ledger.node.unschedulable {
        printer::warn(&format!(
            "node {} is cordoned: no pod gets there before it is uncordoned",
            ledger.node.name
        ));
    }
    Ok(())
}
