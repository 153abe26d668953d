//! Property tests: what holds for every quantity.

use std::cmp::Ordering;

use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

use crate::model::quantity::{AMOUNT_LENGTH_MAX, Format, Quantity, parse_amount};
use crate::model::resources::ResourceName;

/// Any possible quantity, including fractions, the smallest and the largest.
fn quantities() -> impl Strategy<Value = Quantity> {
    let formats = prop_oneof![Just(Format::DecimalSi), Just(Format::BinarySi), Just(Format::DecimalExponent)];
    let units = prop_oneof![any::<i64>(), -5000..5000_i64, Just(i64::MAX), Just(i64::MIN)];
    let nano = prop_oneof![Just(0), Just(500_000_000), 0..1_000_000_000_i64];
    (units, nano, formats).prop_map(|(units, nano, format)| {
        let nano = crate::model::quantity::clamp(
            i128::from(units) * crate::model::quantity::NANO_PER_UNIT + i128::from(nano),
        );
        Quantity { nano, format }
    })
}

/// Texts of the right form, most of them with more digits than can be stored.
fn texts() -> impl Strategy<Value = String> {
    "[+-]?[0-9]{0,30}(\\.[0-9]{0,30})?(|[numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,3})"
}

/// A short decimal, and its exact value in 10^-20.
fn decimals() -> impl Strategy<Value = (String, i128)> {
    (any::<bool>(), 0..100_000_000_u64, 0..10_u32).prop_map(|(negative, digits, scale)| {
        let sign = if negative { "-" } else { "" };
        let exact = i128::from(digits) * 10_i128.pow(20 - scale);
        (format!("{sign}{digits}e-{scale}"), if negative { -exact } else { exact })
    })
}

proptest! {
    #[test]
    fn printing_loses_nothing(quantity in quantities()) {
        let printed = quantity.to_string();
        let read = Quantity::parse(&printed).expect("what we print, we read");
        prop_assert_eq!(read, quantity);
        if read.format == quantity.format {
            prop_assert_eq!(read.to_string(), printed);
        }
    }

    #[test]
    fn the_canonical_form_is_its_own(text in texts()) {
        if let Ok(quantity) = Quantity::parse(&text) {
            let canonical = quantity.to_string();
            let again = Quantity::parse(&canonical).expect("canonical forms are read");
            prop_assert_eq!(again, quantity);
            // The one case where the notation is lost, and the number may get a decimal suffix.
            if quantity.format != Format::BinarySi || canonical.ends_with('i') {
                prop_assert_eq!(again.to_string(), canonical);
            }
        }
    }

    #[test]
    fn order_is_that_of_the_numbers((left, left_exact) in decimals(), (right, right_exact) in decimals()) {
        let read = |text: &str| Quantity::parse(text).expect("a decimal");
        prop_assert_eq!(read(&left).cmp(&read(&right)), left_exact.cmp(&right_exact));
    }

    #[test]
    fn order_agrees_with_rounding(left in quantities(), right in quantities()) {
        match left.cmp(&right) {
            Ordering::Less => prop_assert!(left.value() <= right.value()),
            Ordering::Equal => prop_assert_eq!(left.milli_value(), right.milli_value()),
            Ordering::Greater => prop_assert!(left.milli_value() >= right.milli_value()),
        }
    }

    #[test]
    fn subtraction_undoes_addition(left in quantities(), right in quantities()) {
        let exact = left.nano + right.nano;
        let sum = left.plus(right);
        if exact == sum.nano {
            prop_assert_eq!(sum.minus(right), left);
        } else {
            prop_assert_eq!(sum.nano.abs(), crate::model::quantity::NANO_MAX);
        }
        prop_assert_eq!(sum, right.plus(left));
    }

    #[test]
    fn zeros_and_signs_mean_what_they_say(text in "[0-9]{1,25}(\\.[0-9]{0,25})?(|[numkMGTPE]|[KMGTPE]i)") {
        let read = |text: &str| Quantity::parse(text).expect("well formed");
        prop_assert_eq!(read(&format!("+000{text}")), read(&text));
        prop_assert_eq!(Quantity::ZERO.minus(read(&format!("-{text}"))), read(&text));
    }

    #[test]
    fn no_text_causes_a_panic(text in any::<String>(), near in "[0-9eEinumkKMGTP.+ -]{0,60}") {
        for text in [text, near] {
            let shown = Quantity::parse(&text).map(|quantity| quantity.to_string());
            let length = shown.unwrap_or_else(|error| error.to_string()).chars().count();
            prop_assert!(length < 200);
        }
    }

    #[test]
    fn every_amount_is_a_quantity(text in prop_oneof![texts(), any::<String>()], cpu in any::<bool>()) {
        let resource = if cpu { ResourceName::Cpu } else { ResourceName::Memory };
        if let Ok(amount) = parse_amount(&resource, &text) {
            let quantity = Quantity::parse(&text).expect("an amount is a quantity");
            prop_assert_eq!(if cpu { quantity.milli_value() } else { quantity.value() }, amount);
            prop_assert!(amount > 0);
            prop_assert!(text.len() <= AMOUNT_LENGTH_MAX);
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.'));
        }
    }
}
