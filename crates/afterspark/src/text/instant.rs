//! Instants as dates, in UTC. Days are counted by the proleptic Gregorian calendar.

/// `2026-12-01 00:01:42 UTC`.
pub(crate) fn instant(at_ms: i64) -> String {
    let seconds = at_ms.div_euclid(1_000);
    let (year, month, day) = date_of_day(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Year, month and day of a number of days since 1970-01-01.
pub(crate) fn date_of_day(days: i64) -> (i64, i64, i64) {
    // eras of 400 years that begin on the first of March, so that the leap day is the last of its year
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Days from 1970-01-01 to a date; the inverse of [`date_of_day`].
pub(crate) fn day_of_date(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = if month > 2 { month - 3 } else { month + 9 };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::{date_of_day, day_of_date, instant};

    #[test]
    fn there_and_back() {
        for day in (-1_000_000..1_000_000).step_by(17) {
            let (year, month, of_month) = date_of_day(day);
            assert_eq!(day_of_date(year, month, of_month), day);
        }
    }

    #[test]
    fn dates_around_leap_days() {
        assert_eq!(instant(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(instant(951_782_399_999), "2000-02-28 23:59:59 UTC");
        assert_eq!(instant(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(instant(1_796_082_902_288), "2026-11-30 23:55:02 UTC");
        assert_eq!(instant(-1), "1969-12-31 23:59:59 UTC");
    }
}
