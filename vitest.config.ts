import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'certs/**/*.test.ts',
      'fixtures/**/*.test.ts',
      'conformance/**/*.test.ts',
      'docs/**/*.test.ts',
    ],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores in CI; tests that kill processes and count directories want a quiet machine more than parallelism.
    maxWorkers: 2,
  },
});
