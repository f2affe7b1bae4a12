/** `okstra tokens`: what a run has used. */
import { colorOption, wantsColor } from '../cli/color.js';
import { command } from '../cli/define.js';
import { OK, UsageError } from '../cli/exit.js';
import { leadOptions, openRun } from '../cli/lead.js';
import { printableJson } from '../cli/talk.js';

const { session, json } = leadOptions;

export const tokens = command({
  summary: 'Sum the tokens of the lead and the workers of a run',
  details:
    "From the session files of Claude Code, by agent and model, each message once. Costs are those of a price list with a date, without discounts and surcharges; a model that is not on it has none. What cannot be found is 'unavailable', never zero.",
  examples: [
    ['okstra tokens --run-dir RUN', 'of a run'],
    ['okstra tokens --session ID --json', 'of a session, for a program'],
  ],
  options: {
    runDir: { ...leadOptions.runDir, text: "the run's folder; without it --session says whose" },
    session,
    worker: {
      kind: 'text',
      value: 'NAME=ID',
      text: 'a worker with a session of its own; several are separated by commas',
    },
    prices: { kind: 'file', value: 'FILE', text: 'another price list, in the form of ours' },
    json,
    color: colorOption,
  },
  async run(_args, values, context) {
    const { host } = context;
    const { collect, showTokens } = await import('../lazy/tokens.js');
    const named = values.session ?? host.env.CLAUDE_CODE_SESSION_ID;
    if (values.runDir === undefined && named === undefined) {
      throw new UsageError('whose tokens? give --run-dir FOLDER or --session ID');
    }
    const lead = values.runDir === undefined ? named : openRun(host, values).session;
    const report = await collect(context, lead, values);
    if (values.json) host.write(1, `${printableJson(report)}\n`);
    else {
      const style = { width: host.width(), color: wantsColor(host, 1, values.color) };
      host.write(1, await showTokens(report, style));
    }
    return OK;
  },
});
