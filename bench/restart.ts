/**
 * How long a database of thousands of pools is unavailable after kill -9, from the start of the next process. Against
 * a limit (S1).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Benchmark } from './benchmark.ts'

const PROGRAM = fileURLToPath(new URL('../packages/server/store/testing/marketCommitter.ts', import.meta.url))
/** Beyond the first checkpoint, and with a write-ahead log that a start has to read. */
const BLOCKS = 40

let folder = ''
let starts = 0
let tookNs = 0

export const benchmarks: readonly Benchmark[] = [
  {
    name: 'store: 1,500 pools served again after kill -9, at most two seconds',
    unit: 'start',
    goal: { ratio: 1, sense: 'at least' },
    limit: { value: 0.5, unit: 'per second' },
    ours: {
      name: 'a process that starts',
      operations: 1,
      calls: 1,
      measuredNs: () => tookNs,
      async run() {
        // Each start finds the state left by the kill: a start cleans up after it.
        const copy = join(folder, `start-${++starts}`)
        cpSync(join(folder, 'killed'), copy, { recursive: true })
        const startedMs = performance.now()
        const { lines, ended } = start(copy)
        await once(lines, 'line')
        tookNs = (performance.now() - startedMs) * 1e6
        await ended
        rmSync(copy, { recursive: true })
      },
    },
    async prepare() {
      folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
      const { child, lines, ended } = start(join(folder, 'killed'))
      for await (const line of lines) if (Number(line) === BLOCKS) child.kill('SIGKILL')
      await ended
    },
    close: () => rmSync(folder, { recursive: true }),
  },
]

function start(at: string) {
  const child = spawn(process.execPath, [PROGRAM, `sqlite:${join(at, 'assay.db')}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return { child, lines: createInterface({ input: child.stdout }), ended: once(child, 'exit') }
}
