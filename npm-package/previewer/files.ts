// Files that a person drops, chooses or pastes: which is the plan, which the ledger, which evidence.
import type { PreviewFacts, PreviewFile, TaskFacts } from '../src/generated/types.js';
import { core } from './core.js';

/** Files as they were given, by kind. */
interface Sorted {
  plans: PreviewFile[];
  ledgers: PreviewFile[];
  evidence: PreviewFile[];
}

/** So many entries of a folder are looked at, no deeper than this, and so much of their text. */
const MOST = { files: 4_000, depth: 12, bytes: 1 << 26, all: 1 << 28 };

/** Folders in which no task is. */
const SKIPPED = /^(?:node_modules|\.git|target|dist)$/;

const MAP = /^ {0,3}#{1,6}[^\n]*stage\s*map/im;

/** What could be a plan, a ledger, evidence, or the record of a task. */
const WANTED = /\.(?:md|markdown|txt|jsonl)$|(?:^|\/)(?:stage-\d+|task-manifest)\.json$/i;

/** A file that was not read, with its name. */
export class Unreadable extends Error {
  constructor(readonly path: string) {
    super(path);
  }
}

/** More text than a page can hold. */
export class TooMuch extends Error {}

/**
 * The facts of files that were given together. What is missing among them is taken from those
 * shown before, where they belong to the same plan.
 */
export async function factsOf(
  files: readonly PreviewFile[],
  before: PreviewFacts | null,
): Promise<PreviewFacts | undefined> {
  const sorted = sort(files);
  const plan = await planOf(sorted, files);
  if (!plan && sorted.ledgers.length === 0 && sorted.evidence.length === 0) return undefined;
  const isOther = plan !== undefined && before?.plan != null && !samePlan(before.plan, plan);
  const old = isOther ? null : before;
  const shown = plan ?? old?.plan ?? null;
  const near = (file: PreviewFile) => shared(file.path, shown?.path ?? '');
  const ledger = best(
    sorted.ledgers,
    (file) => near(file) + Number(/consumers\.jsonl$/.test(file.path)),
  );
  const given = new Map<string, PreviewFile>();
  for (const file of sorted.evidence) {
    const there = given.get(name(file.path));
    if (!there || near(file) > near(there)) given.set(name(file.path), file);
  }
  for (const file of old?.evidence ?? []) {
    if (!given.has(name(file.path))) given.set(name(file.path), file);
  }
  return {
    plan: shown,
    ledger: ledger ?? old?.ledger ?? null,
    evidence: [...given.values()],
    now: new Date().toISOString(),
    fault: null,
  };
}

/**
 * Whether two files are one plan. Plans of different tasks often have one name: what is in folders
 * has to be at one place, and of anything else the title decides.
 */
function samePlan(a: PreviewFile, b: PreviewFile): boolean {
  if (a.path.includes('/') && b.path.includes('/')) return a.path === b.path;
  return name(a.path) === name(b.path) && heading(a.text) === heading(b.text);
}

/** The first heading of the highest level. */
const heading = (text: string): string | undefined =>
  /^ {0,3}#[ \t]+(.*)$/m.exec(text)?.[1]?.trim();

function sort(files: readonly PreviewFile[]): Sorted {
  const sorted: Sorted = { plans: [], ledgers: [], evidence: [] };
  for (const file of files) {
    if (/(?:^|\/)stage-\d+\.json$/.test(file.path)) sorted.evidence.push(file);
    else if (/\.jsonl$/i.test(file.path)) {
      if (isLedger(file.text) || name(file.path) === 'consumers.jsonl') sorted.ledgers.push(file);
    } else if (/\.json$/i.test(file.path)) {
      // The record of a task, which planOf looks at.
    } else if (isLedger(file.text) && !MAP.test(file.text)) sorted.ledgers.push(file);
    else sorted.plans.push(file);
  }
  return sorted;
}

