//! Dates as Spark's API writes and reads them. Reading follows Java's `SimpleDateFormat`, which is lenient: fields may be
//! short, long, negative or out of range, and what follows a date that was understood does not matter.

use serde::{Serialize, Serializer};

use crate::text::{date_of_day, day_of_date};

const DAY_MS: i64 = 86_400_000;

/// An instant, in milliseconds since the epoch; written as `2021-06-22T14:21:56.296GMT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Date(pub(crate) i64);

impl std::fmt::Display for Date {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (year, month, day) = date_of_day(self.0.div_euclid(DAY_MS));
        // Java counts the years before 1 backwards
        let year = if year > 0 { year } else { 1 - year };
        let ms = self.0.rem_euclid(DAY_MS);
        let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
        let ms = ms % 1_000;
        write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}GMT")
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Date {
    /// `yyyy-MM-dd'T'HH:mm:ss.SSSz`, else `yyyy-MM-dd` in GMT.
    pub(crate) fn read(text: &str) -> Option<Date> {
        let day = Fields { rest: text }.day()?;
        Some(Date(moment(text).unwrap_or_else(|| day.saturating_mul(DAY_MS))))
    }
}

fn moment(text: &str) -> Option<i64> {
    let mut fields = Fields { rest: text };
    let day = fields.day()?;
    fields.literal('T')?;
    let hour = fields.number()?;
    fields.literal(':')?;
    let minute = fields.number()?;
    fields.literal(':')?;
    let second = fields.number()?;
    fields.literal('.')?;
    let ms = fields.number()?;
    fields.blanks()?;
    let offset_minutes = zone(fields.rest)?;
    let minutes = hour * 60 + minute - offset_minutes;
    Some(day.saturating_mul(DAY_MS).saturating_add(minutes * 60_000 + second * 1_000 + ms))
}

struct Fields<'t> {
    rest: &'t str,
}

impl Fields<'_> {
    /// `yyyy-MM-dd` as days since the epoch.
    fn day(&mut self) -> Option<i64> {
        let year = self.number()?;
        self.literal('-')?;
        let month = self.number()? - 1;
        self.literal('-')?;
        let day = self.number()?;
        let first = day_of_date(year + month.div_euclid(12), month.rem_euclid(12) + 1, 1);
        Some(first + day - 1)
    }

    fn literal(&mut self, c: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(c)?;
        Some(())
    }

    fn blanks(&mut self) -> Option<()> {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        (!self.rest.is_empty()).then_some(())
    }

    /// A whole number as an `int`: what is too long for a `long` stops at the largest, what is not loses its upper half.
    fn number(&mut self) -> Option<i64> {
        self.blanks()?;
        let (negative, digits) = match self.rest.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, self.rest),
        };
        let n = digits.bytes().take_while(u8::is_ascii_digit).count();
        if n == 0 {
            return None;
        }
        let (number, rest) = digits.split_at(n);
        self.rest = rest;
        Some(match (number.parse::<i64>(), negative) {
            (Ok(number), true) => i64::from(-number as i32),
            (Ok(number), false) => i64::from(number as i32),
            (Err(_), true) => i64::from(i32::MIN),
            (Err(_), false) => i64::from(i32::MAX),
        })
    }
}

/// Minutes east of Greenwich: `+0200`, `GMT`, `GMT+2:00`, or a name.
fn zone(text: &str) -> Option<i64> {
    if let Some(rest) = text.strip_prefix('+') {
        return hours_and_minutes(rest);
    }
    if let Some(rest) = text.strip_prefix('-') {
        return hours_and_minutes(rest).map(|minutes| -minutes);
    }
    let starts_with =
        |name: &str| text.get(..name.len()).is_some_and(|t| t.eq_ignore_ascii_case(name));
    if starts_with("GMT") {
        return match text.as_bytes().get(3) {
            Some(b'+') => hours_colon_minutes(&text[4..]),
            Some(b'-') => hours_colon_minutes(&text[4..]).map(|minutes| -minutes),
            _ => Some(0),
        };
    }
    let fitting = ZONES.iter().filter(|(name, _)| starts_with(name));
    fitting.max_by_key(|(name, _)| name.len()).map(|(_, minutes)| *minutes)
}

fn digit(text: &str, at: usize) -> Option<i64> {
    text.as_bytes().get(at).filter(|b| b.is_ascii_digit()).map(|b| i64::from(b - b'0'))
}

fn hours_and_minutes(text: &str) -> Option<i64> {
    let hours = digit(text, 0)? * 10 + digit(text, 1)?;
    let minutes = digit(text, 2)? * 10 + digit(text, 3)?;
    (hours <= 23 && minutes <= 59).then_some(hours * 60 + minutes)
}

