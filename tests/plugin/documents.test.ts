// What people's agents read, against the product as it is: commands, headings, evidence, links.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadAll } from '../../cli-js/src/cli/define.js';
import { parseFast } from '../../cli-js/src/cli/parse.js';
import { commands as nouns } from '../../cli-js/src/commands/index.js';
import { parseFully } from '../../cli-js/src/lazy/usage.js';
import { checkPlan } from '../../npm-package/dist/node.js';
import packageJson from '../../npm-package/package.json' with { type: 'json' };
import { CLIENTS } from '../../scripts/client-versions.mjs';
import { World } from '../cli/world.js';

const entries = await loadAll(nouns);

const root = fileURLToPath(new URL('../../npm-package/', import.meta.url));
const plugin = join(root, 'plugin');
const bin = join(root, 'bin/okstra.js');
const read = (path: string) => readFileSync(join(plugin, path), 'utf8');

const all = readdirSync(plugin, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .sort();
const documents = all.filter((path) => path.endsWith('.md'));
const agents = documents.filter((path) => path.startsWith('agents/'));
const skills = documents.filter((path) => path.endsWith('/SKILL.md'));

interface Node {
  type: string;
  value?: string;
  url?: string;
  lang?: string | null;
  depth?: number;
  children?: Node[];
}

/** The parts of a document, front matter left out. */
function nodes(path: string): Node[] {
  const text = read(path).replace(/^---\n.*?\n---\n/s, '');
  const flat = (node: Node): Node[] => [node, ...(node.children ?? []).flatMap(flat)];
  return flat(unified().use(remarkParse).use(remarkGfm).parse(text) as Node);
}

const textOf = (node: Node): string => node.value ?? (node.children ?? []).map(textOf).join('');

/** The headings of a document with their level. */
const headings = (path: string) =>
  nodes(path)
    .filter(({ type }) => type === 'heading')
    .map((node) => `${'#'.repeat(node.depth ?? 0)} ${textOf(node)}`);

/** The command lines of okstra in code. */
const commands = (path: string) =>
  nodes(path)
    .filter(({ type }) => type === 'code' || type === 'inlineCode')
    .flatMap(({ value = '' }) => value.split('\n'))
    .filter((line) => line.startsWith('okstra '));

/** Words in capitals stand for what the reader fills in. */
const filled = (line: string) =>
  line
    .split(' ')
    .slice(1)
    .map((word) => (/^[A-Z]{1,}$/.test(word) ? '1' : word));

describe('commands', () => {
  const named = documents.flatMap((path) => commands(path).map((line) => [line, path] as const));

  it('are named', () => {
    expect(named.length).toBeGreaterThan(40);
  });

  it.each(named)('%s (%s)', (line) => {
    const world = new World();
    const context = { api: () => expect.unreachable(), host: world, entries };
    const argv = filled(line);
    const parsed = parseFast(entries, argv) ?? parseFully(argv, context, '0');
    expect(world.streams[2]).toBe('');
    expect(typeof parsed).toBe('object');
  });

  it('that do not exist would be found', () => {
    for (const line of ['okstra stage clam --plan PLAN', 'okstra stage claim --plam PLAN']) {
      const world = new World();
      const context = { api: () => expect.unreachable(), host: world, entries };
      expect(parseFully(filled(line), context, '0')).toBe(2);
    }
  });
});

describe('links and tables of contents', () => {
  it.each(documents)('%s leads nowhere that is not there', (path) => {
    for (const { url } of nodes(path).filter(({ type }) => type === 'link')) {
      const target = join(plugin, dirname(path), url ?? '');
      expect(existsSync(target), url).toBe(true);
      // Files are copied as they lie: a link has to hold there as well.
      expect(target.startsWith(plugin)).toBe(true);
    }
  });

  it('the README names every skill', () => {
    const links = nodes('README.md').flatMap(({ url }) => (url === undefined ? [] : [url]));
    expect(links.sort()).toEqual([...skills].sort());
  });
});

describe('front matter', () => {
  it.each([...skills, ...agents])('%s', (path) => {
    const [, matter = ''] = /^---\n(.*?)\n---\n/s.exec(read(path)) ?? [];
    const { name, description, ...rest } = parse(matter);
    const folder = path.startsWith('agents/') ? path.slice(7, -3) : path.split('/')[1];
    expect(name).toBe(folder);
    expect(name).toMatch(/^okstra-[a-z-]+$/);
    expect(description.length).toBeGreaterThan(60);
    // What is longer is cut off.
    expect(description.length).toBeLessThan(1536);
    const known = path.startsWith('agents/') ? ['tools'] : ['argument-hint'];
    expect(known).toEqual(expect.arrayContaining(Object.keys(rest)));
  });
});

const evidenceOf = (path: string) =>
  nodes(path).flatMap(({ type, lang, value = '' }) =>
    type === 'code' && lang === 'json' && value.includes('schemaVersion') ? [value] : [],
  );

describe('evidence', () => {
  const folder = mkdtempSync(join(tmpdir(), 'okstra-evidence-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const workers = agents.filter((path) => path.endsWith('-worker.md'));
  const plan = `# Plan

## 5.5 Stage Map

| stage | title | depends-on | step-count | exit-contract-summary |
|-------|-------|------------|------------|-----------------------|
| 1 | Read exchange rates | (none) | 1 | Rates::today() |

## 5.5.1 Stage 1: Read exchange rates

### Carry-In

### Stepwise Execution Order

| step | action | files | command | expected |
|------|--------|-------|---------|----------|
| 1 | fetch | src/rates/fetch.rs | cargo test fetch | PASS |

### Stage Exit Contract

### Stage Validation

- [x] Approved
`;

  it.each([...workers, 'okstra/profiles/implementation.md'])(
    '%s: the example is accepted',
    (path) => {
      const [example = '', ...others] = evidenceOf(path);
      expect(others).toEqual([]);
      const place = mkdtempSync(join(folder, 'run-'));
      const file = (name: string, text: string) => {
        writeFileSync(join(place, name), text);
        return name;
      };
      file('plan.md', plan);
      // A worker's page has the block under its heading, as a result has.
      const result = workers.includes(path)
        ? file('result.md', read(path))
        : file('result.md', `### Stage Carry Evidence\n\n\`\`\`json\n${example}\n\`\`\`\n`);
      const env = { ...process.env, OKSTRA_HOME: join(place, 'home'), OKSTRA_SESSION: 'anna' };
      const okstra = (...args: string[]) =>
        execFileSync(process.execPath, [bin, ...args, '--plan', 'plan.md'], {
          cwd: place,
          env,
          encoding: 'utf8',
          stdio: 'pipe',
        });
      okstra('stage', 'claim', '--no-worktree');
      okstra('stage', 'done', '--stage', '1', '--evidence', result);
      expect(readFileSync(join(place, 'plan.md.okstra/carry/stage-1.json'), 'utf8').trim()).toBe(
        example.trim(),
      );
      expect(JSON.parse(okstra('stage', 'list', '--json')).stages[0].state).toBe('done');
    },
  );

  it('every worker says where it goes', () => {
    expect(workers.length).toBe(3);
    for (const path of workers) expect(headings(path)).toContain('### Stage Carry Evidence');
  });
});

describe('planning', () => {
  const template = 'okstra/templates/implementation-planning-input.md';
  const profile = 'okstra/profiles/implementation-planning.md';
  const inCode = (path: string) =>
    nodes(path).flatMap(({ type, value = '' }) => (type === 'inlineCode' ? [value] : []));

  it('the profile names what rule C1 asks for', () => {
    // As the core asks for them of a plan that has none.
    const wanted = checkPlan('# Nothing\n', { contract: true }).findings.flatMap(
      ({ code, message }: { code: string; message: string }) =>
        code === 'C1' ? [message.replace(/^.*'(.+)'$/, '$1')] : [],
    );
    expect(wanted).toHaveLength(10);
    expect(inCode(profile)).toEqual(expect.arrayContaining(wanted));
  });

  it('the profile names the columns and the subsections', () => {
    expect(inCode(profile)).toEqual(
      expect.arrayContaining([
        'stage | title | depends-on | step-count | exit-contract-summary',
        'step | action | files | command | expected',
        '## 5.5 Stage Map',
        '## 5.5.<i> Stage <i>: <title>',
        '### Carry-In',
        '### Stepwise Execution Order',
        '### Stage Exit Contract',
        '### Stage Validation',
      ]),
    );
  });

  it('a plan made from the template is faultless', () => {
    let count = 0;
    const titles: Record<string, string> = {
      'first stage': 'One',
      'second stage': 'Two',
      'third stage': 'Three',
    };
    const text = read(template).replace(/<([^<>!][^<>]*)>/g, (_all, what: string) => {
      count += 1;
      return titles[what] ?? what.replace(/[|`]/g, '');
    });
    expect(count).toBeGreaterThan(30);
    const { findings, stages, graph } = checkPlan(text, { strict: true, contract: true });
    expect(findings).toEqual([]);
    expect(stages.map(({ title }: { title: string }) => title)).toEqual(['One', 'Two', 'Three']);
    expect(graph.waves).toEqual([[1, 2], [3]]);
    const ticked = text.replace('- [ ] Approved', '- [x] Approved');
    expect(checkPlan(ticked, { require_approval: true }).findings).toEqual([]);
  });
});

describe('contracts', () => {
  it('the lead writes the progress lines of the product, in their order', () => {
    const [block] = nodes('okstra/contracts/lead.md').filter(
      ({ type, lang }) => type === 'code' && lang === 'text',
    );
    expect(block?.value?.split('\n')).toEqual([
      'PROGRESS: phase-batch-cleanup panes=<n> teammates=<m>',
      'PROGRESS: phase-6-synthesis dispatching report-writer-worker',
      'PROGRESS: phase-7-persist updating manifests',
      'PROGRESS: phase-7-teardown dismissing teammates',
      'PROGRESS: complete final-report=<relative-path>',
    ]);
  });

  it('the message that ends a teammate is an object', () => {
    const [block] = nodes('okstra/contracts/common.md').filter(({ lang }) => lang === 'json');
    expect(JSON.parse(block?.value ?? '')).toEqual({
      to: '<name>',
      message: { type: 'shutdown_request' },
    });
  });

  it('every phase has the same end', () => {
    const text = read('okstra/contracts/common.md');
    for (const phase of [
      'requirements-discovery',
      'improvement-discovery',
      'error-analysis',
      'implementation-planning',
      'implementation',
      'final-verification',
      'release-handoff',
    ]) {
      expect(text).toContain(`\`${phase}\``);
    }
  });

  it('the implementation profile names the parts of a pull request and of the report', () => {
    const text = read('okstra/profiles/implementation.md');
    for (const part of [
      'Stage <N>: <stage title>',
      '## Stage',
      '## Carry-In summary',
      '## Next stage',
      'Previous: #n, Next: #m',
      'Plan link & approval evidence',
      'Stage sidecar evidence',
      'Out-of-plan edits',
    ]) {
      expect(text, part).toContain(part.replace('<stage title>', '<title>'));
    }
  });

  it('workers are given the headers that a dispatch writes', () => {
    for (const name of ['codex', 'gemini']) {
      for (const header of [
        '**Project Root**',
        '**Result Path:**',
        '**Model:**',
        '**Worktree:**',
      ]) {
        expect(read(`agents/okstra-${name}-worker.md`)).toContain(header);
      }
    }
  });
});

describe('manifests', () => {
  const json = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));

  it('have the name and the version of the package', () => {
    const { name, version } = json('plugin/.claude-plugin/plugin.json');
    expect({ name, version }).toEqual({ name: 'okstra', version: packageJson.version });
    const market = json('.claude-plugin/marketplace.json');
    expect(market.plugins).toHaveLength(1);
    expect(existsSync(join(root, market.plugins[0].source, '.claude-plugin/plugin.json'))).toBe(
      true,
    );
    expect(packageJson.files).toEqual(expect.arrayContaining(['plugin', '.claude-plugin']));
  });

  it('the README and the doctor name the oldest client that is tried', () => {
    const doctor = readFileSync(join(root, '../core/src/install/doctor.rs'), 'utf8');
    expect(doctor).toContain(`const OLDEST_CLIENT: &str = "${CLIENTS.oldest}";`);
    expect(readFileSync(join(root, '../README.md'), 'utf8')).toContain(CLIENTS.oldest);
  });

  it('the hooks are for events of the oldest client, start no shell and find their launcher', () => {
    const { hooks } = json('plugin/hooks/hooks.json');
    const editors = 'Edit|Write|MultiEdit|NotebookEdit';
    expect(
      Object.entries(hooks).map(([event, groups]) => [
        event,
        (groups as { matcher?: string }[])[0]?.matcher,
      ]),
    ).toEqual([
      ['SessionStart', undefined],
      ['PreToolUse', editors],
      ['PostToolUse', 'Edit|Write|MultiEdit'],
      ['SubagentStop', undefined],
      ['Stop', undefined],
      ['SessionEnd', undefined],
    ]);
    for (const groups of Object.values(hooks) as { hooks: Record<string, unknown>[] }[][]) {
      expect(groups).toHaveLength(1);
      for (const handler of groups[0]?.hooks ?? []) {
        const { type, command, args, timeout, ...rest } = handler;
        expect({ type, command, rest }).toEqual({ type: 'command', command: 'node', rest: {} });
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in
        expect(args).toEqual(['${CLAUDE_PLUGIN_ROOT}/okstra/hook.cjs', 'hook']);
        expect(timeout).toBeGreaterThan(0);
      }
    }
  });
});
