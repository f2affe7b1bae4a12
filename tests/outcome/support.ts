/** The files of `fixtures/outcomes/base.json`: a task whose implementation is complete. */
import { readFileSync } from 'node:fs';

type Files = Record<string, unknown>;

const folder = new URL('../../fixtures/outcomes/', import.meta.url);

/** A case of the fixtures. */
export interface Case {
  about: string;
  files: Files;
  expect: {
    answer?: { completed: boolean };
    error?: string;
    warning?: string;
    unchanged?: true;
    json?: Record<string, unknown>;
    text?: Record<string, string>;
    contains?: Record<string, string[]>;
  };
}

/** Reads a case. */
export function readCase(name: string): Case {
  return JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
}

const base = readCase('base.json').files;

/** The files of a case, below the project's folder: those of the base with its own over them. */
export function filesOf(own: Files = {}): Record<string, string> {
  const all = Object.entries({ ...base, ...own }).filter(([, content]) => content !== null);
  return Object.fromEntries(
    all.map(([path, content]) => [
      path,
      typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`,
    ]),
  );
}

/** The key of the task. */
export const KEY = ['--task-key', 'shop:web:login'];

export const TASK = '.okstra/tasks/web/login';
export const MANIFEST = `${TASK}/task-manifest.json`;
export const CATALOG = '.okstra/discovery/task-catalog.json';
export const PLAN = `${TASK}/runs/implementation-planning/reports/final-report-implementation-planning-001.md`;
