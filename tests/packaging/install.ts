// Packs the package as it would be published and installs it into an empty folder, once for all
// tests here: they see what a person gets, never the source tree.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

const root = fileURLToPath(new URL('../..', import.meta.url));

declare module 'vitest' {
  interface ProvidedContext {
    /** An empty project that has the packed package installed. */
    consumer: string;
  }
}

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'okstra-packed-'));
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', [...args, '--loglevel=error'], {
      cwd,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  npm(join(root, 'npm-package'), 'pack', '--pack-destination', folder);
  const [tarball] = readdirSync(folder);
  if (tarball === undefined) {
    throw new Error('npm pack made no tarball');
  }
  const consumer = join(folder, 'consumer');
  mkdirSync(consumer);
  writeFileSync(join(consumer, 'package.json'), '{ "name": "consumer", "private": true }\n');
  // The one dependency comes from npm's cache where it is there, else from the registry.
  npm(consumer, 'install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, tarball));
  project.provide('consumer', consumer);
  return () => rmSync(folder, { recursive: true, force: true });
}
