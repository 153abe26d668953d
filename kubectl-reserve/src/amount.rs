//! Amounts of resources as people write them: cpu in cores (`1.5`), bytes in one unit for all that stand together. Documents for
//! programs have the canonical quantities of Kubernetes instead.

use common::model::ResourceName;

/// The binary units, the largest first.
const BINARY: [(&str, i128); 5] =
    [("Pi", 1 << 50), ("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];

/// The decimal units, for amounts that are not whole in a binary one.
const DECIMAL: [(&str, i128); 3] = [("T", 1_000_000_000_000), ("G", 1_000_000_000), ("M", 1_000_000)];

const MEBI: i128 = 1 << 20;

/// One amount: `1.5` of cpu, `512Mi` of memory, `3` of a device.
pub(crate) fn shown(resource: &ResourceName, amount: i64) -> String {
    column(resource, &[amount]).concat()
}

/// Amounts of one resource that stand together, all in the same unit. Bytes that need too many digits are rounded down to whole
/// mebibytes.
pub(crate) fn column(resource: &ResourceName, amounts: &[i64]) -> Vec<String> {
    match resource {
        ResourceName::Cpu => amounts.iter().map(|amount| decimal(i128::from(*amount), 1000, 3)).collect(),
        _ if is_bytes(resource) => {
            let (unit, scale) = exact_unit(amounts);
            // What is not exact in its unit has too many digits already.
            let is_exact = amounts.iter().all(|amount| i128::from(*amount) * 100 % scale == 0);
            let places = if is_exact { 2 } else { 0 };
            amounts.iter().map(|amount| with_unit(i128::from(*amount), unit, scale, places)).collect()
        }
        _ => amounts.iter().map(i64::to_string).collect(),
    }
}

/// The same, in the unit of the largest amount and with few digits, for a table of many nodes. Rounded down.
pub(crate) fn rounded_column(resource: &ResourceName, amounts: &[i64]) -> Vec<String> {
    if !is_bytes(resource) {
        return column(resource, amounts);
    }
    let most = amounts.iter().map(|amount| i128::from(*amount).abs()).max().unwrap_or(0);
    let (unit, scale) = BINARY.into_iter().find(|(_, scale)| most >= *scale).unwrap_or(("", 1));
    let one = |amount: &i64| {
        let amount = i128::from(*amount);
        match amount.abs() * 100 / scale {
            0 if amount != 0 => format!("{}<0.01{unit}", if amount < 0 { "-" } else { "" }),
            0..=9 => with_unit(amount, unit, scale, 2),
            _ => with_unit(amount, unit, scale, 1),
        }
    };
    amounts.iter().map(one).collect()
}

/// An amount for a command: nothing is rounded.
pub(crate) fn exact(resource: &ResourceName, amount: i64) -> String {
    if *resource == ResourceName::Cpu { shown(resource, amount) } else { resource.format(amount) }
}

/// Whether amounts of the resource are bytes.
pub(crate) fn is_bytes(resource: &ResourceName) -> bool {
    matches!(resource, ResourceName::Memory | ResourceName::EphemeralStorage)
        || resource.as_str().starts_with("hugepages-")
}

/// The largest unit in which all amounts have at most two decimals; if there is none, mebibytes or less.
fn exact_unit(amounts: &[i64]) -> (&'static str, i128) {
    let sizes: Vec<i128> =
        amounts.iter().map(|amount| i128::from(*amount).abs()).filter(|size| *size > 0).collect();
    let (least, most) = (sizes.iter().copied().min().unwrap_or(0), sizes.iter().copied().max().unwrap_or(0));
    let is_exact =
        |(_, scale): &(&str, i128)| most >= *scale && sizes.iter().all(|size| size * 100 % scale == 0);
    let large = BINARY.into_iter().filter(|(_, scale)| *scale >= MEBI).chain(DECIMAL);
    let exact = large.clone().find(|unit| is_exact(unit));
    let rounded = || BINARY.into_iter().find(|(_, scale)| *scale <= MEBI && least >= *scale);
    exact.or_else(rounded).unwrap_or(("", 1))
}

fn with_unit(amount: i128, unit: &str, scale: i128, places: u32) -> String {
    match decimal(amount, scale, places) {
        zero if zero == "0" => zero,
        number => number + unit,
    }
}

/// `amount` of `scale` parts, with at most so many decimals, rounded down.
fn decimal(amount: i128, scale: i128, places: u32) -> String {
    let (sign, size) = (if amount < 0 { "-" } else { "" }, amount.abs());
    let (whole, rest) = (size / scale, size % scale);
    let digits = rest * 10_i128.pow(places) / scale;
    let fraction = format!("{digits:0width$}", width = places as usize);
    match fraction.trim_end_matches('0') {
        "" if whole == 0 => "0".to_owned(),
        "" => format!("{sign}{whole}"),
        fraction => format!("{sign}{whole}.{fraction}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{column, exact, rounded_column, shown};
    use common::model::ResourceName;

    const MI: i64 = 1 << 20;
    const GI: i64 = 1 << 30;

    #[test]
    fn an_amount_is_shown_as_people_write_it() {
        let cpu = [(64_000, "64"), (1500, "1.5"), (250, "0.25"), (-1, "-0.001"), (0, "0")];
        for (amount, text) in cpu {
            assert_eq!(shown(&ResourceName::Cpu, amount), text);
        }
        let memory = [
            (0, "0"),
            (512 * MI, "512Mi"),
            (8 * GI, "8Gi"),
            (3 * GI / 2, "1.5Gi"),
            (1200 * MI, "1200Mi"),
            (-2 * GI, "-2Gi"),
            (100_000_000, "100M"),
            (33_567_416 << 10, "32780Mi"),
            (1000, "1000"),
            (1 << 10, "1Ki"),
            (i64::MAX, "8796093022207Mi"),
            (i64::MIN, "-8192Pi"),
        ];
        for (amount, text) in memory {
            assert_eq!(shown(&ResourceName::Memory, amount), text);
        }
        assert_eq!(shown(&ResourceName::from("nvidia.com/gpu"), 8), "8");
        assert_eq!(shown(&ResourceName::from("hugepages-2Mi"), 64 * MI), "64Mi");
    }

    #[test]
    fn a_column_has_one_unit() {
        let memory = |amounts: &[i64]| column(&ResourceName::Memory, amounts);
        assert_eq!(memory(&[32 * GI, 512 * MI, 0]), ["32Gi", "0.5Gi", "0"]);
        assert_eq!(memory(&[32 * GI, 12 * MI]), ["32768Mi", "12Mi"]);
        assert_eq!(memory(&[33_567_416 << 10, 4 * GI]), ["32780Mi", "4096Mi"]);
        assert_eq!(memory(&[GI, 1 << 10]), ["1048576Ki", "1Ki"]);
        assert_eq!(column(&ResourceName::Cpu, &[4000, 250]), ["4", "0.25"]);
    }

    #[test]
    fn a_table_of_nodes_is_rounded_down_to_few_digits() {
        let memory = |amounts: &[i64]| rounded_column(&ResourceName::Memory, amounts);
        assert_eq!(memory(&[33_567_416 << 10, GI / 2, 0]), ["32Gi", "0.5Gi", "0"]);
        assert_eq!(
            memory(&[21 * GI + 999 * MI, 40 * MI, MI, -MI]),
            ["21.9Gi", "0.03Gi", "<0.01Gi", "-<0.01Gi"]
        );
        assert_eq!(memory(&[-3 * GI / 2, 1023]), ["-1.5Gi", "<0.01Gi"]);
        assert_eq!(rounded_column(&ResourceName::Cpu, &[14_500]), ["14.5"]);
    }

    #[test]
    fn nothing_is_rounded_in_a_command() {
        assert_eq!(exact(&ResourceName::Cpu, 2500), "2.5");
        assert_eq!(exact(&ResourceName::Memory, 33_567_416 << 10), "33567416Ki");
    }
}
