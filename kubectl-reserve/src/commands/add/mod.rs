//! `kubectl reserve add`: reserves room for the owner of a pod, for a workload, or for a UID.

mod amounts;
mod messages;
mod recipient;

use super::Context;
use super::change::{ttl, verbed};
use crate::cli::Add;
use crate::error::Failure;
use crate::node_patch::{DryRun, rewrite};
use crate::reservations::record::{self, UnwritableRecord};
use crate::reservations::{self, NodeSelection, PodSelection, ReservationView, change, name_of};
use crate::ui::printer;
use crate::whoami::whoami;
use common::cluster::{ReservationTerms, replacement_reservation};
use common::model::reservation::{Origin, Placement, Record, Seat};
use common::model::{Moment, Reservation, ReservationId};
use jiff::{SignedDuration, Timestamp};
use recipient::Recipient;
use std::time::Duration;

/// Added to the creation time: a pod that was bound in the same second must not count as one that took the reservation.
const CLOCK_MARGIN: SignedDuration = SignedDuration::from_secs(1);

/// What does not follow from the arguments: the time, the user, and a random number.
pub(super) struct Creation {
    pub(super) now: Timestamp,
    pub(super) by: String,
    pub(super) random: u64,
}

pub(crate) async fn run(args: &Add, context: &Context) -> Result<(), Failure> {
    let session = &context.session;
    if args.pod.is_none() && (args.node.is_none() || args.owner.is_none()) {
        return Err(Failure::usage("say whose room is reserved, and where")
            .hint("--pod POD keeps the place of a pod; --node NODE --for TYPE/NAME --cpu 500m --memory 1Gi keeps room for a workload"));
    }
    let (life, amounts) = (ttl(&args.ttl)?, amounts::read(args)?);
    let recipient = recipient::find(args, context).await?;
    let node = recipient.node(args)?;
    let mut view =
        reservations::read(session, &NodeSelection::Named(vec![node.clone()]), PodSelection::IfAllowed)
            .await?;
    let dry_run = args.dry_run.dry_run;
    let by = if dry_run == DryRun::None { whoami(session).await } else { "kubectl-reserve".into() };
    let creation = Creation { now: view.now, by, random: fastrand::u64(..) };
    let reservation = reservation(args, &recipient, amounts, life, &creation)?;
    record::check(&reservation).map_err(|UnwritableRecord { problem, advice }| {
        Failure::usage(format!("cannot be reserved: {problem}")).hint(advice)
    })?;
    judge(&reservation, args, &recipient, &mut view)?;
    let written =
        rewrite(session, &node, dry_run, |seen, _| change::reserve(seen, &reservation, creation.now)).await?;
    let name = name_of(&reservation.id);
    if !written.is_changed {
        printer::out(&verbed(&name, "unchanged", dry_run))?;
        printer::say(&format!("it is there already: kubectl reserve describe {node}/{name}"));
        return Ok(());
    }
    printer::out(&verbed(&name, "reserved", dry_run))?;
    messages::print_reservation(&reservation, &node, &recipient, creation.now, dry_run == DryRun::None);
    if dry_run == DryRun::None {
        messages::print_enforcement(session, written.version, recipient.scheduler()).await;
    }
    Ok(())
}

fn reservation(
    args: &Add,
    recipient: &Recipient,
    amounts: amounts::Amounts,
    life: Duration,
    creation: &Creation,
) -> Result<Reservation, Failure> {
    let mut reservation = match recipient.replaced() {
        Some(pod) => {
            let terms = ReservationTerms {
                now: creation.now,
                expires: creation.now.checked_add(life).unwrap_or(Timestamp::MAX),
                life: Some(life),
                request: format!("add-{:016x}", creation.random).into(),
                by: creation.by.as_str().into(),
                reason: reason(args).into(),
                placement: Placement::Prefer,
            };
            replacement_reservation(pod, recipient.owner.clone(), terms)
                .ok_or_else(|| Failure::new(format!("pod {} has no proper UID", pod.key)))?
        }
        None => for_owner(args, recipient, life, creation)?,
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
fn for_owner(
    args: &Add,
    recipient: &Recipient,
    life: Duration,
    creation: &Creation,
) -> Result<Reservation, Failure> {
    let seat = Seat::parse(&format!("{:012x}", creation.random >> 16));
    let life = SignedDuration::try_from(life).map_err(|_| Failure::usage("--ttl is too long"))?;
    let later = |more| creation.now.checked_add(more).unwrap_or(Timestamp::MAX);
    let record = Record {
        owner: recipient.owner.clone(),
        replaces: None,
        priority: recipient.priority(),
        created: later(CLOCK_MARGIN),
        expires: Moment::of(later(life)).time(),
        life: None,
        request: format!("add-{:016x}", creation.random).into(),
        by: creation.by.as_str().into(),
        reason: reason(args).into(),
        placement: Placement::Prefer,
        unknown: None,
    };
    let mut amount = common::model::Resources::default();
    amount.pods = 1;
    let id = ReservationId { owner: recipient.owner.uid.clone(), seat };
    Ok(Reservation { id, amount, ports: Box::default(), origin: Origin::Recorded(Box::new(record)) })
}

/// Fails if the node can never have so much room, and warns if it has too little now.
fn judge(
    reservation: &Reservation,
    args: &Add,
    recipient: &Recipient,
    view: &mut ReservationView,
) -> Result<(), Failure> {
    let has_pods = view.has_pods;
    let snapshot = view.snapshot();
    let Some(ledger) = snapshot.nodes().next() else { return Err(Failure::new("the node is gone")) };
    if !args.force_overcommit {
        amounts::fits_at_all(&reservation.amount, ledger)?;
    }
    // The pod on the node already has the room that is reserved for its replacement.
    let warnings = if recipient.replaced().is_some() {
        Vec::new()
    } else {
        amounts::lacking(&reservation.amount, ledger)
    };
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