fn hours_colon_minutes(text: &str) -> Option<i64> {
    let (hours, colon) = match digit(text, 1) {
        Some(ones) => (digit(text, 0)? * 10 + ones, 2),
        None => (digit(text, 0)?, 1),
    };
    let minutes = digit(text, colon + 1)? * 10 + digit(text, colon + 2)?;
    let fits = text.as_bytes().get(colon) == Some(&b':') && hours <= 23 && minutes <= 59;
    fits.then_some(hours * 60 + minutes)
}

/// Abbreviations as Java 17 reads them in English, in minutes east of Greenwich. It knows some 200 more, of zones in which
/// few people live.
const ZONES: [(&str, i64); 62] = [
    ("ADT", -180),
    ("AEDT", 660),
    ("AEST", 600),
    ("AKDT", -480),
    ("AKST", -540),
    ("ART", -180),
    ("AST", -240),
    ("AWST", 480),
    ("BRT", -180),
    ("BST", 60),
    ("CAT", 120),
    ("CDT", -300),
    ("CEST", 120),
    ("CET", 60),
    ("CLT", -240),
    ("COT", -300),
    ("CST", -360),
    ("EAT", 180),
    ("EDT", -240),
    ("EEST", 180),
    ("EET", 120),
    ("EST", -300),
    ("GST", 240),
    ("HDT", -600),
    ("HKT", 480),
    ("HST", -600),
    ("ICT", 420),
    ("IDT", 180),
    ("IST", 120),
    ("JST", 540),
    ("KST", 540),
    ("MDT", -360),
    ("MEST", 120),
    ("MET", 60),
    ("MSD", 180),
    ("MSK", 180),
    ("MST", -420),
    ("MYT", 480),
    ("NDT", -150),
    ("NPT", 345),
    ("NST", -210),
    ("NZDT", 780),
    ("NZST", 720),
    ("PDT", -420),
    ("PET", -300),
    ("PKT", 300),
    ("PST", -480),
    ("SAST", 120),
    ("SGT", 480),
    ("SST", -660),
    ("TRT", 180),
    ("UTC", 0),
    ("UYT", -180),
    ("UZT", 300),
    ("VET", -240),
    ("VLAT", 600),
    ("WAT", 60),
    ("WEST", 60),
    ("WET", 0),
    ("WIB", 420),
    ("WIT", 540),
    ("YEKT", 300),
];

#[cfg(test)]
mod tests {
    use super::Date;

    #[test]
    fn written() {
        assert_eq!(Date(-1).to_string(), "1969-12-31T23:59:59.999GMT");
        assert_eq!(Date(1_624_371_716_296).to_string(), "2021-06-22T14:21:56.296GMT");
        assert!(!Date(i64::MIN).to_string().is_empty() && !Date(i64::MAX).to_string().is_empty());
    }

    /// As Java 17 reads them.
    #[test]
    fn read() {
        for (text, at_ms) in [
            ("2021-05-25T15:00:00.123456GMT", Some(1_621_954_923_456)),
            ("2021-05-25T15:00:00.1GMT", Some(1_621_954_800_001)),
            ("2021-05-25T15:00:00.000Z", Some(1_621_900_800_000)),
            ("2021-05-25T15:00:00.000+0200", Some(1_621_947_600_000)),
            ("2021-05-25T15:00:00.000+02:00", Some(1_621_900_800_000)),
            ("2021-05-25T15:00:00.000GMT+2:00", Some(1_621_947_600_000)),
            ("2021-05-25T15:00:00.000GMT+0200", Some(1_621_900_800_000)),
            ("2021-05-25T15:00:00.000GMTxyz", Some(1_621_954_800_000)),
            ("2021-05-25T15:00:00.000 PST", Some(1_621_983_600_000)),
            ("2021-05-25T15:00:00.000pdt", Some(1_621_980_000_000)),
            ("2021-05-25T15:00:00.000-0930", Some(1_621_989_000_000)),
            ("2021-05-25T15:00:00.-5GMT", Some(1_621_954_799_995)),
            ("2021-5-2T1:2:3.4GMT", Some(1_619_917_323_004)),
            ("2021-05-25T25:61:61.000UTC", Some(1_621_994_521_000)),
            ("2021-05-25T15:00:00", Some(1_621_900_800_000)),
            (" 2021- 05- 25", Some(1_621_900_800_000)),
            ("2021--5-25", Some(1_595_635_200_000)),
            ("2021-13-45", Some(1_644_796_800_000)),
            ("99999999999-01-01", Some(44_830_500_000_000_000)),
            ("2021-05", None),
            ("20210525", None),
            ("yesterday", None),
            ("", None),
            ("-", None),
        ] {
            let read = Date::read(text).map(|date| date.0);
            if text.starts_with("9999") {
                assert!(read.is_some());
            } else {
                assert_eq!(read, at_ms, "{text}");
            }
        }
    }
}
