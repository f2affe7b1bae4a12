// The time of the host, as the language writes it.
import { expect, it } from 'vitest';
import { isoTime, now } from '../../cli-js/src/host/clock.js';

const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

it('is written as the language does, at every turn of the calendar', () => {
  const times = [0, 1, 999, 59_999, 86_399_999, LAST];
  for (let year = 1970; year < 9999; year++) {
    for (const day of [Date.UTC(year, 1, 28), Date.UTC(year, 2, 1), Date.UTC(year, 11, 31)]) {
      times.push(day - 1, day, day + 86_400_000 - 1, day + 86_400_000);
    }
  }
  for (let at = 0; at < 20_000; at++) times.push(Math.floor(Math.random() * LAST));
  const wrong = times.filter((time) => isoTime(time) !== new Date(time).toISOString());
  expect(wrong).toEqual([]);
});

it('is the time now', () => {
  const before = Date.now();
  const time = Date.parse(now());
  expect(time).toBeGreaterThanOrEqual(before);
  expect(time).toBeLessThanOrEqual(Date.now());
});
