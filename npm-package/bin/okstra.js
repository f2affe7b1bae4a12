#!/usr/bin/env node
'use strict';

// A hook runs at every tool call: it has a bundle of its own, and no argument makes it fail.
const [, , noun, ...rest] = process.argv;
const help = rest.includes('--help') || rest.includes('-h');
require(noun === 'hook' && !help ? '../dist/hook.cjs' : '../dist/cli.cjs');
