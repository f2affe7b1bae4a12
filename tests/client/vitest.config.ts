import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['tests/client/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Clients are large: one at a time.
    fileParallelism: false,
  },
});
