'use strict';
// Starts `okstra hook`. A client copies plugins and settings to places of its own, so the okstra
// that is installed is looked for, from what costs least. Where there is none the session goes on
// as if there were no hook: exit status 0, an empty answer, one line on standard error.
//
//   node hook.cjs hook      answers the event on standard input
//   node hook.cjs --where   prints the package that would answer
const { readFileSync, realpathSync, statSync } = require('node:fs');
const { homedir } = require('node:os');
const { delimiter, dirname, isAbsolute, join } = require('node:path');

const windows = process.platform === 'win32';
const isFile = (path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Where the package may lie. */
function* places() {
  // The plugin used where npm has put it.
  yield join(__dirname, '../..');
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    // A relative one would be looked up in whatever project the session is in.
    if (!isAbsolute(folder)) continue;
    if (windows) {
      if (isFile(join(folder, 'okstra.cmd'))) yield join(folder, 'node_modules/okstra');
    } else if (isFile(join(folder, 'okstra'))) {
      yield join(dirname(realpathSync(join(folder, 'okstra'))), '..');
    }
  }
  // A client started from a desktop may have another PATH than the terminal.
  const home = process.env.OKSTRA_HOME || join(homedir(), '.okstra');
  try {
    yield JSON.parse(readFileSync(join(home, 'installed.json'), 'utf8')).package;
  } catch {
    // Nothing is recorded.
  }
  const prefix = dirname(process.execPath);
  yield windows ? join(prefix, 'node_modules/okstra') : join(prefix, '../lib/node_modules/okstra');
}

/** The first place that has an okstra which can answer. */
function find() {
  for (const place of places()) {
    try {
      if (typeof place === 'string' && isFile(join(place, 'dist/hook.cjs'))) return place;
    } catch {
      // What cannot be looked at is not it.
    }
  }
  return undefined;
}

const found = find();
if (process.argv[2] === '--where') {
  if (found !== undefined) process.stdout.write(`${realpathSync(found)}\n`);
  process.exitCode = found === undefined ? 1 : 0;
} else if (found === undefined) {
  process.stderr.write('okstra hook: no okstra found; npm install --global okstra\n');
  process.stdout.write('{}\n');
} else {
  require(join(found, 'dist/hook.cjs'));
}
