//! `-o html`: one page with everything in it. Its Content-Security-Policy allows the style and the script by their hashes and nothing else,
//! so that it loads nothing, whatever is in the cluster's names.

use super::Picture;
use crate::render::printable;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};

const PAGE: &str = include_str!("../../../web/report.html");
const STYLE: &str = include_str!("../../../web/picture.css");

/// The modules of the script, in an order in which each uses only those before it; `report.js` starts it.
pub(super) const MODULES: [&str; 4] = [
    include_str!("../../../web/text.js"),
    include_str!("../../../web/model.js"),
    include_str!("../../../web/picture.js"),
    include_str!("../../../web/report.js"),
];

impl Picture {
    /// The page.
    pub(crate) fn html(&self) -> String {
        let script = script();
        // In the order of the page: nothing that is in the cluster is looked through for a place.
        let parts = [
            ("{{policy}}", policy(&script)),
            ("{{title}}", escaped(&printable(&format!("{} · kubectl reserve", self.title)))),
            ("{{style}}", STYLE.to_owned()),
            ("{{text}}", escaped(&self.markdown())),
            ("{{picture}}", data(&self.document().to_string())),
            ("{{script}}", script),
        ];
        let (mut page, mut rest) = (String::new(), PAGE);
        for (place, part) in parts {
            let (before, after) = rest.split_once(place).unwrap_or((rest, ""));
            page += before;
            page += &part;
            rest = after;
        }
        page + rest
    }
}

/// The modules as one: what each imports stands before it.
fn script() -> String {
    let lines = MODULES.iter().flat_map(|module| module.lines()).filter(|line| !line.starts_with("import "));
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn policy(script: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(STYLE)
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// JSON that cannot end the element it is in.
fn data(json: &str) -> String {
    json.replace('<', r"\u003c")
}
