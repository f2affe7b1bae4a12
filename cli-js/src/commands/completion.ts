/** `okstra completion`: the script that teaches a shell the commands. */
import { command, loadAll } from '../cli/define.js';
import { OK } from '../cli/exit.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export const completion = command({
  summary: 'Print the script that completes okstra commands in a shell',
  examples: [
    ['source <(okstra completion bash)', 'for this bash; put it in ~/.bashrc to keep it'],
    ['okstra completion zsh > "$fpath[1]/_okstra"', 'for every new zsh'],
    ['okstra completion fish > ~/.config/fish/completions/okstra.fish', 'for every new fish'],
  ],
  argument: { name: 'SHELL', text: 'the shell', choices: SHELLS },
  options: {},
  async run([shell], _values, { host, commands }) {
    const { completionScript } = await import('../lazy/completion.js');
    host.write(1, completionScript(shell as (typeof SHELLS)[number], await loadAll(commands)));
    return OK;
  },
});
