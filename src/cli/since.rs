//! Times as people type them: dates, and how long ago.

use jiff::{SignedDuration, Span, Timestamp, ZonedDateTime, civil, tz::TimeZone};

use super::Failure;

/// Milliseconds of a time: `2026-01-31`, `2026-01-31 12:00`, ISO 8601, `yesterday`, `now`,
/// `2 days ago`, `3h`. Dates without an offset are in the local time zone.
pub(crate) fn parse(text: &str, now: i64) -> Result<i64, Failure> {
    parse_in(text, now, &TimeZone::system()).ok_or_else(|| {
        Failure::usage(format!("'{text}' is no time")).hint(
            "write a date as 2026-01-31 or '2026-01-31 12:00', or how long ago as '2 days ago'",
        )
    })
}

fn parse_in(text: &str, now: i64, zone: &TimeZone) -> Option<i64> {
    let text = text.trim();
    let now = Timestamp::from_millisecond(now)
        .ok()?
        .to_zoned_datetime(zone.clone());
    match text {
        "now" => return Some(now.timestamp().as_millisecond()),
        "today" => return start_of(&now),
        "yesterday" => return start_of(&now.yesterday().ok()?),
        _ => {}
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at.as_millisecond());
    }
    if let Ok(at) = text.parse::<civil::DateTime>() {
        return Some(zone.to_timestamp(at).ok()?.as_millisecond());
    }
    let span: Span = text
        .strip_suffix("ago")
        .unwrap_or(text)
        .trim()
        .parse()
        .ok()?;
    let _: SignedDuration = span.to_duration(&now).ok()?;
    Some(
        now.checked_sub(span.abs())
            .ok()?
            .timestamp()
            .as_millisecond(),
    )
}

fn start_of(day: &ZonedDateTime) -> Option<i64> {
    Some(day.start_of_day().ok()?.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_ages_are_read() {
        let now = 1_767_323_045_000; // 2026-01-02T03:04:05Z
        for (text, wanted) in [
            ("2026-01-01", Some(1_767_225_600_000)),
            ("2026-01-01 00:00", Some(1_767_225_600_000)),
            ("2026-01-01T01:00:00+01:00", Some(1_767_225_600_000)),
            ("now", Some(now)),
            ("today", Some(1_767_312_000_000)),
            ("yesterday", Some(1_767_225_600_000)),
            ("2 days ago", Some(now - 2 * 86_400_000)),
            ("1 week", Some(now - 7 * 86_400_000)),
            ("3h", Some(now - 3 * 3_600_000)),
            ("soon", None),
        ] {
            assert_eq!(parse_in(text, now, &TimeZone::UTC), wanted, "{text}");
        }
    }
}
