/** The records of a task, which several tasks and programs change: manifest and catalog. */
import { type Host, HostError } from '../host/host.js';
import type { Api, Context } from './context.js';
import { slashes } from './paths.js';

/** How often the records of a task are tried again when another program changes them meanwhile. */
const TRIES = 5;

/** Where the records of a task lie. */
export interface RecordPlaces {
  /** The project's folder. */
  root: string;
  /** The project's folder of okstra. */
  okstra: string;
  /** The task's folder. */
  task: string;
}

/** The files of the project that every task shares, in its folder of okstra. */
const SHARED = {
  catalog: 'discovery/task-catalog.json',
  latest: 'discovery/latest-task.json',
  project: 'project.json',
} as const;

/** The texts of a task's records, of those that are there. */
export type RecordTexts = Partial<Record<keyof typeof SHARED | 'manifest', string>>;

/** Reads the records of a task. */
export function readRecords(host: Host, places: RecordPlaces): RecordTexts {
  const texts: RecordTexts = {};
  const paths = { manifest: `${places.task}/task-manifest.json` };
  const shared = Object.entries(SHARED).map(([name, path]) => [name, `${places.okstra}/${path}`]);
  for (const [name, path = ''] of [...Object.entries(paths), ...shared]) {
    // Also of a file that is not there yet: it would be made where the link leads.
    staysInside(host, places.root, path);
    const bytes = host.readIfThere(path);
    if (bytes === undefined) continue;
    texts[name as keyof RecordTexts] = decoded(bytes, path);
  }
  return texts;
}

/** A link that somebody else made must not lead us to change files outside of the project. */
function staysInside(host: Host, root: string, path: string): void {
  const real = slashes(host.realPath(path));
  if (real.startsWith(root.endsWith('/') ? root : `${root}/`)) return;
  const message = `the file is a link that leaves the project, to ${real}`;
  throw new HostError('refused', path, message, 'remove the link');
}

/** A text with every character of the file, so that it can be written back as it was. */
function decoded(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new HostError('unreadable', path, 'not UTF-8', 'save it as UTF-8');
  }
}

/**
 * Does what changes the records of a task, one task of the project after the other: the catalog is
 * everybody's. Where another program changes a record between reading and writing, it is done
 * again with what is there now.
 */
export function changeRecords<T>(
  { host }: Context,
  api: Api,
  okstra: string,
  { what, once }: { what: string; once: () => Promise<T> },
): Promise<T> {
  const lock = `${host.home()}/locks/${api.lockName(`${okstra}/${SHARED.catalog}`)}`;
  return host.withLock(lock, `okstra ${what}`, 30_000, async () => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await once();
      } catch (error) {
        const changed = error instanceof HostError && ['changed', 'exists'].includes(error.reason);
        if (!changed || tries === TRIES) throw error;
      }
    }
  });
}

/** The folders of a run whose files have its number. */
const KINDS = ['manifests', 'prompts', 'state', 'reports', 'worker-results'];

/** What runs of a phase have written, below `runs`: stages have a folder each. */
export function knownRuns(host: Host, task: string, taskType: string): string[] {
  const runs = `${task}/runs`;
  const folders =
    taskType === 'implementation'
      ? host
          .list(`${runs}/${taskType}`)
          .filter((name) => /^stage-\d+$/.test(name))
          .map((name) => `${taskType}/${name}`)
      : [taskType];
  return folders.flatMap((folder) =>
    KINDS.flatMap((kind) =>
      host.list(`${runs}/${folder}/${kind}`).map((name) => `${folder}/${kind}/${name}`),
    ),
  );
}
