/** The plans a command is given. */
import type { Host } from '../host/host.js';
import { OK, UsageError } from './exit.js';
import { explain, STDIN } from './talk.js';

/** A plan that was read. */
export interface Input {
  /** Its name in messages: the path as given. */
  name: string;
  /** Where it lies, or `null` for standard input. */
  path: string | null;
  bytes: Uint8Array;
}

/** Reads one plan; `-` is standard input. */
export function readInput(host: Host, path: string): Input {
  return path === '-'
    ? { name: STDIN, path: null, bytes: host.readStdin() }
    : { name: path, path, bytes: host.readFile(path) };
}

/** Reads every plan that can be read; for the others it says why, and `status` is not 0. */
export function readInputs(
  host: Host,
  paths: readonly string[],
): { inputs: Input[]; status: number } {
  if (paths.filter((path) => path === '-').length > 1) {
    throw new UsageError("'-' (standard input) can be given once only; remove the other one");
  }
  const inputs: Input[] = [];
  let status: number = OK;
  for (const path of paths) {
    try {
      inputs.push(readInput(host, path));
    } catch (error) {
      status = Math.max(status, explain(host, error));
    }
  }
  return { inputs, status };
}

/** The bytes of all plans together. */
export function sizeOf(inputs: readonly Input[]): number {
  return inputs.reduce((sum, input) => sum + input.bytes.length, 0);
}
