//! Times as JavaScript's `Date` reads and prints them.

use jiff::{Timestamp, civil, tz::TimeZone};

/// Milliseconds since 1970 of a date text, as `new Date(text).getTime()`; `None` where that is
/// `NaN`. Reads the ISO 8601 forms of ECMAScript (a date alone is UTC, a date and time without
/// an offset is local, which is UTC here so that answers do not depend on the machine) and
/// RFC 2822.
pub fn parse(text: &str) -> Option<i64> {
    if let Some(ms) = parse_plain(text.as_bytes()) {
        return Some(ms);
    }
    let text = text.trim();
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at.as_millisecond());
    }
    if let Ok(at) = jiff::fmt::rfc2822::parse(text) {
        return Some(at.timestamp().as_millisecond());
    }
    let at = match text.len() {
        // Years and months alone are dates in ECMAScript, but not to jiff.
        4 => format!("{text}-01-01").parse::<civil::DateTime>(),
        7 => format!("{text}-01").parse::<civil::DateTime>(),
        _ => text.parse::<civil::DateTime>(),
    };
    Some(TimeZone::UTC.to_timestamp(at.ok()?).ok()?.as_millisecond())
}

/// `2026-01-02T03:04:05.678Z`, the form pi writes, without a detour.
fn parse_plain(t: &[u8]) -> Option<i64> {
    if t.len() != 24 || t[4] != b'-' || t[7] != b'-' || t[10] != b'T' || t[13] != b':' {
        return None;
    }
    if t[16] != b':' || t[19] != b'.' || t[23] != b'Z' {
        return None;
    }
    let number = |from: usize, to: usize| {
        t[from..to].iter().try_fold(0i64, |n, b| {
            b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0'))
        })
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second, ms) = (
        number(11, 13)?,
        number(14, 16)?,
        number(17, 19)?,
        number(20, 23)?,
    );
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Days since 1970 in the proleptic Gregorian calendar, counted from March so that the leap
    // day comes last.
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days =
        365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (153 * m + 2) / 5 + day
            - 1
            - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + ms)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Milliseconds of a number that stands where a date is expected, as `new Date(number)`.
pub fn from_number(n: f64) -> Option<i64> {
    // The range of ECMAScript's time values; beyond it a date is invalid.
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
    (n.abs() <= 8.64e15).then_some(n.trunc() as i64)
}

/// A time as pi writes it, `2026-01-02T03:04:05.678Z`; `None` where no date has it.
pub fn format(ms: i64) -> Option<String> {
    Some(
        Timestamp::from_millisecond(ms)
            .ok()?
            .strftime("%Y-%m-%dT%H:%M:%S.%3fZ")
            .to_string(),
    )
}

/// How long ago, in the shortest words: `now`, `5m`, `2h`, `3d`, `4mo`, `2y`.
pub fn ago(now: i64, then: i64) -> String {
    let seconds = (now - then) / 1000;
    match seconds {
        ..60 => "now".to_owned(),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        86_400..5_184_000 => format!("{}d", seconds / 86_400),
        5_184_000..63_072_000 => format!("{}mo", seconds / 2_592_000),
        _ => format!("{}y", seconds / 31_536_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_javascript_reads_them() {
        for (text, wanted) in [
            ("1970-01-01T00:00:00.000Z", Some(0)),
            ("2026-02-28T23:59:59.999Z", Some(1_772_323_199_999)),
            ("2024-02-29T00:00:00.000Z", Some(1_709_164_800_000)),
            ("2023-02-29T00:00:00.000Z", None),
            ("1969-12-31T23:59:59.999Z", Some(-1)),
            ("9999-12-31T23:59:59.999Z", Some(253_402_300_799_999)),
            ("2026-01-02T03:04:05Z", Some(1_767_323_045_000)),
            ("2026-01-02T03:04:05+01:00", Some(1_767_319_445_000)),
            ("2026-01-02", Some(1_767_312_000_000)),
            ("2026-01", Some(1_767_225_600_000)),
            ("2026", Some(1_767_225_600_000)),
            ("Fri, 02 Jan 2026 03:04:05 GMT", Some(1_767_323_045_000)),
            ("not a date", None),
            ("", None),
            ("ééééééééééééé", None),
        ] {
            assert_eq!(parse(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_time_is_printed_as_pi_prints_it() {
        assert_eq!(
            format(1_767_323_045_678).as_deref(),
            Some("2026-01-02T03:04:05.678Z")
        );
    }

    #[test]
    fn ages_are_short() {
        let ages = [(0, "now"), (3_600, "1h"), (7_300, "2h"), (86_400 * 3, "3d")];
        for (seconds, wanted) in ages {
            assert_eq!(ago(1_000_000_000 + seconds * 1000, 1_000_000_000), wanted);
        }
        assert_eq!(ago(0, 5000), "now", "a time ahead of the clock");
    }
}
