import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Real processes and a real browser, on machines that may be busy.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Most tests wait for processes of their own; one worker would leave cores idle.
    maxWorkers: Math.max(2, availableParallelism()),
    projects: [
      {
        extends: true,
        test: {
          name: 'packaging',
          include: ['tests/packaging/**/*.test.ts'],
          globalSetup: ['tests/packaging/install.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'product',
          setupFiles: ['tests/environment.ts'],
          include: ['tests/**/*.test.ts'],
          // Real clients are started on their own: scripts/test-client.mjs.
          exclude: ['tests/packaging/**', 'tests/client/**'],
        },
      },
    ],
  },
});
