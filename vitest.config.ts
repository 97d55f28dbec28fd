/** Test files run in separate processes, or share some where their suite says so (scripts/suites.ts), two at a time unless it says otherwise; nothing is retried and nothing sleeps. `npm run torture` has more of them. */
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './scripts/longestFirst.ts'

/** They guard against a hang and assert nothing: a machine ten times slower, or one that emulates its anvil, must not meet them. */
const PATIENCE_MS = { test: 900_000, hook: 600_000, poll: 180_000 } as const

/** Workers, and the threads and services that tests start, load code that was compiled once, as an installed Assay does (packages/cli/bin.js). */
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '.cache/compiled')

export default defineConfig({
  test: {
    include: [
      '{packages,scripts,trials,bench}/**/*.test.ts',
      ...(process.env['ASSAY_COMBINED'] === undefined ? [] : ['packages/**/*.torture.ts']),
    ],
    setupFiles: ['packages/server/endToEnd/testing/canarySetup.ts'],
    retry: 0,
    testTimeout: PATIENCE_MS.test,
    hookTimeout: PATIENCE_MS.hook,
    expect: { poll: { timeout: PATIENCE_MS.poll } },
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
  },
})