/** Whether the first line with something in it is a row of a ledger. */
function isLedger(text: string): boolean {
  const line = /^\s*(\{.*\})\s*$/m.exec(text.slice(0, 20_000))?.[1];
  if (line === undefined) return false;
  try {
    const row: unknown = JSON.parse(line);
    return typeof row === 'object' && row !== null && 'status' in row && 'stage' in row;
  } catch {
    return false;
  }
}

/** The plan among the files. In the folder of a task the core says which one it is. */
async function planOf(
  sorted: Sorted,
  files: readonly PreviewFile[],
): Promise<PreviewFile | undefined> {
  const plans = sorted.plans.filter(({ text }) => MAP.test(text));
  // A Markdown file alone is meant as a plan; the findings say what it lacks.
  const alone =
    files.length === 1
      ? sorted.plans.find(({ path }) => /\.(?:md|markdown)$/i.test(path))
      : undefined;
  if (plans.length < 2) return plans[0] ?? alone;
  const reports = 'runs/implementation-planning/reports/';
  const inTask = plans.find(({ path }) => path.includes(reports));
  if (inTask) {
    const root = inTask.path.slice(0, inTask.path.indexOf(reports)).replace(/\/$/, '');
    const task = await candidates(`/${root}`, sorted, files);
    for (const path of task) {
      const found = plans.find((file) => `/${file.path}` === path);
      if (found) return found;
    }
  }
  return plans[0];
}

async function candidates(
  task_root: string,
  { evidence, plans }: Sorted,
  files: readonly PreviewFile[],
): Promise<string[]> {
  const manifest = files.find(({ path }) => `/${path}` === `${task_root}/task-manifest.json`);
  let latest_report_path = '';
  try {
    const value: unknown = JSON.parse(manifest?.text ?? '{}');
    const latest = (value as { latestReportPath?: unknown } | null)?.latestReportPath;
    if (typeof latest === 'string') latest_report_path = latest;
  } catch {
    // A broken record names no report.
  }
  const prefix = `${task_root}/runs/implementation-planning/reports/`;
  const task: TaskFacts = {
    // Where the project begins is not known; the folder that was given is as good.
    project_root: '/',
    task_root,
    evidence: evidence.map(({ path, text }) => ({ name: name(path), text })),
    latest_report_path,
    reports: plans
      .filter(({ path }) => `/${path}`.startsWith(prefix))
      .map(({ path }) => name(path)),
  };
  return (await core()).planCandidates(task);
}

/** The files of a drop, folders with everything in them. */
export async function droppedFiles(transfer: DataTransfer): Promise<PreviewFile[]> {
  // All of it has to be asked for before anything is waited for.
  const given = [...transfer.items].map((item) => {
    const entry = item.kind === 'file' ? item.webkitGetAsEntry() : null;
    if (!entry?.isDirectory) return item.getAsFile();
    // Chromium reads no entries for a page from disk, but handles; others have entries only.
    return (item as HandleItem).getAsFileSystemHandle?.() ?? entry;
  });
  const found: [string, File][] = [];
  await Promise.all(
    given.map(async (each) => {
      const item = await each;
      if (item === null) return;
      if (item instanceof File) found.push([item.name, item]);
      else await walk('kind' in item ? ofHandle(item) : ofEntry(item), 0, found);
    }),
  );
  return readFiles(found);
}

/** What the declarations of the DOM do not have yet. */
interface HandleItem {
  getAsFileSystemHandle?(): Promise<Handle>;
}

interface Handle {
  readonly kind: 'file' | 'directory';
  readonly name: string;
  getFile(): Promise<File>;
  values(): AsyncIterable<Handle>;
}

/** A file or folder that was dropped, whichever way the browser gives it. */
interface Dropped {
  name: string;
  path: string;
  isFile: boolean;
  file: () => Promise<File>;
  inside: () => AsyncIterable<Dropped>;
}

