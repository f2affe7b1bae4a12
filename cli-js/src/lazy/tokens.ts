/** What the lead and the workers of a run have used, out of Claude Code's session files. */

import prices from '../../../npm-package/data/model-prices.json' with { type: 'json' };
import type {
  AgentTally,
  MessageUsage,
  ModelTally,
  PriceTable,
  TokenReport,
  TokenSum,
} from '../../../npm-package/src/index.js';
import type { Api, Context } from '../cli/context.js';
import { UsageError } from '../cli/exit.js';
import { readTeams } from '../cli/lead.js';
import { slashes } from '../cli/paths.js';
import { readObject } from '../cli/project.js';
import { printable, sayOf } from '../cli/talk.js';
import { utf8Of } from '../cli/text.js';
import { type Host, HostError } from '../host/host.js';
import type { Style } from './stage.js';

interface Values {
  worker?: string | undefined;
  prices?: string | undefined;
}

/** An agent with the files that tell of it. */
interface Agent {
  name: string;
  role: AgentTally['role'];
  files: string[];
  /** What is said where there are none. */
  missing: string;
}

/** How much of a file is looked at to find out whose it is. */
const START = 256 * 1024;

/** Counts and prices what a session and its workers have used. */
export async function collect(
  context: Context,
  lead: string | undefined,
  values: Values,
): Promise<TokenReport> {
  const { host } = context;
  const table = values.prices === undefined ? prices : priceList(host, values.prices);
  const agents = await findAgents(host, lead, workersOf(values.worker));
  // What is read may be large: optimised code pays.
  const api = context.api(Number.POSITIVE_INFINITY);
  const counted = new Counted();
  const tallies: AgentTally[] = [];
  for (const { name, role, files, missing } of agents) {
    const tally: AgentTally = { agent: name, role, missing: missing, models: [] };
    for (const file of files) await count(host, api, file, counted.of(name));
    if (files.length > 0) tally.missing = null;
    tallies.push(tally);
  }
  for (const tally of tallies) tally.models = counted.models(tally.agent);
  return api.tokenReport({ agents: tallies, prices: table });
}

/** A price list of a person's own. */
function priceList(host: Host, path: string): PriceTable {
  const list = readObject(host, path);
  if (list === undefined) throw new UsageError(`there is no price list ${path}`);
  for (const name of ['as_of', 'currency', 'models']) {
    if (list[name] !== undefined) continue;
    const help = 'it has as_of, currency and models, as data/model-prices.json of the package';
    throw new HostError('unreadable', path, `a price list without '${name}'`, help);
  }
  return list as unknown as PriceTable;
}

async function count(
  host: Host,
  api: Api,
  file: string,
  take: (usage: MessageUsage) => void,
): Promise<void> {
  let bad = 0;
  const scanned = await host.scanLines(file, '"usage"', (lines) => {
    const batch = api.readUsage(lines);
    bad += batch.unreadable;
    for (const usage of batch.usages) take(usage);
  });
  bad += scanned?.passedOver ?? 0;
  if (bad > 0) sayOf(host, file, `${bad} line${bad === 1 ? '' : 's'} could not be read`);
}

/** The numbers of a message, in the order in which they are kept. */
const PARTS = ['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h'] as const;

/**
 * Every message once, with the most that was said of it: it is written again while it streams,
 * and a session that is continued elsewhere repeats what came before. Six numbers and its id are
 * kept of a message, whatever the size of the files.
 */
class Counted {
  readonly #known = new Map<string, number>();
  readonly #numbers: number[] = [];
  readonly #owners: number[] = [];
  readonly #kinds: { agent: string; model: string }[] = [];
  readonly #kindOf = new Map<string, number>();

  /** Takes what is said of the messages of an agent. */
  of(agent: string): (usage: MessageUsage) => void {
    return (usage) => {
      const known = this.#known.get(usage.id);
      if (known === undefined) {
        this.#known.set(usage.id, this.#owners.length);
        this.#owners.push(this.#kind(agent, usage.model));
        for (const part of PARTS) this.#numbers.push(usage[part]);
        return;
      }
      for (const [at, part] of PARTS.entries()) {
        const place = known * PARTS.length + at;
        this.#numbers[place] = Math.max(this.#numbers[place] ?? 0, usage[part]);
      }
    };
  }

