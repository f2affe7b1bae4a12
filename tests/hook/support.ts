/** Events handed to the built command, as the client does it. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const BIN = fileURLToPath(new URL('../../npm-package/bin/okstra.js', import.meta.url));

/** The folder of the shared fixtures. */
export const FIXTURES = fileURLToPath(new URL('../../fixtures/hooks', import.meta.url));

/** The session of every recorded event. */
export const SESSION = '00000001-0000-4000-8000-000000000000';

export type Json = Record<string, unknown>;

/** A shared fixture. */
export function fixture<T = Json>(name: string): T {
  return JSON.parse(readFileSync(join(FIXTURES, name), 'utf8')) as T;
}

/** The names of the recorded events. */
export const RECORDED = readdirSync(join(FIXTURES, 'recorded')).sort();

/** A recorded event that happens in a folder. */
export function recorded(name: string, folder: string): Json {
  const text = readFileSync(join(FIXTURES, 'recorded', name), 'utf8');
  return JSON.parse(text.replaceAll('/home/user/project', folder)) as Json;
}

/** How a hook ended. */
export interface Answered {
  status: number | null;
  stdout: string;
  stderr: string;
  /** The document on standard output. */
  output: {
    decision?: string;
    reason?: string;
    systemMessage?: string;
    hookSpecificOutput?: Record<string, string>;
  };
}

/** Hands an event to the command. */
export function hook(
  event: Json | string | Uint8Array,
  options: { cwd: string; env: NodeJS.ProcessEnv; bin?: string },
): Answered {
  const isBytes = typeof event === 'string' || event instanceof Uint8Array;
  const { status, stdout, stderr } = spawnSync(process.execPath, [options.bin ?? BIN, 'hook'], {
    cwd: options.cwd,
    env: options.env,
    input: isBytes ? event : JSON.stringify(event),
    encoding: 'utf8',
  });
  return { status, stdout, stderr, output: JSON.parse(stdout) };
}

interface Contract {
  always: string[];
  decision: string[];
  hookSpecificOutput: Record<string, string[]>;
  longest: number;
}

const contract = fixture<Contract & Json>('contract.json');

/** What a document has that the client's contract for the event has not. */
export function offences(event: string, { status, stdout, output }: Answered): string[] {
  const found: string[] = [];
  if (status !== 0) found.push(`ends with ${status}`);
  if (stdout !== `${JSON.stringify(output)}\n`) found.push('is not one line with one document');
  for (const [name, value] of Object.entries(output)) {
    if (name === 'decision' && contract.decision.includes(event)) {
      if (value !== 'block') found.push(`decision ${value}`);
    } else if (name === 'reason') {
      if (output.decision === undefined) found.push('a reason without a decision');
    } else if (name !== 'hookSpecificOutput' && !contract.always.includes(name)) {
      found.push(`an unknown ${name}`);
    }
    if (typeof value === 'string' && value.length > contract.longest) found.push(`${name} is long`);
  }
  const own = output.hookSpecificOutput;
  if (own !== undefined) {
    const known = contract.hookSpecificOutput[event] ?? [];
    if (own.hookEventName !== event) found.push(`names ${own.hookEventName}`);
    for (const [name, value] of Object.entries(own)) {
      if (name !== 'hookEventName' && !known.includes(name)) found.push(`an unknown ${name}`);
      if (value.length > contract.longest) found.push(`${name} is long`);
    }
    if (!['ask', 'deny', undefined].includes(own.permissionDecision)) {
      found.push(`decides ${own.permissionDecision}`);
    }
  }
  return found;
}

/** Every file below a folder with its content, without the time of any. */
export function below(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (statSync(path).isFile()) found[name] = readFileSync(path, 'latin1');
  }
  return found;
}

/** Waits until something holds. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  for (let left = 400; !holds(); left -= 1) {
    if (left === 0) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
