//! Any text as a question or an answer of an extender, and as the Lease of a replica: no panic, and no answer to what was
//! no question.
#![no_main]

use common::api::extender::{self, ask};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;

fuzz_target!(|text: &str| {
    if let Ok(question) = extender::question(text) {
        let answer = extender::filtered(&question.nodes, &BTreeMap::new());
        let by_name = matches!(question.nodes, extender::Nodes::Names(_));
        let heard = ask::filtered(&answer, by_name).expect("what we answer can be read");
        assert_eq!(heard.nodes, question.nodes.names(), "everything passes where nothing is refused");
    }
    let _ = (extender::preemption(text), extender::binding(text).is_ok());
    let _ = (ask::filtered(text, true), ask::prioritized(text), ask::preempted(text), ask::bound(text));
    let _ = common::api::replica::replica(text);
});
