/** The entry of the command line: settings of the engine, then everything else by kept code. */
import { expectShort } from '../../npm-package/src/engine.js';
import { keepCode } from './host/code-cache.js';

/** A noun or a verb; other words are names of files and options. */
const WORD = /^[a-z][a-z-]{0,19}$/;

// First of all: code is bound to the settings it was compiled under.
expectShort();
const words = process.argv.slice(2, 4).filter((word) => WORD.test(word));
keepCode(__dirname, ['command', ...words].join('-'));
void import('./main.js');
