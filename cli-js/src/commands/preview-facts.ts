/** What `okstra preview` hands to the page: the files of one plan and nothing else. */
import type { PlanLayout, PreviewFacts } from '../../../npm-package/src/index.js';
import { slashes } from '../cli/paths.js';
import { type Host, HostError } from '../host/host.js';
import type { Serving } from '../host/serving/serving.js';

/** What is true of the files, without the time. Paths are relative to the project. */
type Facts = Omit<PreviewFacts, 'now'>;

type PreviewFile = Facts['evidence'][number];

/** The most that is read of each kind, in bytes. */
const MOST = { plan: 16 << 20, ledger: 64 << 20, evidence: 4 << 20, allEvidence: 64 << 20 };

/** The sidecars that count, and the most of them that are read. */
const SIDECAR = /^stage-\d+\.json$/;
const MOST_FILES = 5000;

/** How many files are looked at in one go. */
const AT_ONCE = 200;

/** How long a plan that is gone or empty may be half saved, in milliseconds. */
const HALF_SAVED = 100;

/** How often files are read again that change while they are read, and how long apart. */
const TRIES = 5;
const BETWEEN = 20;

/** The files of a plan as they were read last. */
export class LiveFacts {
  readonly #host: Host;
  readonly #serving: Serving;
  /** The plan's own absolute path. */
  readonly plan: string;
  readonly #layout: PlanLayout;
  /** What may be read lies below it. */
  readonly #root: string;
  /** What everything was when it was read, by path. */
  #stamps = new Map<string, string>();
  /** The file that is looked at next. */
  #next = 0;
  #evidence = new Map<string, { stamp: string; file: PreviewFile }>();
  #facts: Facts = { plan: null, ledger: null, evidence: [], fault: null };
  #bytes: Uint8Array = new Uint8Array();

  constructor(host: Host, serving: Serving, plan: string, layout: PlanLayout) {
    this.#host = host;
    this.#serving = serving;
    this.plan = plan;
    this.#layout = layout;
    this.#root = layout.project_root ?? plan.slice(0, Math.max(plan.lastIndexOf('/'), 1));
  }

  /** What was found. */
  get facts(): Readonly<Facts> {
    return this.#facts;
  }

  /** The facts with the time, as JSON in pieces; the second one is large and always the same. */
  json(): readonly Uint8Array[] {
    return [Buffer.from(`{"now":${JSON.stringify(this.#host.now())},`), this.#bytes];
  }

  /**
   * Whether nothing has changed since it was read. Plan, ledger and folder are looked at each time,
   * of many sidecars some after the others: as a rule they are made and never changed.
   */
  isCurrent(): boolean {
    const { ledger, carry_folder } = this.#layout;
    const all = [...this.#stamps.keys()];
    const from = this.#next < all.length ? this.#next : 0;
    this.#next = from + AT_ONCE;
    const looked = [this.plan, ledger, carry_folder, ...all.slice(from, this.#next)];
    return looked.every((path) => this.#isSame(path));
  }

  #isSame(path: string): boolean {
    const stamp = this.#stamps.get(path);
    return stamp === undefined || this.#serving.stamp(path) === stamp;
  }

  /** Reads everything that has changed; answers whether the page has to be told. */
  async refresh(): Promise<boolean> {
    const hadPlan = (this.#facts.plan?.text ?? '') !== '';
    let facts = await this.#settled();
    // Some editors empty or remove a file before they write it again.
    if (hadPlan && (facts.plan?.text ?? '') === '') {
      await pause(HALF_SAVED);
      facts = await this.#settled();
    }
    this.#facts = facts;
    const bytes = Buffer.from(JSON.stringify(facts).slice(1));
    if (bytes.equals(this.#bytes)) return false;
    this.#bytes = bytes;
    return true;
  }

  /** Reads until nothing changes while it is read, or it is clear that this does not end. */
  async #settled(): Promise<Facts> {
    for (let tries = 1; ; tries += 1) {
      const facts = this.#read();
      const isSettled = [...this.#stamps.keys()].every((path) => this.#isSame(path));
      if (isSettled || tries === TRIES) return facts;
      await pause(BETWEEN);
    }
  }

  #read(): Facts {
    this.#stamps = new Map();
    const faults: string[] = [];
    const { ledger, carry_folder } = this.#layout;
    // Evidence is written before its row: read in this order, no row lacks its evidence.
    const rows = this.#file(ledger, MOST.ledger, faults);
    const evidence = this.#sidecars(carry_folder, faults);
    const plan = this.#file(this.plan, MOST.plan, faults);
    if (plan === undefined) faults.unshift(`${this.#name(this.plan)}: no such file`);
    return {
      plan: plan ?? null,
      ledger: rows ?? null,
      evidence,
      fault: faults.length === 0 ? null : faults.join('\n'),
    };
  }

  /** A file; `undefined` where there is none, `null` where it may not be shown, and why. */
  #file(path: string, most: number, faults: string[]): PreviewFile | null | undefined {
    const unusable = (reason: string) => {
      faults.push(`${this.#name(path)}: ${reason}`);
      return null;
    };
    try {
      const { bytes, stamp } = this.#serving.readWithin(this.#root, path, most);
      this.#stamps.set(path, stamp);
      if (bytes === undefined) return undefined;
      // What cannot be decoded in a ledger or a sidecar is a faulty row or a faulty sidecar.
      const text = decoded(bytes, path === this.plan);
      if (text === undefined) return unusable('not UTF-8; save it as UTF-8');
      return { path: this.#name(path), text };
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      this.#stamps.set(path, this.#serving.stamp(path));
      return unusable(`${error.message}; ${error.help}`);
    }
  }

  #sidecars(folder: string, faults: string[]): PreviewFile[] {
    this.#stamps.set(folder, this.#serving.stamp(folder));
    const known = this.#evidence;
    this.#evidence = new Map();
    try {
      const real = slashes(this.#host.realPath(folder));
      let left = MOST.allEvidence;
      for (const name of this.#names(folder, faults)) {
        const path = `${folder}/${name}`;
        const before = known.get(path);
        const stamp = this.#serving.stamp(path);
        this.#stamps.set(path, stamp);
        let file: PreviewFile | null | undefined;
        if (before?.stamp === stamp) file = before.file;
        else if (slashes(this.#host.realPath(path)) === `${real}/${name}`) {
          file = this.#file(path, Math.min(MOST.evidence, left), faults);
        } else faults.push(`${this.#name(path)}: a link to another file; it is not read`);
        if (file == null) continue;
        left -= file.text.length;
        this.#evidence.set(path, { stamp, file });
      }
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      faults.push(`${this.#name(folder)}: ${error.message}; ${error.help}`);
    }
    return [...this.#evidence.values()].map(({ file }) => file);
  }

  #names(folder: string, faults: string[]): string[] {
    const names = this.#host.list(folder).filter((name) => SIDECAR.test(name));
    if (names.length > MOST_FILES) {
      faults.push(`${this.#name(folder)}: ${MOST_FILES} of ${names.length} files are shown`);
    }
    return names.slice(0, MOST_FILES);
  }

  /** A path as the page may know it: nothing of where the project lies. */
  #name(path: string): string {
    const start = this.#root.endsWith('/') ? this.#root : `${this.#root}/`;
    return path.startsWith(start) ? path.slice(start.length) : (path.split('/').at(-1) ?? path);
  }
}

/** A text with every character of the file; `undefined` where it is none and `fatal` is asked for. */
function decoded(bytes: Uint8Array, fatal: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
