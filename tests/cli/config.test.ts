/** The person's own settings. */
import { expect, it } from 'vitest';
import { readConfig } from '../../cli-js/src/cli/config.js';
import { World } from './world.js';

const at = '/home/okstra/config.json';

/** What reading says of a file. */
function read(text?: string): unknown {
  try {
    return readConfig(new World(text === undefined ? {} : { [at]: text }));
  } catch (error) {
    return (error as Error).message;
  }
}

it.each([
  [undefined, {}],
  ['{}', {}],
  ['{"quietMinutes": 60}', { quietMinutes: 60 }],
  ['{"quietMinutes": 0}', 'quietMinutes must be a whole number of minutes, from 1 to 525600'],
  ['{"quietMinutes": "60"}', 'quietMinutes must be a whole number of minutes, from 1 to 525600'],
  [
    '{"quietMinute": 60}',
    "there is no setting 'quietMinute'; there is quietMinutes, guard, workers",
  ],
  ['{"guard": "deny"}', { guard: 'deny' }],
  ['{"guard": true}', 'guard must be off, warn, ask or deny'],
  ['{"workers": {}}', { workers: {} }],
  ['{"workers": []}', 'workers must be an object of workers by name'],
  ['[]', 'not usable as JSON: not an object'],
  ['{', expect.stringMatching(/^not usable as JSON: /)],
])('%s', (text, answer) => {
  expect(read(text)).toEqual(answer);
});