function ofHandle(handle: Handle, folder = ''): Dropped {
  const path = `${folder}${handle.name}`;
  return {
    ...{ name: handle.name, path, isFile: handle.kind === 'file' },
    file: () => handle.getFile(),
    async *inside() {
      for await (const each of handle.values()) yield ofHandle(each, `${path}/`);
    },
  };
}

function ofEntry(entry: FileSystemEntry): Dropped {
  return {
    ...{ name: entry.name, path: entry.fullPath.replace(/^\//, ''), isFile: entry.isFile },
    file: () =>
      new Promise((done, failed) => {
        (entry as FileSystemFileEntry).file(done, failed);
      }),
    async *inside() {
      const reader = (entry as FileSystemDirectoryEntry).createReader();
      // A reader gives a hundred entries at a time.
      for (;;) {
        const some = await new Promise<FileSystemEntry[]>((done, failed) => {
          reader.readEntries(done, failed);
        });
        if (some.length === 0) return;
        for (const each of some) yield ofEntry(each);
      }
    },
  };
}

async function walk(item: Dropped, depth: number, found: [string, File][]): Promise<void> {
  if (found.length >= MOST.files || depth > MOST.depth) return;
  try {
    if (item.isFile) {
      if (WANTED.test(item.path)) found.push([item.path, await item.file()]);
      return;
    }
    // A folder that was dropped itself is meant.
    if (depth > 0 && SKIPPED.test(item.name)) return;
    for await (const each of item.inside()) await walk(each, depth + 1, found);
  } catch (thrown) {
    throw thrown instanceof Unreadable ? thrown : new Unreadable(item.path);
  }
}

/** Files as text. One that was named by itself has to be UTF-8; in a folder such a file is passed over. */
export async function readFiles(
  files: readonly (readonly [string, File])[],
): Promise<PreviewFile[]> {
  const isFolder = files.length > 1;
  const wanted = isFolder ? files.filter(([path]) => WANTED.test(path) && !isPassed(path)) : files;
  const all: PreviewFile[] = [];
  let left = MOST.all;
  // One after the other: what is read at once is in memory at once.
  for (const [path, file] of wanted.slice(0, MOST.files)) {
    const isNeeded = !isFolder || /\.md$/i.test(path);
    if (file.size > MOST.bytes) {
      if (isNeeded) throw new Unreadable(path);
      continue;
    }
    left -= file.size;
    if (left < 0) throw new TooMuch();
    try {
      const decoder = new TextDecoder('utf-8', { fatal: true });
      all.push({ path, text: decoder.decode(await file.arrayBuffer()) });
    } catch {
      if (isNeeded) throw new Unreadable(path);
    }
  }
  return all;
}

/** Whether a file lies where nothing is looked at. The folder that was chosen itself is meant. */
function isPassed(path: string): boolean {
  const inner = path.split('/').slice(1, -1);
  return inner.length >= MOST.depth || inner.some((part) => SKIPPED.test(part));
}

/** A text that was pasted, as the file it most likely is. */
export function pastedFile(text: string): PreviewFile {
  const isRow = !MAP.test(text) && isLedger(text);
  // No text for UTF-8 has half of a character.
  const whole = text.replace(/\p{Surrogate}/gu, '\ufffd');
  return { path: isRow ? 'consumers.jsonl' : 'plan.md', text: whole };
}

const name = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** How many folders two paths have in common from their beginning. */
function shared(a: string, b: string): number {
  const [left, right] = [a.split('/').slice(0, -1), b.split('/').slice(0, -1)];
  // What lies beside a plan that is in no task is in a folder named after it.
  if (b !== '' && left.includes(`${name(b)}.okstra`)) return 1_000;
  const differs = left.findIndex((part, at) => part !== right[at]);
  return differs === -1 ? left.length : differs;
}

function best(
  files: readonly PreviewFile[],
  rank: (file: PreviewFile) => number,
): PreviewFile | undefined {
  return [...files].sort((a, b) => rank(b) - rank(a))[0];
}
