/** The entry of the command line: everything else is loaded by kept code. */
import { keepCode } from './host/code-cache.js';

/** A noun or a verb; other words are names of files and options. */
const WORD = /^[a-z][a-z-]{0,19}$/;

const words = process.argv.slice(2, 4).filter((word) => WORD.test(word));
keepCode(module, ['command', ...words].join('-'));
void import('./main.js');
