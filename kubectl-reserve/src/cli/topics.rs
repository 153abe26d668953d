//! The help topics: `kubectl reserve help exit-codes` and the others. A topic is no verb: it is only text.

use clap::Command;
use clap::error::Error;

/// The topics, by name.
const TOPICS: [(&str, &str); 4] =
    [("exit-codes", EXIT_CODES), ("states", STATES), ("what-if", WHAT_IF), ("environment", ENVIRONMENT)];

/// The last lines of the help about all verbs.
pub(super) const LIST: &str = "\
Help topics: kubectl reserve help exit-codes, states, what-if or environment.";

const EXIT_CODES: &str = "\
Exit codes:
    0  done, or there was nothing to do
    1  error: the API server, the network, an object that does not exist
    2  wrong usage; nothing was changed
   10  explain, fit: at least one pod cannot be scheduled now
   11  a PodDisruptionBudget forbids the eviction
   12  the timeout passed; the message says what is left
   13  no room: a reservation does not fit its node, or a pod has no place
       elsewhere; nothing was changed
   14  forbidden: the message names the missing RBAC rule
   15  refused because it is not safe, or because nothing enforces the
       reservation; the message names the flag that allows it
   16  the replacement is ready on another node (--same-node=require)
  130  interrupted by Ctrl-C; the message says what is left";

/// The states of a reservation; `list --help` has them, too.
pub(super) const STATES: &str = "\
States of a reservation:
  Occupied  the replaced pod is still on the node
  Held      the room is empty, and kept for the next pod of the owner
  Taken     a pod of the owner has used it; the daemon releases it soon
  Short     held, but the node has promised more than it has
  Expired   its time is over; it no longer counts
  Invalid   no well-formed reservation; it is ignored

(manual) stands beside a reservation in the plain form, which never expires.
The state is stored nowhere: it follows from the node, its pods and the time.";

const WHAT_IF: &str = "\
Changes that explain --what-if can suppose; the flag may be repeated:
  requests.cpu=1500m          the pod requests this much
  uncordon=node-3             the node is not cordoned
  toleration=dedicated=db     the pod tolerates the taint
  untaint=node-3:dedicated    the node does not have the taint
  label=node-3:disktype=ssd   the node has the label; label=node-3:disktype-
                              for a node without it
  release=7f3a0c              the reservation is released
  scale=deployment/web=2      the workload has this many pods
  evict=shop/web-0            the pod is gone
  priority=1000               the pod has this priority
  add-node=cpu=8,memory=32Gi  there is one more node

Nothing is changed in the cluster: the scheduler's own filters judge the pod
again on what was read.

Examples:
  kubectl reserve explain batch-0 --what-if uncordon=node-3";

const ENVIRONMENT: &str = "\
Environment variables:
  KUBECONFIG                 kubeconfig files, merged as kubectl merges them
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                             the proxy to the API server
  NO_COLOR                   no colours, if it is not empty
  CLICOLOR_FORCE             colours also in a pipe, unless it is 0
  TERM                       dumb: no colours, no prompts, no progress
  LC_ALL, LC_CTYPE, LANG     whether characters beyond ASCII can be shown
  KUBECTL_RESERVE_PROGRESS   auto, always or never
  XDG_STATE_HOME             where restart remembers what is not finished

A flag has precedence over a variable, and a variable over the kubeconfig.";

/// The text of a topic, if `words` ask for one: the program, `help`, and the topic. As clap's own help texts it is an error.
pub(super) fn topic(words: &[&str], name: &str) -> Option<Error> {
    let [_, "help", topic] = words else { return None };
    let (_, text) = TOPICS.iter().find(|(known, _)| known == topic)?;
    let text = format!("{}\n", text.replace(super::help::NAME, name));
    // Only a command prints a text as it is; an error that is made by hand begins with `error:`.
    Command::new("help").override_help(text).try_get_matches_from(["help", "--help"]).err()
}

#[cfg(test)]
mod tests {
    use super::{EXIT_CODES, STATES, TOPICS, WHAT_IF};
    use crate::error::Exit;
    use crate::explain::parse_what_if;
    use common::cluster::ReservationState;

    #[test]
    fn every_exit_code_and_state_is_explained() {
        let exits = [Exit::Error, Exit::Usage, Exit::NoFit, Exit::Budget, Exit::TimedOut, Exit::NoRoom];
        let more = [Exit::Forbidden, Exit::Unsafe, Exit::Elsewhere, Exit::Interrupted];
        for exit in exits.into_iter().chain(more) {
            assert!(EXIT_CODES.contains(&format!("\n{:>5}  ", exit as u8)), "{exit:?}");
        }
        let states = [ReservationState::Occupied, ReservationState::Held, ReservationState::Taken];
        for state in states.into_iter().chain([ReservationState::Short, ReservationState::Expired]) {
            assert!(STATES.contains(&format!("\n  {}", state.as_str())), "{state:?}");
        }
    }

    #[test]
    fn every_change_that_is_named_can_be_supposed() {
        let changes = WHAT_IF.lines().filter(|line| line.starts_with("  ") && line.contains('='));
        let changes: Vec<&str> = changes.filter_map(|line| line.split_whitespace().next()).collect();
        let changes: Vec<&str> =
            changes.into_iter().filter(|word| *word != "kubectl" && *word != "for").collect();
        assert_eq!(changes.len(), 10, "{changes:?}");
        for change in changes {
            parse_what_if(change).unwrap_or_else(|why| panic!("{why}"));
        }
    }

    #[test]
    fn topics_fit_a_terminal() {
        for (name, text) in TOPICS {
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{name}");
        }
    }
}
