//! Numbers as Spark's own pages and metrics word them. Java rounds halves up.

/// `value / unit` with one decimal.
fn tenths(value: i128, unit: i128) -> String {
    let tenths = (value * 20 + unit).div_euclid(unit * 2);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// `UIUtils.formatDuration`: `12 ms`, `0.3 s`, `37 s`, `8.3 min`, `28 min`, `2.5 h`.
pub fn spark_duration(ms: i64) -> String {
    let wide = i128::from(ms);
    match ms {
        ..100 => format!("{ms} ms"),
        100..1_000 => format!("{} s", tenths(wide, 1_000)),
        1_000..60_000 => format!("{} s", (wide + 500) / 1_000),
        60_000..600_000 => format!("{} min", tenths(wide, 60_000)),
        600_000..3_600_000 => format!("{} min", (wide + 30_000) / 60_000),
        _ => format!("{} h", tenths(wide, 3_600_000)),
    }
}

/// `Utils.bytesToString`: a unit is taken from twice its size on.
pub fn spark_bytes(bytes: i64) -> String {
    let wide = i128::from(bytes);
    for (unit, shift) in
        [("EiB", 60), ("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)]
    {
        if wide >= 2_i128 << shift {
            return format!("{} {unit}", tenths(wide, 1 << shift));
        }
    }
    format!("{bytes}.0 B")
}

/// `NumberFormat` of the US for whole numbers: `1,234,567`.
pub(crate) fn spark_count(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if n < 0 {
        out.push('-');
    }
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `Utils.msDurationToString`, which computes in floats: `12 ms`, `1.5 s`, `2.1 m`, `1.25 h`.
pub(crate) fn spark_metric_duration(ms: i64) -> String {
    let of = |unit_ms: i64, n_decimals| java_fixed(ms as f32 / unit_ms as f32, n_decimals);
    match ms {
        ..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{} s", of(1_000, 1)),
        60_000..3_600_000 => format!("{} m", of(60_000, 1)),
        _ => format!("{} h", of(3_600_000, 2)),
    }
}

/// `String.format("%.nf")` of Java: the digits of the shortest text of the double, rounded half up.
fn java_fixed(value: f32, n_decimals: usize) -> String {
    let text = f64::from(value).to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let kept: String = fraction.chars().chain(std::iter::repeat('0')).take(n_decimals).collect();
    let digits: u128 = format!("{whole}{kept}").parse().unwrap_or(0);
    let is_up = fraction.as_bytes().get(n_decimals).is_some_and(|digit| *digit >= b'5');
    let digits = digits + u128::from(is_up);
    let unit = 10_u128.pow(n_decimals as u32);
    format!("{}.{:0width$}", digits / unit, digits % unit, width = n_decimals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let texts = [12, 250, 999, 1_499, 59_999, 75_000, 1_665_000, 9_000_000].map(spark_duration);
        let expected = ["12 ms", "0.3 s", "1.0 s", "1 s", "60 s", "1.3 min", "28 min", "2.5 h"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn metric_durations() {
        let texts =
            [-1, 999, 1_049, 1_050, 90_000, 3_600_000, 4_518_000].map(spark_metric_duration);
        assert_eq!(texts, ["-1 ms", "999 ms", "1.0 s", "1.0 s", "1.5 m", "1.00 h", "1.25 h"]);
    }

    #[test]
    fn counts() {
        let texts = [0, 999, 1_000, -1_234_567].map(spark_count);
        assert_eq!(texts, ["0", "999", "1,000", "-1,234,567"]);
    }

    #[test]
    fn byte_counts() {
        let texts = [0, 2_047, 2_048, 1_818_829, 69_730_304, i64::MAX].map(spark_bytes);
        let expected = ["0.0 B", "2047.0 B", "2.0 KiB", "1776.2 KiB", "66.5 MiB", "8.0 EiB"];
        assert_eq!(texts, expected);
    }
}
