//! Inputs that have broken other parsers of quantities, each with its expected result here.

mod properties;
mod vectors;

use super::{AmountProblem, Format, Quantity, QuantityProblem, parse_amount};
use crate::model::resources::ResourceName;
use std::sync::mpsc;
use std::time::Duration;

fn parsed(text: &str) -> Quantity {
    Quantity::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn problem(text: &str) -> QuantityProblem {
    match Quantity::parse(text) {
        Ok(quantity) => panic!("{text:?} was read as {quantity}"),
        Err(error) => error.problem(),
    }
}

/// Fails if `work` does not end soon. Code that computes the power of ten would run for years, or until it is out of memory.
#[expect(
    clippy::disallowed_methods,
    reason = "that a thread does not end can be seen only from another thread"
)]
fn at_once(work: fn()) {
    let (done, is_done) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        work();
        done.send(()).unwrap();
    });
    // If the sender is gone without a message, `work` panicked, and `join` reports it.
    if is_done.recv_timeout(Duration::from_secs(20)) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("it takes too long");
    }
    worker.join().unwrap();
}

#[test]
fn astronomical_exponents_saturate_or_vanish_at_once() {
    at_once(|| {
        let most = [
            "1e28",
            "1e100000",
            "1e2147483647",
            "1e4294967297",
            "2E6024865272343",
            "1e9223372036854775807",
            "2000E",
        ];
        for text in most {
            assert_eq!(parsed(text).value(), i64::MAX, "{text}");
            assert_eq!(parsed(&format!("-{text}")).milli_value(), -i64::MAX, "-{text}");
            assert_eq!(parsed(text).to_string(), i64::MAX.to_string(), "{text}");
        }
        for text in
            ["1e-30", "1e-100000", "1e-2147483648", "1e-4294967297", "1e-9223372036854775808", "0.0001n"]
        {
            assert_eq!(parsed(text), parsed("1n"), "{text}");
            assert_eq!(parsed(text).milli_value(), 1, "{text}");
        }
        assert!(parsed("0e9223372036854775807").is_zero());
        assert_eq!(problem("1e9223372036854775808"), QuantityProblem::Suffix);
    });
}

#[test]
fn exponents_and_digits_cancel_without_being_built() {
    let million_zeros = "0".repeat(1_000_000);
    assert_eq!(parsed(&format!("0.{million_zeros}5e1000001")), parsed("5"));
    assert_eq!(parsed(&format!("5{million_zeros}e-1000000")), parsed("5"));
    assert_eq!(parsed(&format!("{million_zeros}5")), parsed("5"));
    assert_eq!(parsed(&format!("5e{million_zeros}1")), parsed("50"));
}

#[test]
fn megabytes_of_digits_are_read_in_one_pass() {
    let nines = "9".repeat(300 * 1024);
    assert_eq!(parsed(&nines).value(), i64::MAX);
    assert_eq!(parsed(&format!("{nines}Ki")).value(), i64::MAX);
    assert_eq!(parsed(&format!("0.{nines}")), parsed("1"), "rounded up");
    assert_eq!(parsed(&format!("0.{nines}Ki")), parsed("1Ki"), "rounded up");
    assert_eq!(parsed(&format!("1.{}Gi", "0".repeat(300 * 1024))), parsed("1Gi"));
}

#[test]
fn a_digit_far_behind_the_point_still_rounds_up() {
    for suffix in ["", "m", "Ki", "Ei", "e3"] {
        let plain = parsed(&format!("1{suffix}"));
        let more = parsed(&format!("1.{}1{suffix}", "0".repeat(500)));
        assert_eq!(more.minus(plain), parsed("1n"), "{suffix}");
    }
}

#[test]
fn foreign_characters_are_refused_and_named() {
    let cases = [
        ("5\0", '\0'),
        ("\u{0}5", '\0'),
        ("5Mi\0", '\0'),
        ("\u{feff}5", '\u{feff}'),
        ("٥", '٥'),
        ("５", '５'),
        ("5\u{200f}", '\u{200f}'),
        ("\u{202e}5", '\u{202e}'),
        (" 5", ' '),
        ("5 ", ' '),
        ("5\n", '\n'),
        ("1,5", ','),
        ("1_000", '_'),
        ("1.2.3", '.'),
        ("0x10", 'x'),
        ("1GB", 'B'),
        ("1KI", 'I'),
    ];
    for (text, found) in cases {
        assert_eq!(problem(text), QuantityProblem::Character(found), "{text:?}");
    }
    assert_eq!(problem(""), QuantityProblem::Empty);
    for text in ["1K", "1Mm", "5m5", "1e", "1e+", "--5", "+-5", "KiKi", "5-3"] {
        assert_eq!(problem(text), QuantityProblem::Suffix, "{text}");
    }
    for text in ["Pi", "Ei", "-Ei", "e-10"] {
        assert_eq!(problem(text), QuantityProblem::Digits, "{text}");
    }
}

