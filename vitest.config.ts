/** Tests run in separate processes, two at a time unless their suite says otherwise; nothing is retried and nothing sleeps. `npm run torture` has more of them. */
import { defineConfig } from 'vitest/config'

/** The limits below guard against a hang and assert nothing. An anvil of one's own may run emulated, and take seconds to end. */
const SLOWER = process.env['ASSAY_ANVIL'] === undefined ? 1 : 3

export default defineConfig({
  test: { include: ['{packages,scripts,bench}/**/*.test.ts', ...(process.env['ASSAY_COMBINED'] === undefined ? [] : ['packages/**/*.torture.ts'])], setupFiles: ['packages/server/service/testing/canarySetup.ts'], retry: 0, testTimeout: 120_000 * SLOWER, hookTimeout: 60_000 * SLOWER, expect: { poll: { timeout: 30_000 * SLOWER } }, pool: 'forks', maxWorkers: 2 },
})
