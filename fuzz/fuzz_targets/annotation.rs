//! Any annotations of a node, one `key=value` per line: parsing reservations must not panic, whatever users write.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let annotations = text.lines().map(|line| line.split_once('=').unwrap_or((line, "")));
    let _ = common::api::reservation::parse(annotations);
});
