// A real Chromium for tests.
import { delimiter } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { findProgram } from '../scripts/lib.mjs';

/** A real Chromium: the one in `CHROMIUM`, else the one on the PATH. */
export function launch(): Promise<Browser> {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const executablePath = process.env.CHROMIUM ?? findProgram(names);
  if (executablePath === undefined) {
    throw new Error(
      `no Chromium on the PATH (${process.env.PATH?.split(delimiter).length} folders)`,
    );
  }
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
