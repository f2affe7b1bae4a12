/** Installing, taking out and looking for what is wrong. */
import { version } from '../../../npm-package/package.json';
import type {
  ClaimFacts,
  DoctorFacts,
  DoctorReport,
  Installation,
  InstallationFacts,
  InstalledFile,
  InstallFile,
  LedgerFacts,
  RecordFacts,
  Scope,
} from '../../../npm-package/src/index.js';
import { answered, openBoard, slashes } from '../cli/board.js';
import { readConfig } from '../cli/config.js';
import type { Context } from '../cli/context.js';
import { FINDINGS, OK, UsageError } from '../cli/exit.js';
import { okstraFolder, projectRootOf, readObject } from '../cli/project.js';
import { about, isPlanError, printable, printableJson, say } from '../cli/talk.js';
import { carryOut } from '../host/effects.js';
import { claudeFolder } from '../host/home.js';
import { type Host, HostError } from '../host/host.js';
import { ask, lockFault, sweepNow, wantWritable } from '../host/probe.js';

/** What the commands were called with. */
interface Values {
  scope: string;
  plugin: boolean;
  projectRoot: string | undefined;
  json: boolean;
  dryRun: boolean;
  force: boolean;
}

/** How long a command waits for another that installs, in milliseconds. */
const WAIT = 10_000;

/** The folders of the plugin that are copied; its manifest and its hooks are for plugins alone. */
const COPIED = ['skills', 'agents', 'okstra'];

/** The folder of the package, whose `dist` this file is bundled into. */
const packageFolder = (host: Host) => slashes(host.realPath(`${__dirname}/..`));

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a file, as it is. */
function textOf(host: Host, path: string): string | undefined {
  const bytes = host.readIfThere(path);
  if (bytes === undefined) return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    throw new HostError('unreadable', path, 'not UTF-8', 'save it as UTF-8; nothing was written');
  }
}

/** A file as it is, for the core. */
function fileOf(host: Host, path: string): InstalledFile {
  const found = textOf(host, path);
  return found === undefined ? { path } : { path, found };
}

function recordOf(host: Host): RecordFacts {
  const path = `${slashes(host.home())}/installed.json`;
  const text = textOf(host, path);
  return text === undefined ? { path } : { path, text };
}

/** Where something is installed into. */
function target(values: Values, { host }: Context): { scope: Scope; root: string; at: string } {
  if (values.scope === 'user') {
    return { scope: 'user', root: slashes(claudeFolder(host.env)), at: host.cwd() };
  }
  const here = slashes(host.realPath(values.projectRoot ?? host.cwd()));
  if (!host.exists(here)) throw new UsageError(`there is no folder ${here}`);
  const root = values.projectRoot === undefined ? projectRootOf(host, `${here}/.`) : here;
  return { scope: 'project', root: `${root ?? here}/.claude`, at: root ?? here };
}

/** The files below a folder, relative to it. */
function* filesBelow(host: Host, folder: string): Generator<string> {
  for (const name of host.list(folder)) {
    if (host.isFile(`${folder}/${name}`)) yield name;
    else for (const inner of filesBelow(host, `${folder}/${name}`)) yield `${name}/${inner}`;
  }
}

/** The folders that have to be made for these files, the outermost first. */
function missingFolders(host: Host, paths: readonly string[]): string[] {
  const missing = new Set<string>();
  for (const path of paths) {
    const folders: string[] = [];
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at);
      if (missing.has(folder) || host.exists(folder)) break;
      folders.unshift(folder);
    }
    for (const folder of folders) missing.add(folder);
  }
  return [...missing];
}

/** Does something while no other command of this package installs. */
function alone<T>(context: Context, work: () => T | Promise<T>): Promise<T> {
  const { host } = context;
  // A file that is there anyhow: a lock of its own would be left behind.
  return host.withLockOn(`${packageFolder(host)}/plugin/.claude-plugin/plugin.json`, WAIT, work);
}