  #kind(agent: string, model: string): number {
    const key = `${agent}\0${model}`;
    let kind = this.#kindOf.get(key);
    if (kind === undefined) {
      kind = this.#kinds.push({ agent, model }) - 1;
      this.#kindOf.set(key, kind);
    }
    return kind;
  }

  /** The sums of an agent. */
  models(agent: string): ModelTally[] {
    const sums = new Map<number, ModelTally>();
    for (const [kind, it] of this.#kinds.entries()) {
      if (it.agent !== agent) continue;
      const none = { input: 0, output: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0 };
      sums.set(kind, { model: it.model, messages: 0, ...none });
    }
    for (const [message, kind] of this.#owners.entries()) {
      const sum = sums.get(kind);
      if (sum === undefined) continue;
      sum.messages += 1;
      for (const [at, part] of PARTS.entries()) {
        sum[part] += this.#numbers[message * PARTS.length + at] ?? 0;
      }
    }
    return [...sums.values()];
  }
}

/** `NAME=ID,…`, as a person names workers with sessions of their own. */
function workersOf(given: string | undefined): [name: string, session: string][] {
  return (given ?? '').split(',').flatMap((part) => {
    if (part.trim() === '') return [];
    const [name = '', session = ''] = part.split('=').map((word) => word.trim());
    if (name === '' || !isId(session)) {
      throw new UsageError(`a worker is NAME=ID with the id of its session, got '${part}'`);
    }
    return [[name, session]];
  });
}

/** Whether a text is an id that can be part of a path. */
function isId(text: string): boolean {
  return /^[\w-]+$/.test(text);
}

/** The lead, its subagents and its teammates, each with its files. */
async function findAgents(
  host: Host,
  lead: string | undefined,
  named: readonly [string, string][],
): Promise<Agent[]> {
  const projects = `${slashes(host.claudeFolder())}/projects`;
  const folders = host.list(projects).map((name) => `${projects}/${name}`);
  const filesOf = (session: string) =>
    folders.map((folder) => `${folder}/${session}.jsonl`).filter((path) => host.isFile(path));
  const agents: Agent[] = [];
  const add = (name: string, files: readonly string[], missing: string) => {
    const known = agents.find((agent) => agent.role === 'worker' && agent.name === name);
    if (known !== undefined) known.files.push(...files);
    else agents.push({ name, role: 'worker', files: [...files], missing });
  };
  const known = lead !== undefined && isId(lead);
  const main = known ? filesOf(lead) : [];
  agents.push({
    name: 'lead',
    role: 'lead',
    files: main,
    missing: known
      ? `no session file ${lead}.jsonl below ${projects}`
      : 'nobody knows which session leads the run',
  });
  const team = known ? teamOf(host, lead) : undefined;
  const members = team?.members ?? [];
  const taken = new Set(main);
  for (const file of main) {
    const folder = `${file.slice(0, -'.jsonl'.length)}/subagents`;
    for (const name of host.list(folder).filter((it) => it.endsWith('.jsonl'))) {
      const path = `${folder}/${name}`;
      add(await subagentName(host, path, members), [path], '');
    }
  }
  for (const [name, session] of named) {
    const files = filesOf(session);
    for (const file of files) taken.add(file);
    add(name, files, `no session file ${session}.jsonl below ${projects}`);
  }
  const found = team === undefined ? new Map() : await teammateFiles(host, team, main, taken);
  for (const { name } of members) {
    const said = 'no session file names it; --worker says which session is its own';
    add(name, found.get(name) ?? [], said);
  }
  return agents;
}

interface Team {
  name: string;
  members: { name: string; cwd: string }[];
}

/** The team that a session leads. */
function teamOf(host: Host, lead: string): Team | undefined {
  for (const { text } of readTeams(host)) {
    try {
      const config = JSON.parse(text.replace(/^\ufeff/, ''));
      if (config?.leadSessionId !== lead || !Array.isArray(config.members)) continue;
      const members = config.members.filter(
        (it: { name?: unknown; tmuxPaneId?: unknown; agentId?: unknown } | null) =>
          typeof it?.name === 'string' &&
          it.tmuxPaneId !== 'leader' &&
          it.agentId !== config.leadAgentId,
      );
      return {
        name: String(config.name),
        members: members.map((it: { name: string; cwd?: unknown }) => ({
          name: it.name,
          cwd: typeof it.cwd === 'string' ? it.cwd : '',
        })),
      };
    } catch {
      // Of a team whose config cannot be read nobody is known; what has files is counted.
    }
  }
  return undefined;
}

