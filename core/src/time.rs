//! Points in time as texts write them: the extended form of ISO 8601, which RFC 3339 narrows.

/// Milliseconds since 1970-01-01T00:00:00Z of a date and time with its zone, or `None` where the
/// text is none. What [`read`] accepts.
pub(crate) fn epoch_ms(text: &str) -> Option<i64> {
    read(text).ok()
}

/// The same, with what is wrong as the end of a sentence that begins with the text.
///
/// The forms are `2026-03-04T05:06:07Z` and its relatives: `t`, or one blank, for `T`; seconds may
/// be left out and may have a fraction behind a full stop or comma, of which three digits count;
/// the zone is `Z`, `z`, `+09:00`, `-0330` or `+09`. A second may be 60, a leap second. Without a
/// zone a time is no point in time.
pub(crate) fn read(text: &str) -> Result<i64, &'static str> {
    const NONE: &str = "is no ISO 8601 date and time";
    let mut rest = text.as_bytes();
    let rest = &mut rest;
    let year = digits(rest, 4).ok_or(NONE)?;
    let month = after(rest, b'-').ok_or(NONE)?;
    let day = after(rest, b'-').ok_or(NONE)?;
    if rest.is_empty() {
        return Err("has no time of day");
    }
    if !(eat(rest, b'T') || eat(rest, b't') || eat(rest, b' ')) {
        return Err(NONE);
    }
    let hour = digits(rest, 2).ok_or(NONE)?;
    let minute = after(rest, b':').ok_or(NONE)?;
    let mut second = 0;
    let mut millis = 0;
    if rest.first() == Some(&b':') {
        second = after(rest, b':').ok_or(NONE)?;
        if eat(rest, b'.') || eat(rest, b',') {
            millis = fraction(rest).ok_or("has a fraction without digits")?;
        }
    }
    let zone = zone(rest)?;
    if !rest.is_empty() {
        return Err("has more text behind its time zone");
    }
    if !(1..=12).contains(&month) {
        return Err("has a month that does not exist");
    }
    if day < 1 || day > days_in(year, month) {
        return Err("has a day that its month does not have");
    }
    if hour > 23 || minute > 59 || second > 60 {
        return Err("has a time of day that does not exist");
    }
    let minutes = (days_since_epoch(year, month, day) * 24 + hour) * 60 + minute - zone;
    Ok((minutes * 60 + second) * 1000 + millis)
}

/// The zone as minutes east of UTC.
fn zone(rest: &mut &[u8]) -> Result<i64, &'static str> {
    if eat(rest, b'Z') || eat(rest, b'z') {
        return Ok(0);
    }
    let sign = match rest.first() {
        None => return Err("has no time zone"),
        Some(b'+') => 1,
        Some(b'-') => -1,
        Some(b' ') => return Err("has a blank before its time zone"),
        Some(_) => return Err("has no time zone that can be read"),
    };
    *rest = rest.get(1..).unwrap_or_default();
    let hours = digits(rest, 2).ok_or("has no time zone that can be read")?;
    let minutes = match rest {
        [] => 0,
        [b':', ..] => after(rest, b':').ok_or("has no time zone that can be read")?,
        _ => digits(rest, 2).ok_or("has no time zone that can be read")?,
    };
    if hours > 23 || minutes > 59 {
        return Err("has a time zone that does not exist");
    }
    Ok(sign * (hours * 60 + minutes))
}

/// Exactly `count` digits.
fn digits(rest: &mut &[u8], count: usize) -> Option<i64> {
    let (head, tail) = rest.split_at_checked(count)?;
    let mut value = 0;
    for byte in head {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(byte - b'0');
    }
    *rest = tail;
    Some(value)
}

/// Two digits behind a separator.
fn after(rest: &mut &[u8], separator: u8) -> Option<i64> {
    if eat(rest, separator) { digits(rest, 2) } else { None }
}

/// A fraction of a second in milliseconds; digits behind the third are read and dropped.
fn fraction(rest: &mut &[u8]) -> Option<i64> {
    let mut millis = 0;
    let mut weight = 100;
    let mut any = false;
    while let Some(digit) = digits(rest, 1) {
        millis += digit * weight;
        weight /= 10;
        any = true;
    }
    any.then_some(millis)
}

