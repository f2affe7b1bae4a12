/** A run on a real disk, and servers of tmux of its own. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../npm-package/bin/okstra.js', import.meta.url));
const teams = new URL('../../fixtures/teams/', import.meta.url);

/** The session of the fixtures. */
export const SESSION = '00000001-0000-4000-8000-000000000000';

/** Where the client writes the config of its team. */
export const CONFIG = 'claude/teams/session-00000001/config.json';

/** A team config as the client wrote it. */
export function teamConfig(name: string): string {
  return readFileSync(new URL(name, teams), 'utf8');
}

interface Ended {
  exit: number | null;
  stdout: string;
  stderr: string;
}

/** A folder with runs, a folder of Claude Code, and servers of tmux. */
export class Desk {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'okstra-panes-')));
  readonly #servers = new Set<string>();
  /** The environment of what is started. */
  env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    OKSTRA_HOME: join(this.folder, 'home'),
    CLAUDE_CONFIG_DIR: join(this.folder, 'claude'),
    TMUX_TMPDIR: this.folder,
    LC_ALL: 'C.UTF-8',
  };

  constructor() {
    this.write('project/.okstra/project.json', '{"projectId":"shop"}');
    this.run(1);
    this.run(2);
  }

  /** Makes the folder of a run; answers its path. */
  run(stage: number): string {
    const path = `project/.okstra/tasks/web/login/runs/implementation/stage-${stage}`;
    const manifest = { sequence: 1, lead: { sessionId: SESSION } };
    this.write(`${path}/manifests/run-manifest-implementation-001.json`, JSON.stringify(manifest));
    return join(this.folder, path);
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8');
  }

  /** Runs tmux on a server of this desk. */
  tmux(server: string, ...words: string[]): string {
    this.#servers.add(server);
    return execFileSync('tmux', ['-u', '-f', '/dev/null', '-L', server, ...words], {
      env: this.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  }

  /** Starts a server with one pane; answers the pane. */
  server(name: string): string {
    return this.tmux(
      name,
      ...[
        'new-session',
        '-d',
        '-x',
        '200',
        '-y',
        '200',
        '-P',
        '-F',
        '#{pane_id}',
        'exec sleep 1000',
      ],
    );
  }

  /** Opens a pane; answers its id. */
  pane(server: string, command = 'exec sleep 1000'): string {
    const pane = this.tmux(server, 'split-window', '-d', '-P', '-F', '#{pane_id}', command);
    this.tmux(server, 'select-layout', 'tiled');
    return pane;
  }

  /** The panes that are there. */
  panes(server: string): string[] {
    return this.tmux(server, 'list-panes', '-a', '-F', '#{pane_id}').split('\n');
  }

  /** The environment of a pane. */
  inside(server: string, pane: string): Record<string, string> {
    const socket = this.tmux(server, 'display-message', '-p', '#{socket_path},#{pid},0');
    return { TMUX: socket, TMUX_PANE: pane };
  }

  /** Runs okstra. */
  okstra(env: Record<string, string>, ...words: string[]): Promise<Ended> {
    const child = spawn(process.execPath, [BIN, ...words], {
      cwd: this.folder,
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended: Ended = { exit: null, stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => {
      ended.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      ended.stderr += text;
    });
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (exit) => resolve({ ...ended, exit }));
    });
  }

  /** Ends the servers and takes the folder away. */
  close(): void {
    for (const server of this.#servers) {
      try {
        this.tmux(server, 'kill-server');
      } catch {
        // It is over already.
      }
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
