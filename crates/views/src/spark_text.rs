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
    fn byte_counts() {
        let texts = [0, 2_047, 2_048, 1_818_829, 69_730_304, i64::MAX].map(spark_bytes);
        let expected = ["0.0 B", "2047.0 B", "2.0 KiB", "1776.2 KiB", "66.5 MiB", "8.0 EiB"];
        assert_eq!(texts, expected);
    }
}
