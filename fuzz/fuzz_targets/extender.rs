//! Any text as a request or a response of an extender, and as the Lease of a replica: no panic; and our answer to a valid filter
//! request, with nothing refused, reads back as all nodes of the request.
#![no_main]

use common::api::extender::{self, client};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;

fuzz_target!(|text: &str| {
    if let Ok(request) = extender::args(text) {
        let answer = extender::filter_result(&request.nodes, &BTreeMap::new());
        let by_name = matches!(request.nodes, extender::ReceivedNodes::Names(_));
        let parsed = client::filter_result(&answer, by_name).expect("what we answer can be read");
        assert_eq!(parsed.nodes, request.nodes.names(), "everything passes where nothing is refused");
    }
    let _ = (extender::preemption_args(text), extender::binding_args(text).is_ok());
    let _ = (
        client::filter_result(text, true),
        client::priority_list(text),
        client::preemption_result(text),
        client::binding_result(text),
    );
    let _ = common::api::replica::replica(text);
});
