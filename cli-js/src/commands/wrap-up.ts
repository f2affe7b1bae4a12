/** `okstra wrap-up`: the end of a run. */
import { command } from '../cli/define.js';
import { OK } from '../cli/exit.js';
import { languageOption } from '../cli/language.js';
import { leadOptions } from '../cli/lead.js';
import { printableJson, say } from '../cli/talk.js';

export const wrapUp = command({
  summary: 'Say what is left of a run and what to ask about it, and carry the answer out',
  details:
    'Panes and teammates are one question with one answer. Without an answer the question is printed, or nothing where nothing is left. With yes the token usage is recorded, the panes are closed, the team is reconciled, and the messages are printed that the lead has to send, one a line, each the input of its tool SendMessage; the panes of living teammates close when these end. With no it says what stays and how to remove it later.',
  examples: [
    ['okstra wrap-up --run-dir RUN', 'the question, if there is one'],
    ['okstra wrap-up --run-dir RUN --answer yes', 'close and dismiss'],
  ],
  options: {
    ...leadOptions,
    answer: { kind: 'text', value: 'WORD', text: "the person's answer: yes or no" },
    language: languageOption,
  },
  async run(_args, values, context) {
    const { host } = context;
    const { showWrapUp, wrapUp } = await import('../lazy/lead.js');
    const answer = await wrapUp(context, values);
    for (const warning of answer.warnings) say(host, `warning: ${warning}`);
    if (values.json) {
      host.write(1, `${printableJson({ ...answer, dry_run: values.dryRun })}\n`);
      return OK;
    }
    host.write(1, showWrapUp(answer));
    if (!answer.ask) say(host, 'nothing is left');
    return OK;
  },
});
