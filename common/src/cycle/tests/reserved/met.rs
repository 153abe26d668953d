//! Notes of what was met on the way, so that it can be said that the histories reach everything.

use super::books::{self, CRITICAL, Fate, Line};
use super::kin::Kin;
use super::opinion::Opinion;
use super::test_cluster::{Amounts, Form, Mind, TestCluster, TestReservation, Whom};

/// Everything that is to be met.
pub(super) const ALL: [&str; 44] = [
    "Expired",
    "Held",
    "Occupied",
    "Short",
    "Taken",
    "a bare pod goes to its node",
    "a forged stamp counts for nothing",
    "a liar is kept out",
    "a forged stamp, and the room is kept",
    "a member goes to its node under its name",
    "a namesake elsewhere is a stranger",
    "a seat of two is taken",
    "a stamp that names what is gone",
    "confirmed",
    "expired beside live",
    "forgotten",
    "goes to its node although others would do",
    "its node cannot have it",
    "kept: cpu",
    "kept: ephemeral-storage",
    "kept: memory",
    "kept: nvidia.com/gpu",
    "kept: pods",
    "kept: ports",
    "minds its neighbours, and is placed",
    "minds its neighbours, not reservations",
    "named, although another is older",
    "newer held",
    "newer over",
    "newer taken",
    "noise beside a reservation",
    "nowhere",
    "owner read later",
    "plain held in part",
    "plain used up",
    "ports in use",
    "takes a newer one",
    "takes from the pool",
    "taken with a stamp",
    "taken without a stamp",
    "two seats of one owner",
    "yields to a DaemonSet",
    "yields to higher priority",
    "yields to the system",
];

pub(super) fn judged(test_cluster: &mut TestCluster, test_pod: usize, opinion: &Opinion) {
    let kin = test_cluster.test_pods[test_pod].kin;
    let mut met = Vec::new();
    for said in &opinion.said {
        met.push(match (said.plugin, &*said.what) {
            ("Reservation", "cpu") => "kept: cpu",
            ("Reservation", "memory") => "kept: memory",
            ("Reservation", "ephemeral-storage") => "kept: ephemeral-storage",
            ("Reservation", "pods") => "kept: pods",
            ("Reservation", "nvidia.com/gpu") => "kept: nvidia.com/gpu",
            ("Reservation", _) => "kept: ports",
            ("NodePorts", _) => "ports in use",
            _ => continue,
        });
        if said.plugin == "Reservation" && matches!(kin, Kin::Liar(_)) {
            met.push("a liar is kept out");
        }
    }
    let is_namesake = |test_reservation: &TestReservation| match test_reservation.whom {
        Whom::Pod(owner) => {
            let (owner, it) = (&test_cluster.test_pods[owner], &test_cluster.test_pods[test_pod]);
            owner.name == it.name && kin.is_bare() && kin.namespace() != owner.kin.namespace()
        }
        Whom::Workload(_) => false,
    };
    if test_cluster.test_reservations.iter().any(|test_reservation| {
        books::is_live(test_cluster, test_reservation) && is_namesake(test_reservation)
    }) {
        met.push("a namesake elsewhere is a stranger");
    }
    if opinion.own.is_some() && !opinion.said.is_empty() {
        met.push("its node cannot have it");
    }
    test_cluster.met.extend(met);
}

pub(super) fn placed(
    test_cluster: &mut TestCluster,
    test_pod: usize,
    test_node: usize,
    own: Option<usize>,
    feasible: usize,
) {
    let mut met = Vec::new();
    let it = &test_cluster.test_pods[test_pod];
    if it.mind != Mind::Not {
        met.push("minds its neighbours, and is placed");
    }
    let lines = books::lines(test_cluster, test_node);
    for line in lines.iter().filter(|line| line.fate == Fate::Held) {
        let test_reservation = &test_cluster.test_reservations[line.test_reservation];
        if own == Some(line.test_reservation) || !books::yields(test_cluster, test_reservation, it) {
            continue;
        }
        met.push(match it.priority {
            CRITICAL.. => "yields to the system",
            _ if it.kin == Kin::Agent && it.priority <= test_reservation.priority => "yields to a DaemonSet",
            _ => "yields to higher priority",
        });
    }
    met.extend(own.iter().flat_map(|own| at_home(test_cluster, test_pod, &lines, *own, feasible)));
    test_cluster.met.extend(met);
}

