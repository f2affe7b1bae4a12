/** What time it is. */

const DAY = 86_400_000;

/** The last millisecond of the year 9999. */
const LAST = 253_402_300_799_999;

/** Days of the months before each, in a year that begins with March. */
const BEFORE = [0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337];

/** Days from 1 March of the year 0 to 1 January 1970. */
const EPOCH = 719_468;

/** The time now, in UTC, as `Date.prototype.toISOString` writes it. */
export function now(): string {
  return isoTime(Date.now());
}

/**
 * A time as `Date.prototype.toISOString` writes it. That one opens the data of all time zones first,
 * which costs a short process half a millisecond.
 *
 * @param given milliseconds since 1970; what is before is 1970, what is after 9999 its last.
 */
export function isoTime(given: number): string {
  const time = Math.min(Math.max(given, 0), LAST);
  const days = Math.floor(time / DAY) + EPOCH;
  // The year in which the last whole cycle of leap years, then of centuries and so on, ends.
  const cycle = days % 146_097;
  const leaps =
    Math.floor(cycle / 1_460) - Math.floor(cycle / 36_524) + Math.floor(cycle / 146_096);
  const year = Math.floor((cycle - leaps) / 365);
  const day = cycle - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const month = BEFORE.filter((before) => before <= day).length - 1;
  const years = Math.floor(days / 146_097) * 400 + year + (month > 9 ? 1 : 0);
  const date = [years, ((month + 2) % 12) + 1, day - (BEFORE[month] ?? 0) + 1].map(twoDigits);
  const rest = time % DAY;
  const clock = [Math.floor(rest / 3_600_000), Math.floor(rest / 60_000) % 60];
  const seconds = (rest % 60_000) / 1000;
  return `${date.join('-')}T${clock.map(twoDigits).join(':')}:${seconds.toFixed(3).padStart(6, '0')}Z`;
}

const twoDigits = (value: number): string => `${value}`.padStart(2, '0');
