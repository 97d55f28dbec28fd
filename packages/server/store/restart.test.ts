/** S1: after kill -9 a database of thousands of pools is served again, whole; how soon is a row of bench/restart.ts. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const PROGRAM = fileURLToPath(new URL('./testing/marketCommitter.ts', import.meta.url))
const STARTS = 3
/** Past the first checkpoint, and with a write-ahead log that a start has to read. */
const BLOCKS = 40

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-restart-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function start(path: string) {
  const child = spawn(process.execPath, [PROGRAM, `sqlite:${path}`], { stdio: ['ignore', 'pipe', 'inherit'] })
  return { child, lines: createInterface({ input: child.stdout }), ended: once(child, 'exit') }
}

test('1,500 pools are read back complete, at every start of the process', async () => {
  const path = join(folder, 'assay.db')
  const killed = start(path)
  let last = 0
  for await (const line of killed.lines) {
    last = Number(line)
    if (last === BLOCKS) killed.child.kill('SIGKILL')
  }
  await killed.ended
  expect(last).toBeGreaterThanOrEqual(BLOCKS)
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0)

  for (let at = 0; at < STARTS; at++) {
    const { lines, ended } = start(path)
    const [line] = (await once(lines, 'line')) as [string]
    const ready = JSON.parse(line) as { step: number; pools: number; snapshotSequence: number }
    expect(ready.pools).toBe(1_500)
    expect([last, last + 1]).toContain(ready.step)
    expect(ready.snapshotSequence).toBeGreaterThan(1_500)
    expect((await ended)[0]).toBe(0)
  }
})
