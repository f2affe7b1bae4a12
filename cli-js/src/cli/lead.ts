/** What is gathered around a run: its folder, who leads it, the team, the panes. */

import type { LeadFacts, Listing, Pane, TeamFile } from '../../../npm-package/src/index.js';
import { type Host, HostError } from '../host/host.js';
import type { Context } from './context.js';
import { UsageError } from './exit.js';
import { slashes } from './paths.js';
import { readObject } from './project.js';
import { utf8Of } from './text.js';

/** The options that commands about a run share. */
export const leadOptions = {
  runDir: { kind: 'file', value: 'FOLDER', text: "the run's folder" },
  session: {
    kind: 'text',
    value: 'ID',
    text: 'the session that leads the run, where its manifest does not say it',
  },
  tmuxServer: {
    kind: 'text',
    value: 'SOCKET',
    text: 'the name or the path of the socket of tmux; default: the one this runs in',
  },
  json: { kind: 'flag', text: 'print one JSON document' },
  dryRun: { kind: 'flag', text: 'say what would happen and change nothing' },
} as const;

/** What a person has named. */
export interface LeadValues {
  runDir?: string | undefined;
  session?: string | undefined;
  tmuxServer?: string | undefined;
}

/** A run. */
export interface Run {
  /** The real path of its folder. */
  folder: string;
  /** Its number in the folder, where its manifest says it. */
  sequence: number | undefined;
  /** The session that leads it. */
  session: string | undefined;
}

const byNumber = new Intl.Collator('en', { numeric: true }).compare;

/** The run of a folder. */
export function openRun(host: Host, { runDir, session }: LeadValues): Run {
  if (runDir === undefined) throw new UsageError('which run? give --run-dir FOLDER');
  const folder = slashes(host.realPath(runDir));
  if (!host.exists(folder) || host.isFile(folder)) {
    throw new HostError('missing', runDir, 'no such folder', "give the run's folder");
  }
  const manifest = latest(host, `${folder}/manifests`, 'run-manifest-');
  const state = latest(host, `${folder}/state`, 'team-state');
  const own = host.env.CLAUDE_CODE_SESSION_ID;
  let led = textAt(state, 'lead', 'sessionId') ?? textAt(manifest, 'lead', 'sessionId');
  // A session may have a name of its own for okstra; teams know it by its id.
  if (led !== undefined && led === host.env.OKSTRA_SESSION) led = own ?? led;
  const number = manifest?.sequence;
  return {
    folder,
    sequence: typeof number === 'number' ? number : undefined,
    session: session ?? led ?? own,
  };
}

/** The newest file of a kind, by its number. */
function latest(host: Host, folder: string, start: string): Record<string, unknown> | undefined {
  const names = host.list(folder).filter((it) => it.startsWith(start) && it.endsWith('.json'));
  const name = names.sort(byNumber).at(-1);
  return name === undefined ? undefined : readObject(host, `${folder}/${name}`);
}

