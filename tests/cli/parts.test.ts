// The parts of the module: each function of a part answers from it as from the whole module.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import * as whole from '../../npm-package/dist/node.js';
import { createCliApi } from '../../npm-package/src/cli-loader.js';
import parts from '../../npm-package/src/parts.json' with { type: 'json' };

const root = fileURLToPath(new URL('../..', import.meta.url));
const dist = join(root, 'npm-package/dist');
const folder = mkdtempSync(join(tmpdir(), 'okstra-parts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A folder that has these modules and no others. */
function folderWith(...files: string[]): string {
  const path = mkdtempSync(join(folder, 'dist-'));
  for (const file of files) cpSync(join(dist, file), join(path, file));
  return path;
}

/** The functions over a folder; so many bytes leave V8's settings as they are. */
const apiOf = (path: string, part?: string) => createCliApi(path, Number.POSITIVE_INFINITY, part);

const plan = Buffer.concat([
  readFileSync(join(root, 'fixtures/plans/valid_three_stage_parallel.md')),
  Buffer.from('\n- [x] Approved\n'),
]);
const path = '/home/me/shop/plän.md';
const started = {
  ...{ impl_task_key: 'shop:web:login', stage: 1, status: 'started' },
  ...{ started_at: '2026-01-01T00:00:00.000Z', head_commit: '', claim_id: 'c1', session: 's' },
};
const ledger = Buffer.from(`${JSON.stringify(started)}\n`);
const facts = {
  ...{ plan: path, now: '2026-01-01T00:01:00.000Z', project_root: '/home/me/shop' },
  ...{ caller: { session: 's', host: 'h', pid: 7 }, sightings: { processes: [], sessions: [] } },
};
const registry = { path: '/home/me/.okstra/worktrees/registry.json', text: '' };
const task = {
  ...{ project_root: '/p', task_root: '/p/.okstra/tasks/g/t', evidence: [] },
  ...{ latest_report_path: '', reports: ['a.md'] },
};

const commit = 'a'.repeat(40);
const identity = {
  ...{ task_key: 'shop:web:login', project_root: '/p' },
  ...{ plan_path: 'plan.md', prefix: 'feat' },
};
const begin = {
  ...{ task: identity, stage: 1, path: '/w', branch: 'feat-login-s1', base: commit },
  ...{ implementation_base: commit, claim_id: 'c1', sync_dirs: [] },
  ...{ by: { host: 'h', pid: 7, pid_start: '' }, now: '2026-01-01T00:00:00.000Z' },
};
const entry = { task_key: 'shop:web:login', stage: 1, claim_id: 'c1', base: commit };

const listing = {
  ...{ server: '/tmp/tmux', own: true, of_team: false, mark: 'm' },
  text: 'm|P|%1|11|0|%1|trace|s|/r|한글\nm|P|%2|12|0|%2|worker|s|/r|t',
};
const member = { agentId: 'a@t', name: 'a', tmuxPaneId: '%9', isActive: true };
const lead = {
  ...{ run: '/r', lead_session: 's', caller_session: 's', servers: [listing] },
  teams: [{ path: '/c', text: JSON.stringify({ leadSessionId: 's', members: [member] }) }],
};
const usage = { type: 'assistant', message: { id: 'm', model: 'x', usage: { input_tokens: 3 } } };

const prompt = '**Project Root**: /p\n**Result Path:** r\n**Model:** m\n**Worktree:** /p\n';
const seen = [
  { path: '/p', real: '/p', kind: 'folder' },
  { path: '/p/r', real: '/p/r', kind: 'missing' },
];

/** What each function is called with; some calls are refused, which has to be the same as well. */
const CALLS: Record<string, readonly unknown[]> = {
  renderCheck: [{ paths: ['ä.md', 'b.md'], format: 'pretty', color: true }, [plan, '# nothing\n']],
  checkPlan: [plan, { strict: true, max_steps: 1, contract: true, require_approval: false }],
  renderGraph: [plan, 'mermaid'],
  planLayout: [path, '/home/me/shop'],
  lockName: ['/home/me/shop/plän.md.okstra/consumers.jsonl'],
  taskFolder: ['/home/me/shop/.okstra', 'shop:web:login'],
  planCandidates: [task],
  stageNext: [plan, ledger, facts, { stage: 'auto', explain: true }],
  stageClaim: [plan, ledger, facts, { stage: '2', claim_id: 'c2' }],
  stageDone: [plan, ledger, facts, { stage: 1, name: 'e.md', evidence: 'none' }],
  stageRelease: [plan, ledger, facts, { stage: 1, reason: 'enough' }],
  taskOutcome: [
    ...[plan, ledger, facts],
    { okstra_root: '/home/me/shop/.okstra', reconcile: false, reports: ['stage-1/reports/r.md'] },
  ],
  hookEvent: [
    JSON.stringify({ hook_event_name: 'Stop', session_id: 'a', last_assistant_message: 'x' }),
    ...[plan, ledger, facts, {}],
  ],
  stageList: [plan, ledger, facts],
  stageShow: [plan, ledger, facts, 2],
  listPanes: [lead],
  reapPanes: [lead],
  paneTags: [{ run: '/r ä', role: 'trace', pane_id: '%3' }],
  reconcileTeam: [lead],
  wrapUp: [lead, { language: 'ko', answer: 'yes' }],
  reportProgress: [{ checkpoint: 'persist', run: '/r', now: '' }],
  dispatchHeaders: [prompt, 'o.md'],
  planDispatch: [prompt, { name: 'o.md', prompt: '/p/o.md', id: 'a', cli: 'codex', seen }],
  judgeDispatch: [{ kind: 'look', path: '/p/o.md.status.json', now: '', text: '{}' }],
  readUsage: [`${JSON.stringify(usage)}\n{`],
  tokenReport: [
    {
      agents: [{ agent: 'lead', role: 'lead', missing: null, models: [] }],
      prices: { as_of: '2026-01-01', currency: 'USD', models: [] },
    },
  ],
  worktreePlaces: [{ home: '/h', task_key: 'shop:web:login', project_root: '/p', stage: 1 }],
  stageBase: [{ stage: 3, implementation_base: commit, dependencies: [] }],
  readRegistry: [registry],
  registryBegin: [registry, begin],
  registryActivate: [registry, entry],
  registryKeep: [registry, entry],
  registryForget: [registry, { ...entry, undo: true }],
  registryTaskWorktree: [registry, { task: identity, path: '/w', branch: 'feat-login' }],
  checkMerge: [{ stage: 3, conflict: { first: 1, second: 2, files: ['a.rs'] } }],
  reservedStages: [registry, { task_key: 'shop:web:login' }],
};

/** What came of a call: an answer or a failure. */
function outcome(api: object, name: string): unknown {
  const call = (api as Record<string, (...args: readonly unknown[]) => unknown>)[name];
  try {
    return { answer: call?.(...(CALLS[name] ?? [])) };
  } catch (error) {
    const { code, message, details } = error as InstanceType<typeof whole.OkstraError>;
    return { code, message, details };
  }
}

describe.each(Object.entries(parts))('the part for %s', (part, functions) => {
  const file = `okstra-${part}.wasm`;

  it.each(functions)('answers %s alone as the whole module does', (name) => {
    expect(CALLS).toHaveProperty(name);
    const seen = outcome(apiOf(folderWith(file), part), name);
    expect(seen).toEqual(outcome(whole, name));
    expect(seen).not.toMatchObject({ code: expect.stringMatching(/panic|not-initialised/) });
  });

  it('makes room for the whole module where a function is not in it', () => {
    const [first = ''] = functions;
    const api = apiOf(folderWith(file, 'okstra.wasm'), part);
    const before = outcome(api, first);
    expect(api.rules()).toEqual(whole.rules());
    expect(outcome(api, first)).toEqual(before);
    expect(() => api.__provokePanic()).toThrow('provoked by a test');
    expect(outcome(api, first)).toEqual(before);
  });
});

it('a missing module is named', () => {
  const api = apiOf(folderWith());
  const missing = (file: string) =>
    expect.objectContaining({
      code: 'not-initialised',
      message: expect.stringContaining(`${file} cannot be loaded: ENOENT`),
    });
  expect(() => api.renderCheck({}, [])).toThrow(missing('okstra-plan.wasm'));
  expect(() => api.version()).toThrow(missing('okstra.wasm'));
});

it('the parts that are built are those of the table', () => {
  const built = readdirSync(dist).filter((name) => name.endsWith('.wasm'));
  expect(built.sort()).toEqual(
    [...Object.keys(parts).map((part) => `okstra-${part}.wasm`), 'okstra.wasm'].sort(),
  );
});

it('the smallest part comes first in the table', () => {
  const sizes = Object.keys(parts).map(
    (part) => readFileSync(join(dist, `okstra-${part}.wasm`)).length,
  );
  expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
});