/** Whose file it is: a teammate's within the lead's process, by its name, or a subagent's. */
async function subagentName(
  host: Host,
  path: string,
  members: readonly { name: string }[],
): Promise<string> {
  const id = path.slice(path.lastIndexOf('/') + 1, -'.jsonl'.length).replace(/^agent-/, '');
  const mate = members.find(({ name }) => {
    const rest = id.startsWith(`a${name}-`) ? id.slice(name.length + 2) : '';
    return /^[\da-f]+$/.test(rest);
  });
  if (mate !== undefined) return mate.name;
  const start = utf8Of(await host.readStart(path, START));
  const kind = /"attributionAgent": ?"([^"\\]{1,80})"/.exec(start)?.[1];
  return kind === undefined ? id : `${kind} ${id.slice(0, 8)}`;
}

/** The files of teammates with sessions of their own: their lines name the agent and the team. */
async function teammateFiles(
  host: Host,
  { name, members }: Team,
  main: readonly string[],
  taken: ReadonlySet<string>,
): Promise<Map<string, string[]>> {
  const projects = `${slashes(host.claudeFolder())}/projects`;
  const folders = new Set(main.map((file) => file.slice(0, file.lastIndexOf('/'))));
  for (const { cwd } of members) {
    if (cwd !== '') folders.add(`${projects}/${cwd.replace(/[^A-Za-z0-9]/g, '-')}`);
  }
  const found = new Map<string, string[]>();
  if (members.length === 0) return found;
  for (const folder of folders) {
    for (const file of host.list(folder).filter((it) => it.endsWith('.jsonl'))) {
      const path = `${folder}/${file}`;
      if (taken.has(path)) continue;
      const start = utf8Of(await host.readStart(path, START));
      if (textIn(start, 'teamName') !== name) continue;
      const agent = textIn(start, 'agentName');
      if (agent !== undefined) found.set(agent, [...(found.get(agent) ?? []), path]);
    }
  }
  return found;
}

/** The first text of a member of this name. */
function textIn(text: string, member: string): string | undefined {
  return new RegExp(`"${member}": ?"([^"\\\\]+)"`).exec(text)?.[1];
}

/** What was used, as a person reads it. */
export async function showTokens(report: TokenReport, style: Style): Promise<string> {
  const { table } = await import('../lazy/stage.js');
  const { currency } = report;
  const number = (value: number) => value.toLocaleString('en-US');
  const cost = (value: number | null) => (value === null ? '' : value.toFixed(2));
  const cells = (tokens: TokenSum | null) =>
    tokens === null
      ? ['unavailable', '', '', '']
      : [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write].map(number);
  const rows = report.agents.flatMap((agent) =>
    agent.models.length === 0
      ? [[printable(agent.agent), '', ...cells(null), '']]
      : agent.models.map((it) => [
          printable(agent.agent),
          printable(it.model),
          ...cells(it.tokens),
          it.cost === null ? 'no price' : cost(it.cost),
        ]),
  );
  rows.push(['all', '', ...cells(report.tokens), cost(report.cost)]);
  const head = ['agent', 'model', 'input', 'output', 'cache read', 'cache write', currency];
  const reasons = report.agents.flatMap(({ agent, reason }) =>
    reason === null ? [] : [`${printable(agent)}: unavailable, ${printable(reason)}\n`],
  );
  const unpriced =
    report.unpriced.length === 0 ? '' : `; without ${report.unpriced.map(printable).join(', ')}`;
  const known =
    report.cost === null && report.tokens !== null
      ? `\nknown part: ${report.known_cost.toFixed(2)} ${currency}`
      : '';
  return `${await table(head, rows, ['agent', 'model'], style)}${known}\n${reasons.join('')}prices of ${report.prices_as_of}${unpriced}\n`;
}
