//! Any text as a quantity and as an amount: no panic, short error messages, and a printed quantity parses to itself.
#![no_main]

use common::model::quantity::{AMOUNT_LENGTH_MAX, Quantity, parse_amount};
use common::model::resources::ResourceName;
use libfuzzer_sys::fuzz_target;

/// Longer than any message needs, much shorter than a message that repeats a hostile text.
const MESSAGE_LENGTH_MAX: usize = 250;

fuzz_target!(|text: &str| {
    let read = Quantity::parse(text);
    match &read {
        Ok(quantity) => check_round_trip(*quantity),
        Err(error) => check_message(&error.to_string()),
    }
    for resource in [ResourceName::Cpu, ResourceName::Memory] {
        match parse_amount(&resource, text) {
            Ok(amount) => {
                let quantity = read.as_ref().expect("an amount is a quantity");
                let cpu = resource == ResourceName::Cpu;
                assert_eq!(if cpu { quantity.milli_value() } else { quantity.value() }, amount);
                assert!(amount > 0 && text.len() <= AMOUNT_LENGTH_MAX);
            }
            Err(error) => check_message(&error.to_string()),
        }
    }
});

fn check_round_trip(quantity: Quantity) {
    let printed = quantity.to_string();
    assert!(printed.len() <= 32, "{printed}");
    let again = Quantity::parse(&printed).expect("what is printed can be read");
    assert_eq!(again, quantity);
    if again.format() == quantity.format() {
        assert_eq!(again.to_string(), printed);
    }
    assert_eq!(quantity.minus(quantity), Quantity::ZERO);
    assert!(quantity.value().unsigned_abs() <= quantity.milli_value().unsigned_abs());
}

fn check_message(message: &str) {
    assert!(message.len() <= MESSAGE_LENGTH_MAX, "{} bytes", message.len());
    assert!(!message.contains(char::is_control), "{message:?}");
}
