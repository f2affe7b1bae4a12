/** `okstra team`: the team of agents that a run's session leads. */
import { command, type Noun } from '../cli/define.js';
import { OK } from '../cli/exit.js';
import { leadOptions } from '../cli/lead.js';
import { printableJson } from '../cli/talk.js';

const { json, dryRun, runDir, session, tmuxServer } = leadOptions;

const reconcile = command({
  summary: 'Mark the teammates whose panes are gone as inactive',
  details:
    "In the config of Claude Code's team whose leading session is the run's, in one replacement; everything else in it stays as it is. Pane ids are only unique on one server of tmux, so nobody is called gone unless the team's server is certain: asked from the leading session, named with --tmux-server, named after the leading process, or with another teammate on it. Without tmux nothing is changed.",
  examples: [
    ['okstra team reconcile --run-dir RUN', 'mark them'],
    ['okstra team reconcile --run-dir RUN --dry-run', 'say who would be marked'],
  ],
  options: { runDir, session, tmuxServer, json, dryRun },
  async run(_args, values, context) {
    const { host } = context;
    const { reconcileTeam, showTeam } = await import('../lazy/lead.js');
    const answer = await reconcileTeam(context, values);
    if (values.json) {
      host.write(1, `${printableJson({ ...answer, dry_run: values.dryRun })}\n`);
    } else host.write(1, showTeam(answer, values.dryRun));
    return OK;
  },
});

export const team: Noun = {
  summary: "Keep the team's config true",
  verbs: { reconcile },
};
