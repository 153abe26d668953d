//! What `release` and `extend` have in common: parse the names, find the reservations, change one after the other, and print the
//! result in the words of kubectl.

use super::Context;
use crate::error::Failure;
use crate::node_patch::DryRun;
use crate::reservations::{NodeSelection, ReservationArg, Row, find, parse_arg};
use crate::ui::printer;
use common::config::parse_duration;
use common::model::keep::LIFE_MAX;
use std::collections::BTreeSet;
use std::time::Duration;

/// `reservation/NAME VERB`, with a suffix for a dry run.
pub(super) fn verbed(name: &str, verb: &str, dry_run: DryRun) -> String {
    let more = match dry_run {
        DryRun::None => "",
        DryRun::Client => " (dry run)",
        DryRun::Server => " (server dry run)",
    };
    format!("reservation/{name} {verb}{more}\n")
}

pub(super) fn parse_args(names: &[String]) -> Result<Vec<ReservationArg>, Failure> {
    names.iter().map(|name| parse_arg(name)).collect()
}

/// The nodes that must be read for these names.
pub(super) fn node_selection(asked: &[ReservationArg]) -> NodeSelection {
    let nodes: Option<BTreeSet<&String>> = asked.iter().map(|asked| asked.node.as_ref()).collect();
    match nodes.filter(|nodes| !nodes.is_empty()) {
        Some(nodes) => NodeSelection::Named(nodes.into_iter().cloned().collect()),
        None => NodeSelection::Reserved,
    }
}

/// The reservations with these names, each once. Fails if one is not found, unless `is_missing_fine`.
pub(super) fn named<'w>(
    rows: &[Row<'w>],
    asked: &[ReservationArg],
    namespace: Option<&str>,
    is_missing_fine: bool,
) -> Result<Vec<Row<'w>>, Failure> {
    let mut named: Vec<Row<'_>> = Vec::new();
    for name in asked {
        let row = match find(rows, name, namespace) {
            Ok(row) => row,
            Err(failure) if is_missing_fine && is_not_found(&failure) => continue,
            Err(failure) => return Err(failure),
        };
        if !named.iter().any(|known| known.id() == row.id()) {
            named.push(row.clone());
        }
    }
    Ok(named)
}

fn is_not_found(failure: &Failure) -> bool {
    failure.message.as_deref().is_some_and(|message| message.contains("(NotFound)"))
}

/// Changes each reservation, and continues if one fails. Returns the last failure; the failures before are printed.
pub(super) async fn each<'w, F: Future<Output = Result<(), Failure>>>(
    rows: Vec<Row<'w>>,
    change: impl Fn(Row<'w>) -> F,
) -> Result<(), Failure> {
    let mut last = Ok(());
    for row in rows {
        if let Err(failure) = change(row).await {
            tell(std::mem::replace(&mut last, Err(failure)));
        }
    }
    last
}

fn tell(outcome: Result<(), Failure>) {
    let Err(Failure { message: Some(message), hint, .. }) = outcome else { return };
    printer::say_always(&format!("error: {message}"));
    if let Some(hint) = hint {
        printer::say_always(&format!("hint: {hint}"));
    }
}

/// The namespace of the reservations; `None` for all.
pub(super) fn namespace(context: &Context, all_namespaces: bool) -> Option<String> {
    (!all_namespaces).then(|| context.session.namespace.clone())
}

/// Parses `--ttl`: positive, and at most the longest life of a reservation.
pub(super) fn ttl(text: &str) -> Result<Duration, Failure> {
    let duration = parse_duration(text).filter(|duration| duration.is_positive());
    let duration = duration
        .and_then(|duration| Duration::try_from(duration).ok())
        .ok_or_else(|| Failure::usage(format!("--ttl {text:?}: expected a duration like 90s, 10m or 1h")))?;
    if duration > LIFE_MAX {
        let hours = LIFE_MAX.as_secs() / 3600;
        return Err(Failure::usage(format!(
            "--ttl {text}: the longest that room is kept is {hours}h from now"
        ))
        .hint("the plain form (kubectl reserve add --plain) has no end"));
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::{ttl, verbed};
    use crate::node_patch::DryRun;
    use std::time::Duration;

    #[test]
    fn words_are_kubectls() {
        assert_eq!(verbed("7f3a0c", "released", DryRun::None), "reservation/7f3a0c released\n");
        assert_eq!(verbed("7f3a0c", "released", DryRun::Client), "reservation/7f3a0c released (dry run)\n");
        assert_eq!(
            verbed("7f3a0c", "released", DryRun::Server),
            "reservation/7f3a0c released (server dry run)\n"
        );
    }

    #[test]
    fn a_life_is_more_than_nothing_and_no_more_than_an_hour() {
        assert_eq!(ttl("90s").unwrap(), Duration::from_secs(90));
        assert_eq!(ttl("1h").unwrap(), Duration::from_secs(3600));
        for odd in ["", "0", "0s", "-1m", "ten", "1", "61m", "1d", "9999999999999h"] {
            assert!(ttl(odd).is_err(), "{odd:?}");
        }
        let told = ttl("2h").unwrap_err().message.unwrap_or_default();
        assert_eq!(told, "--ttl 2h: the longest that room is kept is 1h from now");
    }
}