function textAt(object: unknown, ...names: string[]): string | undefined {
  let value = object;
  for (const name of names) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The team configs of this person, as they are. */
export function readTeams(host: Host): TeamFile[] {
  const folder = `${slashes(host.claudeFolder())}/teams`;
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return host
    .list(folder)
    .filter((name) => name.startsWith('session-'))
    .flatMap((name) => {
      const path = `${folder}/${name}/config.json`;
      const bytes = host.readIfThere(path);
      return bytes === undefined ? [] : [{ path, text: decoder.decode(bytes) }];
    });
}

/** The server of tmux that this runs in: `$TMUX` is its socket, its process and the session. */
export function ownServer(host: Host): string | undefined {
  const socket = host.env.TMUX?.replace(/,[^,]*,[^,]*$/, '');
  return socket === undefined || socket === '' ? undefined : socket;
}

/** A server to ask. */
type Asked = Pick<Listing, 'server' | 'own' | 'of_team'>;

/**
 * Everything around a run. The configs are read before the panes are listed: a teammate that
 * appears in between would look gone otherwise.
 */
export async function gather(context: Context, run: Run, values: LeadValues): Promise<LeadFacts> {
  const { host } = context;
  const { TMUX_PANE: pane, CLAUDE_CODE_SESSION_ID: caller } = host.env;
  const teams = run.session === undefined ? [] : readTeams(host);
  const servers = await listServers(host, asked(host, run, teams, values.tmuxServer));
  return {
    run: run.folder,
    ...(run.session === undefined ? {} : { lead_session: run.session }),
    ...(caller === undefined ? {} : { caller_session: caller }),
    ...(pane === undefined ? {} : { caller_pane: pane }),
    teams,
    servers,
  };
}

/** The trace panes that a session has left, of whatever run. */
export async function tracesOf(
  context: Context,
  session: string,
  values: Pick<LeadValues, 'tmuxServer'>,
): Promise<Pane[]> {
  const nowhere = { folder: '', sequence: undefined, session: undefined };
  const around = await gather(context, nowhere, values);
  const facts: LeadFacts = { ...around, lead_session: session };
  return facts.servers.length === 0 ? [] : context.api(0).reapPanes(facts).panes;
}

function asked(host: Host, run: Run, teams: readonly TeamFile[], named?: string): Asked[] {
  const own = ownServer(host);
  const servers: Asked[] = [];
  if (own !== undefined) servers.push({ server: own, own: true, of_team: isOne(own, named) });
  if (named !== undefined && !isOne(own, named)) {
    servers.push({ server: named, own: false, of_team: true });
  }
  // A lead that is not in tmux itself has a server of its own for the team.
  const lead = leadProcess(run, teams);
  const swarm = `claude-swarm-${lead}`;
  if (lead !== undefined && !servers.some(({ server }) => isOne(server, swarm))) {
    servers.push({ server: swarm, own: false, of_team: true });
  }
  return servers;
}

/** Whether two names are of one socket: a name is the end of the path. */
function isOne(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one === other || (!other.includes('/') && one.endsWith(`/${other}`));
}

/** The number of the process that leads the team of a run. */
function leadProcess(run: Run, teams: readonly TeamFile[]): number | undefined {
  for (const { text } of teams) {
    if (run.session === undefined || !text.includes(run.session)) continue;
    try {
      const config = JSON.parse(text.replace(/^\ufeff/, ''));
      const pid = config?.leadProcess?.pid;
      if (config?.leadSessionId === run.session && Number.isSafeInteger(pid)) return pid;
    } catch {
      // The core says what is wrong with it.
    }
  }
  return undefined;
}

async function listServers(host: Host, servers: readonly Asked[]): Promise<Listing[]> {
  if (servers.length === 0) return [];
  const tmux = await host.tmux();
  const mark = host.newId();
  const listed = await Promise.all(
    servers.map(async (server) => {
      const text = await tmux.list(server.server, mark);
      return text === undefined ? [] : [{ ...server, mark, text }];
    }),
  );
  return listed.flat();
}

/** How often a config that is being rewritten is read again. */
const TRIES = 12;

/** Does something with a team config, again where its owner rewrites it in that moment. */
export async function whileRewritten<T>(once: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await once();
    } catch (error) {
      const isChanged = error instanceof HostError && error.reason === 'changed';
      // Half a file: its owner does not replace it in one step.
      const isTorn = (error as { code?: unknown }).code === 'broken-json';
      if (tries === TRIES || !(isChanged || isTorn)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 60));
    }
  }
}

/** Works on the event log of a run while nobody else does. */
export function withLog<T>(
  { host, api }: Context,
  run: Run,
  what: string,
  work: (log: string | undefined) => T | Promise<T>,
): Promise<T> {
  const path = eventLog(run);
  const lock = `${host.home()}/locks/${api(0).lockName(path)}`;
  return host.withLock(lock, `okstra ${what}`, 30_000, () => work(readLog(host, run)));
}

/** The event log of a run. */
export function eventLog({ folder }: Run): string {
  return `${folder}/logs/lead-events.jsonl`;
}

/** The text of a run's event log where there is one. */
export function readLog(host: Host, run: Run): string | undefined {
  const bytes = host.readIfThere(eventLog(run));
  return bytes === undefined ? undefined : utf8Of(bytes);
}
