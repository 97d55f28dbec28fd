/** Tests run in separate processes, two at a time unless their suite says otherwise; nothing is retried and nothing sleeps. `npm run torture` has more of them. */
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['{packages,scripts,bench}/**/*.test.ts', ...(process.env['ASSAY_COMBINED'] === undefined ? [] : ['packages/**/*.torture.ts'])], setupFiles: ['packages/server/service/testing/canarySetup.ts'], retry: 0, testTimeout: 300_000, hookTimeout: 180_000, pool: 'forks', maxWorkers: 2 },
})