/** `okstra install`. */
export async function install(values: Values, context: Context): Promise<number> {
  const { host } = context;
  const { scope, root, at } = target(values, context);
  const api = context.api(0);
  if (values.plugin && !values.dryRun) await addPlugin(scope, at, context);
  return alone(context, () => {
    const record = recordOf(host);
    const plugin = `${packageFolder(host)}/plugin`;
    const before = api
      .readInstalled(record)
      .installations.find((one) => one.scope === scope && one.root === root && !one.plugin);
    const files: InstallFile[] = [];
    for (const folder of values.plugin ? [] : COPIED) {
      for (const name of filesBelow(host, `${plugin}/${folder}`)) {
        const text = textOf(host, `${plugin}/${folder}/${name}`) ?? '';
        files.push({ ...fileOf(host, `${root}/${folder}/${name}`), text });
      }
    }
    const known = new Set(files.map(({ path }) => path));
    for (const { path } of before?.files ?? []) {
      if (!known.has(path)) files.push(fileOf(host, path));
    }
    const settings = fileOf(host, `${root}/settings.json`);
    const written = values.plugin ? [] : [...known, settings.path];
    if (!values.dryRun) sweepNow([record.path, ...written]);
    // Settings of a project are for everybody, wherever they have put it.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in
    const launcher = scope === 'user' ? root : '${CLAUDE_PROJECT_DIR}/.claude';
    const decision = api.planInstall(
      {
        version,
        package: packageFolder(host),
        root,
        launcher: `${launcher}/okstra/hook.cjs`,
        hooks: textOf(host, `${plugin}/hooks/hooks.json`) ?? '',
        files,
        settings,
        record,
        missing_folders: missingFolders(host, [record.path, ...written]),
      },
      { scope, plugin: values.plugin, force: values.force },
    );
    return finish(decision, values, context, 'installed');
  });
}

/** `okstra uninstall`. */
export async function uninstall(values: Values, context: Context): Promise<number> {
  const { host } = context;
  const { scope, root, at } = target(values, context);
  const api = context.api(0);
  const isIt = (one: Installation) =>
    one.scope === scope && one.root === root && one.plugin === values.plugin;
  if (values.plugin && !values.dryRun) {
    const { installations } = api.readInstalled(recordOf(host));
    // One that was installed for another project stays, and with it the marketplace.
    const last = installations.filter(({ plugin }) => plugin).length <= 1;
    if (installations.some(isIt)) await removePlugin(scope, at, last, context);
  }
  return alone(context, () => {
    const record = recordOf(host);
    const before = api.readInstalled(record).installations.find(isIt);
    const paths = before?.files.map(({ path }) => path) ?? [];
    const settings = before?.settings?.path ?? `${root}/settings.json`;
    if (!values.dryRun) sweepNow([record.path, settings, ...paths]);
    const decision = api.planUninstall(
      {
        root,
        files: paths.map((path) => fileOf(host, path)),
        settings: fileOf(host, settings),
        record,
      },
      { scope, plugin: values.plugin, force: values.force },
    );
    return finish(decision, values, context, 'taken out');
  });
}

type Decision = ReturnType<ReturnType<Context['api']>['planInstall']>;

/** Carries a decision out and says what was done. */
function finish(decision: Decision, values: Values, { host }: Context, verb: string): number {
  if (decision.kind !== 'decided') throw new Error('the core asks for what nobody can look at');
  const { effects, answer, warnings } = decision;
  if (!values.dryRun) {
    // What a kill right before its last step left of an earlier time.
    if (verb === 'taken out' && !answer.was_installed) host.removeFolder(host.home());
    for (const effect of effects) if (effect.kind === 'replace') wantWritable(effect.path);
    carryOut(effects, host);
  }
  for (const warning of warnings) say(host, warning);
  if (values.json) {
    host.write(1, `${printableJson({ ...answer, dry_run: values.dryRun })}\n`);
    return OK;
  }
  if (values.dryRun) {
    for (const { path, change } of answer.changes) {
      host.write(1, `${printable(`${change} ${path}`)}\n`);
    }
  }
  const { root, changes } = answer;
  const would = values.dryRun ? 'would be ' : '';
  const how = values.plugin ? ' as a plugin' : '';
  if (verb === 'taken out' && !answer.was_installed) say(host, `not installed${how} in ${root}`);
  else if (changes.length === 0) say(host, `${verb}${how} in ${root} already; nothing to do`);
  else say(host, `${would}${verb}${how} in ${root}; ${changes.length} files changed`);
  return OK;
}

/** The name of the plugin, and the marketplace that comes with the package. */
const PLUGIN = 'okstra@okstra';

