/** Tests run in separate processes on the two cores; nothing is retried and nothing sleeps. */
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['{packages,scripts,bench}/**/*.test.ts'], retry: 0, testTimeout: 120_000, hookTimeout: 60_000, pool: 'forks', maxWorkers: 2 },
})