#[test]
fn messages_stay_short_and_printable() {
    let hostile = [
        "\u{1b}[2J\0\u{202e}".repeat(50_000),
        "9".repeat(300 * 1024) + "x",
        "é".repeat(200_000),
        "e".repeat(300_000),
    ];
    for text in hostile {
        let message = Quantity::parse(&text).expect_err("not a quantity").to_string();
        assert!(message.len() < 200, "{} bytes", message.len());
        assert!(!message.contains(char::is_control), "{message:?}");
        let message = parse_amount(&ResourceName::Scalar(text.as_str().into()), &text)
            .expect_err("no amount")
            .to_string();
        assert!(message.len() < 200, "{} bytes", message.len());
        assert!(!message.contains(char::is_control), "{message:?}");
    }
    let message = Quantity::parse("5 GB").expect_err("not a quantity").to_string();
    assert_eq!(message, "`5 GB` is not a quantity: unexpected ` `");
}

#[test]
fn rounds_away_from_zero_on_both_sides() {
    let cases = [
        ("1.5", 2, 1500),
        ("-1.5", -2, -1500),
        ("0.5m", 1, 1),
        ("-0.5m", -1, -1),
        ("1n", 1, 1),
        ("100m", 1, 100),
    ];
    for (text, value, milli) in cases {
        assert_eq!((parsed(text).value(), parsed(text).milli_value()), (value, milli), "{text}");
    }
    assert_eq!(parsed("9223372036854775.807").milli_value(), i64::MAX);
    assert_eq!(parsed("9223372036854776").milli_value(), i64::MAX);
    assert_eq!(parsed("-9223372036854775808").value(), -i64::MAX);
}

#[test]
fn equal_amounts_are_equal_however_written() {
    for (left, right) in
        [("1000m", "1"), ("1Ki", "1024"), ("1e3", "1k"), ("0.5Gi", "512Mi"), ("-0", "0"), ("m", "0")]
    {
        assert_eq!(parsed(left), parsed(right), "{left} {right}");
    }
    assert!(parsed("1k") < parsed("1Ki"));
    assert!(parsed("-1") < parsed("1n"));
}

#[test]
fn sums_keep_the_first_notation_and_saturate() {
    assert_eq!(parsed("1Gi").plus(parsed("1024")).to_string(), "1048577Ki");
    assert_eq!(Quantity::ZERO.plus(parsed("2Gi")).to_string(), "2Gi");
    assert_eq!(Quantity::ZERO.minus(parsed("2Gi")).to_string(), "-2Gi");
    assert_eq!(parsed("1e3").plus(parsed("1Ki")).format(), Format::DecimalExponent);
    assert_eq!(parsed("0.00048828125Ki").format(), Format::DecimalSi, "less than one of something");
    assert_eq!(parsed("8Ei").plus(parsed("8Ei")), parsed("8Ei"));
    assert_eq!(parsed("-8Ei").minus(parsed("1")), parsed("-8Ei"));
}

#[test]
fn numbers_print_as_people_write_them() {
    assert_eq!(Quantity::from_milli(1500).to_string(), "1500m");
    assert_eq!(Quantity::from_milli(2000).to_string(), "2");
    assert_eq!(Quantity::from_milli(i64::MAX).milli_value(), i64::MAX);
    assert_eq!(Quantity::from_bytes(128 * 1024 * 1024).to_string(), "128Mi");
    assert_eq!(Quantity::from_bytes(1000).to_string(), "1k");
    assert_eq!(Quantity::from_bytes(i64::MIN).value(), -i64::MAX);
    assert_eq!(Quantity::from_units(12).to_string(), "12");
    assert_eq!(Quantity::default().to_string(), "0");
}