async function claude(words: readonly string[], at: string, host: Host) {
  const ran = await ask(['claude', 'plugin', ...words], host.env, at);
  if (ran === undefined) {
    const lines = `claude plugin marketplace add ${packageFolder(host)}' and 'claude plugin install ${PLUGIN}`;
    throw new HostError('other', 'claude', 'no such program', `install it, or run '${lines}'`);
  }
  return ran;
}

/** Runs `claude plugin …`, which has to succeed. */
async function must(words: readonly string[], at: string, host: Host): Promise<void> {
  const { status, stdout, stderr } = await claude(words, at, host);
  if (status === 0) return;
  const said = (stderr.trim() || stdout.toString().trim()).replace(/\s+/g, ' ');
  const what = `claude plugin ${words.join(' ')}`;
  throw new HostError('other', 'claude', `'${what}': ${said}`, 'mend what it says and try again');
}

async function addPlugin(scope: Scope, at: string, { host }: Context): Promise<void> {
  await must(['marketplace', 'add', packageFolder(host)], at, host);
  await must(['install', PLUGIN, '--scope', scope], at, host);
}

async function removePlugin(
  scope: Scope,
  at: string,
  last: boolean,
  { host }: Context,
): Promise<void> {
  // What the person has removed already is as good.
  await claude(['uninstall', PLUGIN, '--scope', scope], at, host);
  if (last) await claude(['marketplace', 'remove', 'okstra'], at, host);
}

const AGAIN = 'npm install --global okstra';

/** `okstra doctor`. */
export async function doctor(values: { json: boolean }, context: Context): Promise<number> {
  const { host } = context;
  let report: DoctorReport;
  try {
    const core = context.api(0).version();
    report = context.api(0).diagnose(await look(context));
    const same = core === version;
    report.rows.splice(1, 0, {
      check: 'wasm',
      health: same ? 'OK' : 'FAIL',
      found: `the module of okstra ${core} loads`,
      mend: same ? null : AGAIN,
    });
    report.ok &&= same;
  } catch (error) {
    // The module itself: without it nothing can be judged.
    if (!(error instanceof Error && error.name === 'OkstraError')) throw error;
    const row = { check: 'wasm', health: 'FAIL' as const, found: error.message };
    report = { rows: [{ ...row, mend: AGAIN }], ok: false };
  }
  if (values.json) host.write(1, `${printableJson(report)}\n`);
  else {
    const lines = report.rows.map(({ check, health, found, mend }) =>
      printable(`${health.padEnd(4)} ${check}: ${found}${mend === null ? '' : `; ${mend}`}`),
    );
    const failed = report.rows.filter(({ health }) => health === 'FAIL').length;
    lines.push(`result: ${report.ok ? 'OK' : `${failed} FAIL`}`);
    host.write(1, `${lines.join('\n')}\n`);
  }
  return report.ok ? OK : FINDINGS;
}

