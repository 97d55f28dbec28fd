/** How long `npm start` takes until it has prices: a new world, and the service on it. Against a limit. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from '../packages/cli/testing/session.ts'
import type { Benchmark } from './benchmark.ts'

export type Started = { readonly url: string; readonly key: string; close(): Promise<void> }

/** The local world and the service on it in a separate folder, running and with prices. */
export async function startHere(): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  const world = open('a pipe', ['start', '--port', '0', '--json'], { cwd: folder })
  const [line] = await world.until(/^\{.*\}$/m)
  return {
    ...(JSON.parse(line) as { url: string; key: string }),
    async close() {
      world.interrupt()
      await world.ended
      rmSync(folder, { recursive: true })
    },
  }
}

let tookNs = 0

export const benchmarks: readonly Benchmark[] = [
  {
    name: 'start: a new local world with prices, at most a minute',
    unit: 'start',
    goal: { ratio: 1, sense: 'at least' },
    limit: { value: 1 / 60, unit: 'per second' },
    ours: {
      name: 'npm start',
      operations: 1,
      calls: 1,
      measuredNs: () => tookNs,
      async run() {
        const startedMs = performance.now()
        const world = await startHere()
        tookNs = (performance.now() - startedMs) * 1e6
        await world.close()
      },
    },
    rounds: 3,
  },
]
