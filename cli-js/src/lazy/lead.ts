/** The team of a run and its wrap-up. */
import type {
  LeadFacts,
  Pane,
  TeamAnswer,
  TokenReport,
  WrapUpAnswer,
} from '../../../npm-package/src/index.js';
import type { Context } from '../cli/context.js';
import { languageOf } from '../cli/language.js';
import {
  eventLog,
  gather,
  type LeadValues,
  openRun,
  type Run,
  readLog,
  whileRewritten,
  withLog,
} from '../cli/lead.js';

export { tracesOf } from '../cli/lead.js';

import { printable } from '../cli/talk.js';
import { carryOut } from '../host/effects.js';
import { HostError } from '../host/host.js';

/** What was done about a team. */
export interface Reconciled extends TeamAnswer {
  warnings: string[];
}

/** Marks the teammates whose panes are gone. */
export function reconcileTeam(
  context: Context,
  values: LeadValues & { dryRun: boolean },
): Promise<Reconciled> {
  return reconcile(context, openRun(context.host, values), values);
}

function reconcile(
  context: Context,
  run: Run,
  values: LeadValues & { dryRun: boolean },
): Promise<Reconciled> {
  return whileRewritten(async () => {
    const decision = context.api(0).reconcileTeam(await gather(context, run, values));
    if (decision.kind === 'needs') throw new Error('a team needs no more facts');
    if (!values.dryRun) carryOut(decision.effects, context.host);
    return { ...decision.answer, warnings: decision.warnings };
  });
}

/** What was done about a team, as a person reads it. */
export function showTeam(answer: Reconciled, dryRun: boolean): string {
  if (answer.team === null) return 'the session leads no team\n';
  const verb = dryRun ? 'would be marked' : 'marked';
  const marked = answer.marked.map((name) => `${verb} as inactive: ${printable(name)}\n`).join('');
  const notes = answer.warnings.map((warning) => `${printable(warning)}\n`).join('');
  return `${marked === '' ? 'nothing to mark\n' : marked}${notes}`;
}

/** The end of a run, carried out as far as it was answered. */
export interface WrappedUp extends WrapUpAnswer {
  /** The panes that were closed. */
  closed: Pane[];
  /** The teammates that were marked as inactive. */
  marked: string[];
  /** The progress line of the dismissal. */
  progress: string | null;
  /** The token usage, collected before anything was closed. */
  tokens: TokenReport | null;
  warnings: string[];
}

type WrapUpValues = LeadValues & {
  answer: string | undefined;
  language: 'auto' | 'en' | 'ko';
  dryRun: boolean;
};

/** Gathers what is left of a run and carries the answer out. */
export async function wrapUp(context: Context, values: WrapUpValues): Promise<WrappedUp> {
  const { host } = context;
  const run = openRun(host, values);
  const log = readLog(host, run);
  const decided = await whileRewritten(async () => {
    const facts: LeadFacts = await gather(context, run, values);
    return context.api(0).wrapUp(facts, {
      language: languageOf(values.language, host.env),
      ...(values.answer === undefined ? {} : { answer: values.answer }),
      ...(log === undefined ? {} : { log }),
      ...(run.sequence === undefined ? {} : { sequence: run.sequence }),
    });
  });
  const done: WrappedUp = {
    ...decided,
    closed: [],
    marked: [],
    progress: null,
    tokens: null,
    warnings: [],
  };
  if (decided.agreed !== true || values.dryRun) return done;
  // Before any teardown: what is counted is what the run has used, and nothing is lost by it.
  done.tokens = await recordTokens(context, run, done.warnings);
  if (decided.close.length > 0) done.closed = await (await host.tmux()).close(decided.close);
  if (decided.report_teardown) done.progress = await reportTeardown(context, run);
  if (decided.team !== null) {
    const { marked, warnings } = await reconcile(context, run, values);
    done.marked = marked;
    done.warnings.push(...warnings);
  }
  return done;
}

/** Counts the tokens of a run and keeps the sum in its event log. */
async function recordTokens(
  context: Context,
  run: Run,
  warnings: string[],
): Promise<TokenReport | null> {
  const { host } = context;
  try {
    const { collect } = await import('../lazy/tokens.js');
    const report = await collect(context, run.session, {});
    await withLog(context, run, 'wrap-up', () => {
      host.append(eventLog(run), JSON.stringify({ at: host.now(), event: 'tokens', ...report }));
    });
    return report;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    warnings.push(`the tokens were not recorded: ${error.path}: ${error.message}`);
    return null;
  }
}

function reportTeardown(context: Context, run: Run): Promise<string> {
  const { host } = context;
  return withLog(context, run, 'wrap-up', (log) => {
    const decision = context.api(0).reportProgress({
      checkpoint: 'teardown',
      run: run.folder,
      now: host.now(),
      ...(log === undefined ? {} : { log }),
      ...(run.sequence === undefined ? {} : { sequence: run.sequence }),
    });
    if (decision.kind === 'needs') throw new Error('a progress line needs no facts');
    carryOut(decision.effects, host);
    return decision.answer.line;
  });
}

/** The end of a run, as the lead reads it. */
export function showWrapUp(answer: WrappedUp): string {
  if (answer.agreed === null) return answer.question === null ? '' : `${answer.question}\n`;
  if (!answer.agreed) return answer.stays.map((line) => `${line}\n`).join('');
  const { closed, marked, messages, progress } = answer;
  const progressLine = progress === null ? '' : `${progress}\n`;
  const summary = `closed ${closed.length} of ${answer.close.length} panes, marked ${marked.length} teammates as inactive\n`;
  const intro = messages.length === 0 ? '' : 'send with SendMessage:\n';
  const lines = messages.map((message) => `${printable(JSON.stringify(message))}\n`).join('');
  return `${progressLine}${summary}${intro}${lines}`;
}
