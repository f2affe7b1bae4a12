#!/usr/bin/env node
'use strict';

const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const loaded = new Map();

/** A bundle. Node's own search would read the package's file and look for folders of packages. */
function load(name) {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const path = join(__dirname, '../dist', name);
  const bundle = new module.constructor(path, module);
  loaded.set(name, bundle);
  bundle.filename = path;
  bundle.paths = module.paths;
  const plain = bundle.require;
  bundle.require = (id) => (id.startsWith('./') ? load(id.slice(2)) : plain.call(bundle, id));
  bundle._compile(readFileSync(path, 'utf8'), path);
  return bundle.exports;
}

// A hook runs at every tool call: it has a bundle of its own, and no argument makes it fail.
const [, , noun, ...rest] = process.argv;
const help = rest.includes('--help') || rest.includes('-h');
load(noun === 'hook' && !help ? 'hook.cjs' : 'cli.cjs');
