//! Prints the canonical form of a quantity: no fraction, no lost digits, the largest possible suffix.
//!
//! A binary quantity that no power of 1024 divides is printed without a suffix, as in Kubernetes. When such a text is parsed, its
//! notation is decimal: the amount is the same, but it may be printed with another suffix.

use std::fmt;

use super::{Format, NANO_PER_UNIT, Quantity};

impl fmt::Display for Quantity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole_units = self.nano % NANO_PER_UNIT == 0;
        let small = self.nano.abs() < 1024 * NANO_PER_UNIT;
        match self.format {
            _ if self.nano == 0 => out.write_str("0"),
            Format::BinarySi if whole_units && !small => self.print_binary(out),
            Format::BinarySi | Format::DecimalSi => {
                let (number, power) = self.by_thousands();
                write!(out, "{number}{}", decimal_suffix(power))
            }
            Format::DecimalExponent => match self.by_thousands() {
                (number, 0) => write!(out, "{number}"),
                (number, power) => write!(out, "{number}e{power}"),
            },
        }
    }
}

impl Quantity {
    fn print_binary(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
        let mut number = self.nano / NANO_PER_UNIT;
        let mut steps = 0;
        while number % 1024 == 0 && steps + 1 < SUFFIXES.len() {
            number /= 1024;
            steps += 1;
        }
        write!(out, "{number}{}", SUFFIXES[steps])
    }

    /// The number without its trailing groups of three zeros, and the power of ten to multiply it by. Must not be called for zero.
    fn by_thousands(&self) -> (i128, i32) {
        let mut number = self.nano;
        let mut power = -9;
        while number % 1000 == 0 && number != 0 {
            number /= 1000;
            power += 3;
        }
        (number, power)
    }
}

fn decimal_suffix(power: i32) -> &'static str {
    match power {
        -9 => "n",
        -6 => "u",
        -3 => "m",
        3 => "k",
        6 => "M",
        9 => "G",
        12 => "T",
        15 => "P",
        18 => "E",
        // Power 0. Larger powers than 18 do not occur, because the maximum is below ten E.
        _ => "",
    }
}