async function look(context: Context): Promise<DoctorFacts> {
  const { host } = context;
  const api = context.api(0);
  const says = async (...words: [string, ...string[]]) => {
    const ran = await ask(words, host.env);
    const line = ran?.status === 0 ? ran.stdout.toString().trim().split('\n')[0] : undefined;
    return line === undefined || line === '' ? undefined : line;
  };
  const [git, tmux, client] = await Promise.all([
    says('git', '--version'),
    says('tmux', '-V'),
    says('claude', '--version'),
  ]);
  const installations: InstallationFacts[] = [];
  let fault: string | undefined;
  try {
    for (const one of api.readInstalled(recordOf(host)).installations) {
      installations.push(await installationOf(one, host));
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    fault = error.message;
  }
  const root = projectRootOf(host, `${slashes(host.realPath(host.cwd()))}/.`);
  const home = slashes(host.home());
  const folders = [host.exists(home) ? home : undefined, root];
  const locks: DoctorFacts['locks'] = [];
  for (const folder of folders) {
    if (folder === undefined) continue;
    const wrong = await lockFault(folder);
    locks.push(wrong === undefined ? { folder } : { folder, fault: wrong });
  }
  const settings = settingsFaults(root, host);
  // A claim is judged by the settings.
  const ledgers: LedgerFacts[] = [];
  const claims: ClaimFacts[] = [];
  for (const { path, plan } of ledgersOf(root, context)) {
    const bytes = host.readIfThere(path);
    if (bytes === undefined) continue;
    const named = plan === undefined ? '' : `--plan ${plan}`;
    ledgers.push({ path, plan: named, bad: api.checkLedger(bytes).bad.length });
    if (plan === undefined || settings.length > 0) continue;
    try {
      claims.push(...(await claimsOf(plan, context)));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const why = isPlanError(error) ? `'okstra plan check ${plan}' finds errors` : message;
      ledgers.push({ path: plan, plan: named, bad: 0, fault: `no claim can be judged: ${why}` });
    }
  }
  return {
    version,
    node: process.version,
    ...(git === undefined ? {} : { git }),
    ...(tmux === undefined ? {} : { tmux }),
    ...(client === undefined ? {} : { client }),
    ...(fault === undefined ? {} : { record_fault: fault }),
    installations,
    settings,
    locks,
    ledgers,
    claims,
  };
}

/** What is wrong with the settings of the person and of the project. */
function settingsFaults(root: string | undefined, host: Host): DoctorFacts['settings'] {
  const faults: DoctorFacts['settings'] = [];
  const project = root === undefined ? undefined : `${okstraFolder(host, root)}/project.json`;
  const all = [() => readConfig(host), () => project && readObject(host, project)];
  for (const read of all) {
    try {
      read();
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      faults.push({ path: error.path, fault: error.message });
    }
  }
  return faults;
}

/** A place okstra was installed into, and whether its hooks find what they start. */
async function installationOf(one: Installation, host: Host): Promise<InstallationFacts> {
  const read = (path: string) => textOf(host, path) ?? null;
  const folder = one.plugin ? `${packageFolder(host)}/plugin` : one.root;
  // As the client starts it: `node` by its name.
  const ran = await ask(['node', `${folder}/okstra/hook.cjs`, '--where'], host.env);
  const found = ran?.status === 0 ? ran.stdout.toString().trim() : '';
  const settings = one.settings === null ? null : read(one.settings.path);
  return {
    installation: one,
    found: one.files.map(({ path }) => read(path)),
    ...(settings === null ? {} : { settings }),
    ...(found === '' ? {} : { package: found }),
  };
}

/** A ledger with its plan, where that is known. */
interface Recorded {
  path: string;
  plan: string | undefined;
}

/** The ledgers of a project's tasks, and of the plans in the folder one is in and the project's. */
function ledgersOf(root: string | undefined, context: Context): Recorded[] {
  const { host } = context;
  const here = slashes(host.realPath(host.cwd()));
  const beside = [...new Set([here, root ?? here])].flatMap((folder) =>
    host
      .list(folder)
      .filter((name) => name.endsWith(RECORDS) && name !== RECORDS)
      .map((name) => `${folder}/${name}`)
      .map((records) => {
        const plan = records.slice(0, -RECORDS.length);
        return {
          path: `${records}/consumers.jsonl`,
          plan: host.isFile(plan) ? plan : undefined,
        };
      }),
  );
  return [...(root === undefined ? [] : ledgersOfTasks(root, context)), ...beside];
}

/** The end of the folder beside a plan that belongs to no task. */
const RECORDS = '.okstra';

function ledgersOfTasks(root: string, context: Context): Recorded[] {
  const { host } = context;
  const tasks = `${okstraFolder(host, root)}/tasks`;
  return host.list(tasks).flatMap((group) =>
    host.list(`${tasks}/${group}`).map((id) => {
      const task = `${tasks}/${group}/${id}`;
      const runs = `${task}/runs/implementation-planning`;
      const [plan] = context
        .api(0)
        .planCandidates({
          project_root: root,
          task_root: task,
          evidence: [],
          latest_report_path: '',
          reports: host.list(`${runs}/reports`),
        })
        .filter((candidate) => host.isFile(candidate));
      return { path: `${runs}/consumers.jsonl`, plan };
    }),
  );
}

async function claimsOf(plan: string, context: Context): Promise<ClaimFacts[]> {
  const nobody = { taskKey: undefined, implKey: undefined, session: undefined, claimId: undefined };
  const board = openBoard({ ...nobody, plan, json: false, dryRun: true }, context);
  const { answer } = await answered(board, (ledger, facts) =>
    about(plan, () => board.api.stageList(board.bytes, ledger, facts)),
  );
  return answer.stages.flatMap(({ stage, claim }) =>
    claim === null || claim.free_with === null
      ? []
      : [{ stage, liveness: claim.life, free: claim.free_with }],
  );
}
