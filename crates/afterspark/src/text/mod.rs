//! How numbers, instants and sizes are written for people, the same on every surface.

mod instant;
mod paint;

pub(crate) use instant::{date_of_day, day_of_date, instant};
pub(crate) use paint::Paint;

use views::Unit;

/// What stands for "the log does not say".
pub(crate) const MISSING: &str = "—";

/// `812 ms`, `4.2 s`, `3m 05s`, `2h 03m`, `1d 02h`.
pub(crate) fn duration(ms: i64) -> String {
    let sign = if ms < 0 { "−" } else { "" };
    let ms = ms.unsigned_abs();
    let (s, min, h, d) = (ms / 1_000, ms / 60_000, ms / 3_600_000, ms / 86_400_000);
    match ms {
        0..1_000 => format!("{sign}{ms} ms"),
        1_000..59_950 => format!("{sign}{:.1} s", ms as f64 / 1e3),
        59_950..60_000 => format!("{sign}60.0 s"),
        60_000..3_600_000 => format!("{sign}{min}m {:02}s", s % 60),
        3_600_000..86_400_000 => format!("{sign}{h}h {:02}m", min % 60),
        _ => format!("{sign}{d}d {:02}h", h % 24),
    }
}

/// Binary units: `512 B`, `1.4 KiB`, `12.0 GiB`.
pub(crate) fn bytes(n: i64) -> String {
    let sign = if n < 0 { "−" } else { "" };
    let n = n.unsigned_abs();
    if n < 1_024 {
        return format!("{sign}{n} B");
    }
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = n as f64;
    let mut unit = "B";
    for next in units {
        if value < 1_023.5 {
            break;
        }
        value /= 1_024.0;
        unit = next;
    }
    if value < 99.95 {
        format!("{sign}{value:.1} {unit}")
    } else {
        format!("{sign}{value:.0} {unit}")
    }
}

/// `1,234,567`.
pub(crate) fn count(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if n < 0 { format!("−{out}") } else { out }
}

/// `1 task`, `2,000 tasks`.
pub(crate) fn counted(n: i64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// `12 %`, `0.3 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// `1.0×`, `12×`.
pub(crate) fn times(ratio: f64) -> String {
    if ratio < 99.95 {
        format!("{ratio:.1}×")
    } else {
        format!("{}×", count(ratio.round() as i64))
    }
}

/// A number in its unit.
pub(crate) fn quantity(value: i64, unit: Unit) -> String {
    match unit {
        Unit::Ms => duration(value),
        Unit::Ns if value.unsigned_abs() < 1_000 => format!("{value} ns"),
        Unit::Ns if value.unsigned_abs() < 1_000_000 => format!("{:.1} µs", value as f64 / 1e3),
        Unit::Ns if value.unsigned_abs() < 1_000_000_000 => format!("{:.1} ms", value as f64 / 1e6),
        Unit::Ns => duration(value / 1_000_000),
        Unit::Bytes => bytes(value),
        Unit::Rows | Unit::Count => count(value),
    }
}

/// The formatted value, or what stands for a missing one.
pub(crate) fn or_missing<T>(value: Option<T>, write: impl Fn(T) -> String) -> String {
    value.map_or_else(|| MISSING.to_owned(), write)
}

/// One line of plain text of at most `width` columns. Control characters, which could move a terminal's cursor, become
/// spaces; characters that turn or hide text go.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let c = match c {
            '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' => {
                continue;
            }
            '\u{2028}' | '\u{2029}' => ' ',
            c if c.is_control() => ' ',
            c => c,
        };
        used += columns_of(c);
        if used > width {
            while !out.is_empty() && columns(&out) >= width {
                out.pop();
            }
            out.push('…');
            return out;
        }
        out.push(c);
    }
    out
}

/// Columns of a terminal that text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// East Asian wide characters and emoji take two columns, marks that combine none.
fn columns_of(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        let written = [
            duration(812),
            duration(4_249),
            duration(185_000),
            duration(7_380_000),
            duration(93_600_000),
        ];
        assert_eq!(written, ["812 ms", "4.2 s", "3m 05s", "2h 03m", "1d 02h"]);
        assert_eq!(
            [bytes(512), bytes(1_434), bytes(12 << 30), bytes(1_048_575)],
            ["512 B", "1.4 KiB", "12.0 GiB", "1.0 MiB"]
        );
        assert_eq!(
            [count(0), count(999), count(1_234_567), count(-1_000)],
            ["0", "999", "1,234,567", "−1,000"]
        );
        assert_eq!(
            [percent(0.0), percent(0.003), percent(0.123), percent(1.0)],
            ["0 %", "0.3 %", "12 %", "100 %"]
        );
        assert_eq!(one_line("a\nb\x1b[31mc", 5), "a b …");
        assert_eq!(one_line("表の名前\u{202e}x", 6), "表の…");
    }
}
