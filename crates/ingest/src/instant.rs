//! Instants as streaming queries write them.

/// `2026-12-01T01:01:48.012Z` in milliseconds since the epoch; `None` for anything else.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.splitn(3, '-').map(number);
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut clock = clock.splitn(3, ':').map(number);
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next().unwrap_or(Some(0))?);
    let digits = fraction.len().min(3) as u32;
    let ms = number(fraction.get(..digits as usize)?)? * 10_i64.pow(3 - digits);
    if !(1..=12).contains(&month) || year > 9_999 {
        return None;
    }
    let seconds = day_number(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(seconds * 1_000 + ms)
}

fn number(digits: &str) -> Option<i64> {
    let is_number = digits.len() <= 9 && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

/// Days since 1970-01-01, by the Gregorian calendar.
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    // years that begin in March, so that the leap day is the last of its year
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn instants() {
        assert_eq!(parse("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(parse("2026-12-01T01:01:48.012Z"), Some(1_796_086_908_012));
        assert_eq!(parse("2024-02-29T23:59:59Z"), Some(1_709_251_199_000));
        assert_eq!(parse("2024-02-29T23:59:59.5Z"), Some(1_709_251_199_500));
        assert_eq!(parse("0000-01-01T00:00Z"), Some(-62_167_219_200_000));
        for bad in
            ["", "Z", "2024-13-01T00:00:00Z", "2024-02-29", "x-y-zTa:b:cZ", "2024-1-1T1:1:1.é2Z"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
