//! Label selectors in kubectl's syntax, for snapshots, which no server filters: `a=b,c!=d,e in (f,g),h notin (i),j,!k`.

use crate::error::Failure;
use common::model::{Selector, requirement};

/// Parses a selector. An empty text selects everything.
pub(crate) fn parse(text: &str) -> Result<Selector, Failure> {
    requirement::parse(text).map(Selector::new).map_err(|wrong| {
        Failure::usage(format!("unable to parse the selector {text:?}: {wrong}"))
            .hint("a selector looks like app=web,tier!=cache, or app in (web,api)")
    })
}

#[cfg(test)]
mod tests {
    use super::parse;
    use common::model::labels::Labels;

    #[test]
    fn selectors_mean_what_kubectl_means() {
        let labels = Labels::new([("app", "web"), ("tier", "front"), ("rank", "7")]);
        let cases = [
            ("", true),
            ("app=web", true),
            ("app==web", true),
            ("app = web , tier != cache", true),
            ("app!=web", false),
            ("other!=web", true),
            ("app in (api, web)", true),
            ("app in (api),tier", false),
            ("app notin (api,cache)", true),
            ("tier", true),
            ("!tier", false),
            ("!other", true),
            ("rank>6", true),
            ("rank<6", false),
            ("app=", false),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).unwrap().matches(&labels), expected, "{text:?}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_said_so() {
        for text in ["app=web,", "=web", "app within (a)", "a b", "app in ()x", "app=a b", ",", "app>x"] {
            let refused = parse(text).map(|_| ()).unwrap_err();
            assert!(refused.message.unwrap().starts_with("unable to parse the selector"), "{text:?}");
        }
    }
}
