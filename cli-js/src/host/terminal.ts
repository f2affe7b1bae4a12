/**
 * Standard streams and the terminal behind them.
 *
 * Writes go straight to the descriptors: creating `process.stdout` costs about 2 ms at every
 * start, and what is written through it to a pipe can be lost at exit.
 */
import { fstatSync, writeSync } from 'node:fs';
import { HostError, type Stream } from './host.js';

/** Streams whose reader has gone away. */
const closed = new Set<Stream>();

/** Writes all of a text, also to a pipe that is full for the moment. */
export function write(stream: Stream, text: string): void {
  if (text === '' || closed.has(stream)) return;
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(stream, bytes, done);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EAGAIN') {
        pause();
      } else if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') {
        closed.add(stream);
        return;
      } else {
        closed.add(stream);
        throw new HostError(
          code === 'ENOSPC' ? 'no-space' : 'other',
          stream === 1 ? 'standard output' : 'standard error',
          code === 'ENOSPC' ? 'no space left on the disk' : `cannot be written (${code})`,
          'check where the output goes',
        );
      }
    }
  }
}

/** Waits a few milliseconds for the other end of a pipe. */
export function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
}

/** Whether a person can be asked. */
export function isInteractive(): boolean {
  return isTerminal(0) && isTerminal(2);
}

/** Whether a person is at the stream. Loading `node:tty` is avoided for files and pipes. */
export function isTerminal(stream: Stream | 0): boolean {
  try {
    if (!fstatSync(stream).isCharacterDevice()) return false;
  } catch {
    return false; // closed
  }
  return process.getBuiltinModule('node:tty').isatty(stream);
}

/** The columns of the terminal, or what COLUMNS says, or 80. */
export function width(): number {
  const columns = isTerminal(1)
    ? process.stdout.columns
    : isTerminal(2)
      ? process.stderr.columns
      : undefined;
  const said = Number(process.env.COLUMNS);
  if (columns !== undefined && columns > 0) return columns;
  return Number.isInteger(said) && said > 0 ? said : 80;
}

/** The rows of the terminal at standard error, or 24. */
export function height(): number {
  const rows = isTerminal(2) ? process.stderr.rows : undefined;
  return rows !== undefined && rows > 0 ? rows : 24;
}