fn eat(rest: &mut &[u8], wanted: u8) -> bool {
    match rest.split_first() {
        Some((first, tail)) if *first == wanted => {
            *rest = tail;
            true
        }
        _ => false,
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 in the Gregorian calendar. Years are counted from March, so that a leap
/// day is the last of its year and the months before it have a regular rhythm.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let before_month = (153 * month + 2) / 5;
    365 * year + leap_days + before_month + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::{epoch_ms, read};

    #[test]
    fn points_in_time() {
        let table = [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01t00:00:01z", 1000),
            ("1969-12-31T23:59:59.999Z", -1),
            ("2000-02-29T12:00:00+00:00", 951_825_600_000),
            ("2026-03-04T05:06:07Z", 1_772_600_767_000),
            ("2026-03-04T14:06:07+09:00", 1_772_600_767_000),
            ("2026-03-04T14:06:07+09", 1_772_600_767_000),
            ("2026-03-04T01:36:07-0330", 1_772_600_767_000),
            ("2026-03-04 05:06:07Z", 1_772_600_767_000),
            ("2026-03-04T05:06:07.5Z", 1_772_600_767_500),
            ("2026-03-04T05:06:07,123456789012Z", 1_772_600_767_123),
            ("2026-03-04T05:06Z", 1_772_600_760_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000),
            ("2024-01-01T00:00:00-23:59", 1_704_153_540_000),
            ("0000-03-01T00:00:00Z", -62_162_035_200_000),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000),
        ];
        for (text, expected) in table {
            assert_eq!(epoch_ms(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_none_says_why() {
        let none = "is no ISO 8601 date and time";
        let zone = "has no time zone that can be read";
        let table = [
            ("", none),
            ("yesterday", none),
            ("2026-3-4T05:06:07Z", none),
            ("20260304T050607Z", none),
            ("2026-03-04  05:06:07Z", none),
            ("2026-03-04_05:06:07Z", none),
            (" 2026-03-04T05:06:07Z", none),
            ("+2026-03-04T05:06:07Z", none),
            ("2026-03-04T5:06:07Z", none),
            ("２０26-03-04T05:06:07Z", none),
            ("2026-03-04", "has no time of day"),
            ("2026-03-04T05:06:07", "has no time zone"),
            ("2026-03-04T05:06:07.25", "has no time zone"),
            ("2026-03-04T05:06:07.Z", "has a fraction without digits"),
            ("2026-03-04 05:06:07 +0900", "has a blank before its time zone"),
            ("2026-03-04T05:06:07 ", "has a blank before its time zone"),
            ("2026-03-04T05:06:07KST", zone),
            ("2026-03-04T05:06:07+9", zone),
            ("2026-03-04T05:06:07+09:", zone),
            ("2026-03-04T05:06:07+09:0", zone),
            ("2026-03-04T05:06:07+24:00", "has a time zone that does not exist"),
            ("2026-03-04T05:06:07+09:60", "has a time zone that does not exist"),
            ("2026-03-04T05:06:07Z ", "has more text behind its time zone"),
            ("2026-03-04T05:06:07+09:00:00", "has more text behind its time zone"),
            ("2026-00-04T05:06:07Z", "has a month that does not exist"),
            ("2026-13-04T05:06:07Z", "has a month that does not exist"),
            ("2026-02-29T05:06:07Z", "has a day that its month does not have"),
            ("1900-02-29T05:06:07Z", "has a day that its month does not have"),
            ("2026-04-31T05:06:07Z", "has a day that its month does not have"),
            ("2026-04-00T05:06:07Z", "has a day that its month does not have"),
            ("2026-03-04T24:00:00Z", "has a time of day that does not exist"),
            ("2026-03-04T05:60:07Z", "has a time of day that does not exist"),
            ("2026-03-04T05:06:61Z", "has a time of day that does not exist"),
        ];
        for (text, expected) in table {
            assert_eq!(read(text), Err(expected), "{text}");
            assert_eq!(epoch_ms(text), None, "{text}");
        }
    }
}
