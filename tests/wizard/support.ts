/** A project with a plan, and the wizard in it: as processes, and in a terminal of its own. */
import { execFileSync } from 'node:child_process';
import { planText } from '../cli/plans.js';
import { PLAN, Project } from '../scenarios/project.js';

export { LEDGER, PLAN } from '../scenarios/project.js';

/** A title nobody should write: it steers the terminal and is longer than any line. */
const HOSTILE = `\u001b[31m\u0007Nasty\u202e ${'very long '.repeat(30)}`;

/** Four stages: the first ready, one waiting, one in Korean with an emoji, one hostile. */
const STAGES = planText(
  [
    { title: 'Parse the input', steps: 2 },
    { title: 'Write the report', after: '1', steps: 3 },
    { title: '한글 제목과 이모지 🔑 을 함께 쓰는 스테이지' },
    { title: HOSTILE },
  ],
  '\n- [ ] Approved\n',
);

const REPORTS = PLAN.slice(0, PLAN.lastIndexOf('/'));

/** The newer plan of the task, which has an error. */
export const BROKEN = `${REPORTS}/final-report-implementation-planning-002.md`;

/** A project with a task that has two plans, a second task, and two branches. */
export function shop(): Project {
  const project = new Project(STAGES);
  project.write(
    BROKEN,
    STAGES.replace('| 1 | Parse the input | (none) | 2 |', '| 1 | Parse the input | 9 | 2 |'),
  );
  const manifest = (id: string, title: string, next: string, updatedAt: string) =>
    project.write(
      `.okstra/tasks/web/${id}/task-manifest.json`,
      JSON.stringify({
        ...{ taskKey: `shop:web:${id}`, title, updatedAt },
        workflow: { currentPhase: 'implementation-planning', nextRecommendedPhase: next },
      }),
    );
  manifest('login', '로그인 Log in 🔑', 'implementation', '2026-01-02T00:00:00.000Z');
  manifest('logout', 'Log out', 'error-analysis', '2026-01-01T00:00:00.000Z');
  project.write('.okstra/project.json', '{"projectId":"shop"}\n');
  project.write('brief.md', '# What is wanted\n');
  project.commit('tasks');
  project.git('branch', 'release/2');
  return project;
}

/** A question as the JSON front prints it. */
export interface Question {
  step: string;
  kind: string;
  label: string;
  options: { value: string; label: string; disabled?: string }[];
  default: string[];
  echo_template: string;
  echo?: string;
  error?: string;
  summary?: { step: string; label: string; value: string }[];
}

/** The open question of a screen. */
const last = (screen: string) =>
  screen.includes('◆') ? screen.slice(screen.lastIndexOf('◆')) : '';

/** A terminal: a server of tmux of its own with one pane. */
export class Terminal {
  static #count = 0;
  readonly #name = `okstra-wizard-${process.pid}-${Terminal.#count++}`;
  readonly #project: Project;

  constructor(project: Project, columns: number, command: string, rows = 30) {
    this.#project = project;
    this.#tmux(
      ...['new-session', '-d', '-x', String(columns), '-y', String(rows), '-s', 'main'],
      // What the command leaves on the screen stays to be read, and so does its exit status.
      `${command}; echo "exit $?"; stty -a | grep -o -- '-\\?icanon'; exec sleep 1000`,
    );
  }

  #tmux(...words: string[]): string {
    return execFileSync('tmux', ['-u', '-f', '/dev/null', '-L', this.#name, ...words], {
      cwd: this.#project.root,
      env: { ...this.#project.environment, LC_ALL: 'C.UTF-8', TERM: 'xterm-256color' },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** Presses keys by tmux's names for them. */
  keys(...names: string[]): void {
    this.#tmux('send-keys', '-t', 'main', ...names);
  }

  /** Types a text. */
  type(text: string): void {
    this.#tmux('send-keys', '-t', 'main', '-l', text);
  }

  /** What is on the screen. */
  screen(): string {
    return this.#tmux('capture-pane', '-p', '-t', 'main').trimEnd();
  }

  /** The screen once it holds a text. */
  until(text: string): Promise<string> {
    return this.#when((screen) => screen.includes(text), `never seen: ${text}`);
  }

  /** The screen once the open question holds a text. */
  asks(text: string): Promise<string> {
    return this.#when((screen) => last(screen).includes(text), `never asked: ${text}`);
  }

  /** The screen once the open question holds a text no more. */
  gone(text: string): Promise<string> {
    return this.#when((screen) => !last(screen).includes(text), `still there: ${text}`);
  }

  async #when(holds: (screen: string) => boolean, what: string): Promise<string> {
    const end = Date.now() + 20_000;
    for (;;) {
      const screen = this.screen();
      if (holds(screen)) return screen;
      if (Date.now() > end) throw new Error(`${what}\n${screen}`);
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  }

  close(): void {
    try {
      this.#tmux('kill-server');
    } catch {
      // It is over already.
    }
  }
}