#[test]
fn a_bare_binary_number_is_read_back_as_a_decimal_one() {
    let binary = Quantity::from_bytes(100_000_000);
    assert_eq!(binary.to_string(), "100000000");
    assert_eq!(parsed("100000000"), binary);
    assert_eq!(parsed("100000000").to_string(), "100M");
}

#[test]
fn amounts_an_operator_would_write_are_read() {
    let gpu = ResourceName::from("nvidia.com/gpu");
    let cases = [
        (&ResourceName::Cpu, "1000m", 1000),
        (&ResourceName::Cpu, "0.5", 500),
        (&ResourceName::Cpu, "2", 2000),
        (&ResourceName::Cpu, "1500000u", 1500),
        (&ResourceName::Cpu, "9223372036854775807m", i64::MAX),
        (&ResourceName::Memory, "128Mi", 128 << 20),
        (&ResourceName::Memory, "0.5Gi", 512 << 20),
        (&ResourceName::Memory, "128974848000m", 128_974_848),
        (&ResourceName::Memory, "1E", 1_000_000_000_000_000_000),
        (&ResourceName::Memory, "7Ei", 7 << 60),
        (&ResourceName::Memory, "9223372036854775807", i64::MAX),
        (&ResourceName::EphemeralStorage, "1G", 1_000_000_000),
        (&gpu, "8", 8),
    ];
    for (resource, text, amount) in cases {
        assert_eq!(parse_amount(resource, text), Ok(amount), "{resource} {text}");
    }
}

#[test]
fn other_amounts_are_refused_and_the_reason_given() {
    use AmountProblem as Problem;
    let nul = Problem::Quantity(QuantityProblem::Character('\0'));
    let (cpu, memory) = (ResourceName::Cpu, ResourceName::Memory);
    let cases = [
        (&cpu, "", Problem::Quantity(QuantityProblem::Empty)),
        (&cpu, "-5", Problem::Sign),
        (&cpu, "+5", Problem::Sign),
        (&cpu, "1e3", Problem::Exponent),
        (&cpu, "1E3", Problem::Exponent),
        (&cpu, "1e99999999", Problem::Exponent),
        (&cpu, "0", Problem::Zero),
        (&cpu, "0.0Ki", Problem::Zero),
        (&cpu, "0e5", Problem::Exponent),
        (&cpu, "m", Problem::Quantity(QuantityProblem::Digits)),
        (&cpu, ".", Problem::Quantity(QuantityProblem::Digits)),
        (&cpu, "Mi", Problem::Quantity(QuantityProblem::Digits)),
        (&cpu, "0.0001", Problem::Part("1m")),
        (&cpu, "1n", Problem::Part("1m")),
        (&memory, "128m", Problem::Part("1")),
        (&memory, "0.5", Problem::Part("1")),
        (&cpu, "9223372036854775808m", Problem::TooMuch),
        (&cpu, "9223372036854776", Problem::TooMuch),
        (&memory, "9223372036854775808", Problem::TooMuch),
        (&memory, "8Ei", Problem::TooMuch),
        (&memory, "2000E", Problem::TooMuch),
        (&cpu, "5\0", nul),
        (&cpu, " 5", Problem::Quantity(QuantityProblem::Character(' '))),
        (&cpu, "5\n", Problem::Quantity(QuantityProblem::Character('\n'))),
        (&cpu, "٥", Problem::Quantity(QuantityProblem::Character('٥'))),
        (&cpu, "\u{feff}5", Problem::Quantity(QuantityProblem::Character('\u{feff}'))),
        (&cpu, "000000000000000000000000000000001", Problem::Length(33)),
        (&memory, "1K", Problem::Quantity(QuantityProblem::Suffix)),
    ];
    for (resource, text, problem) in cases {
        let error = parse_amount(resource, text).expect_err(text);
        assert_eq!(error.problem(), problem, "{resource} {text:?}");
    }
}

#[test]
fn a_refused_amount_says_why() {
    let (cpu, memory) = (ResourceName::Cpu, ResourceName::Memory);
    let long = "1".repeat(300 * 1024);
    assert_eq!(parse_amount(&cpu, &long).expect_err("too long").problem(), AmountProblem::Length(300 * 1024));
    let message = parse_amount(&memory, "128m").expect_err("part of a byte").to_string();
    assert_eq!(
        message,
        "`128m` is not an amount of memory: it is not a whole number of the smallest unit, which is 1"
    );
}