/// What there is to say of a pod that goes to its node.
fn at_home(
    test_cluster: &TestCluster,
    test_pod: usize,
    lines: &[Line],
    own: usize,
    feasible: usize,
) -> Vec<&'static str> {
    let it = &test_cluster.test_pods[test_pod];
    let may_use = |line: &&Line| {
        books::may_use(test_cluster, it, &test_cluster.test_reservations[line.test_reservation])
    };
    let usable: Vec<&Line> = lines.iter().filter(|line| line.fate == Fate::Held).filter(may_use).collect();
    let test_reservation = &test_cluster.test_reservations[own];
    let is_named = test_reservation.replaces.is_some_and(|old| test_cluster.test_pods[old].name == it.name);
    let is_older = |line: &&Line| {
        let other = &test_cluster.test_reservations[line.test_reservation];
        other.form == Form::Recorded && books::age(other) < books::age(test_reservation)
    };
    let notes = [
        (feasible > 1, "goes to its node although others would do"),
        (it.kin.is_bare(), "a bare pod goes to its node"),
        (it.kin == Kin::Db && is_named, "a member goes to its node under its name"),
        (usable.len() > 1, "a seat of two is taken"),
        (is_named && usable.iter().any(is_older), "named, although another is older"),
        (test_reservation.form == Form::Newer, "takes a newer one"),
        (test_reservation.form == Form::Plain, "takes from the pool"),
    ];
    notes.iter().filter(|(is_so, _)| *is_so).map(|(_, note)| *note).collect()
}

pub(super) fn settled(test_cluster: &mut TestCluster, test_node: usize, lines: &[Line]) {
    let mut met = Vec::new();
    for line in lines {
        let test_reservation = &test_cluster.test_reservations[line.test_reservation];
        let is_part = line.held != Amounts::default() && line.held != test_reservation.amount;
        let is_stamped =
            |test_pod: usize| test_cluster.test_pods[test_pod].stamp() == Some(&test_reservation.id);
        let note = match (test_reservation.form, line.fate) {
            (Form::Plain, Fate::Occupied) => "plain used up",
            (Form::Plain, Fate::Held) if is_part => "plain held in part",
            (Form::Newer, Fate::Held) => "newer held",
            (Form::Newer, Fate::Expired) => "newer over",
            (Form::Newer, Fate::Taken(_)) => "newer taken",
            (Form::Recorded, Fate::Taken(test_pod)) if is_stamped(test_pod) => "taken with a stamp",
            (Form::Recorded, Fate::Taken(_)) => "taken without a stamp",
            (_, Fate::Expired) if lines.iter().any(|line| line.fate == Fate::Held) => "expired beside live",
            _ => continue,
        };
        met.push(note);
    }
    met.extend(stamps(test_cluster, test_node, lines));
    let seats = |whom: Whom| {
        let same = |line: &&Line| {
            let test_reservation = &test_cluster.test_reservations[line.test_reservation];
            line.fate == Fate::Held
                && test_reservation.whom == whom
                && test_reservation.form == Form::Recorded
        };
        lines.iter().filter(same).count()
    };
    let is_double =
        lines.iter().any(|line| seats(test_cluster.test_reservations[line.test_reservation].whom) > 1);
    let is_noisy = !lines.is_empty() && !test_cluster.test_nodes[test_node].noise.is_empty();
    let notes = [(is_double, "two seats of one owner"), (is_noisy, "noise beside a reservation")];
    met.extend(notes.iter().filter(|(is_so, _)| *is_so).map(|(_, note)| *note));
    test_cluster.met.extend(met);
}

/// What there is to say of the stamps on the pods of a node.
fn stamps(test_cluster: &TestCluster, test_node: usize, lines: &[Line]) -> Vec<&'static str> {
    let mut met = Vec::new();
    for test_pod in
        books::counted(test_cluster, test_node).into_iter().map(|test_pod| &test_cluster.test_pods[test_pod])
    {
        let Some(stamp) = test_pod.stamp() else { continue };
        let is_kept = |line: &Line| {
            line.fate == Fate::Held && test_cluster.test_reservations[line.test_reservation].id == *stamp
        };
        if lines.iter().any(is_kept) {
            met.push("a forged stamp, and the room is kept");
        }
        match lines
            .iter()
            .map(|line| &test_cluster.test_reservations[line.test_reservation])
            .find(|test_reservation| test_reservation.id == *stamp)
        {
            None => met.push("a stamp that names what is gone"),
            Some(test_reservation) if !books::may_use(test_cluster, test_pod, test_reservation) => {
                met.push("a forged stamp counts for nothing")
            }
            Some(_) => {}
        }
    }
    met
}
