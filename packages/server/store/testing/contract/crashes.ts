/** A process killed in the middle of its commits: what it was told is durable is there, once, without a gap. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Acknowledged, CommitterOptions } from '../committer.ts'
import type { FullStore, TestDatabase } from '../connect.ts'
import { foldLog, keyOf } from '../logFold.ts'
import { scriptedCommit, scriptedCount, scriptedPools } from '../script.ts'
import { wholeLog } from '../wholeLog.ts'

const CYCLES = 10
const COMMITTER = fileURLToPath(new URL('../committer.ts', import.meta.url))

export function crashContract(database: () => TestDatabase): void {
  test(`nothing acknowledged is lost, doubled or torn over ${CYCLES} kills`, async () => {
    const seed = Date.now() % 1_000_003
    let committed = 0
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const options = { address: database().address, chainId: 1, steps: 1_000_000 }
      // The kill falls wherever the process is when the line arrives, which is never twice the same.
      const acknowledged = await killAfter(options, 1 + ((seed * (cycle + 1)) % 29))
      const store = await database().connect()
      const context = `seed ${seed}, cycle ${cycle}`
      committed = await checkHistory(store, committed, acknowledged, context)
      await database().leave()
    }
  })

  test('a second process is refused while this one has the database, and served afterwards', async () => {
    const store = await database().connect()
    await store.commit(scriptedCommit(1, 1))
    const options = { address: database().address, chainId: 1, steps: 1 }
    const refused = await run(options)
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toMatch(new RegExp(`STORE_CLAIMED|Process ${process.pid} is using`))
    expect((await store.readCheckpoint(1))?.step).toBe(1)
    await database().leave()
    expect(await run(options)).toMatchObject({ code: 0 })
    const again = await database().connect()
    expect((await again.readCheckpoint(1))?.step).toBe(2)
  })
}

const start = (options: CommitterOptions): ChildProcess =>
  spawn(process.execPath, [COMMITTER, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'pipe'] })

/** Lets a process commit until it has reported `count` commits, kills it, and returns all it reported. */
async function killAfter(options: CommitterOptions, count: number): Promise<Acknowledged[]> {
  const child = start(options)
  const stderr = textOf(child.stderr as NodeJS.ReadableStream)
  const acknowledged: Acknowledged[] = []
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    acknowledged.push(JSON.parse(line) as Acknowledged)
    if (acknowledged.length === count) child.kill('SIGKILL')
  }
  const [, signal] = await ended
  expect(signal, await stderr).toBe('SIGKILL')
  return acknowledged
}

async function run(options: CommitterOptions): Promise<{ readonly code: unknown; readonly stderr: string }> {
  const child = start(options)
  const [stderr, [code]] = await Promise.all([
    textOf(child.stderr as NodeJS.ReadableStream),
    once(child, 'exit'),
  ])
  return { code, stderr }
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  return text
}

/** Everything that follows from the step the database stands at. Returns that step. */
async function checkHistory(
  store: FullStore,
  before: number,
  acknowledged: readonly Acknowledged[],
  context: string,
): Promise<number> {
  const checkpoint = await store.readCheckpoint(1)
  const step = checkpoint?.step ?? 0
  expect(acknowledged[0]?.step, context).toBe(before + 1)
  expect(step, context).toBeGreaterThanOrEqual(acknowledged.at(-1)?.step ?? 0)

  const log = await wholeLog(store)
  expect(
    log.map(({ sequence }) => sequence),
    context,
  ).toEqual(log.map((_, at) => at + 1))
  expect(await store.readBounds(), context).toEqual({ epoch: 0, oldest: 1, head: log.length })
  let next = 1
  const firsts = Array.from({ length: step }, (_, at) => {
    const first = next
    next += scriptedCount(1, at + 1)
    return first
  })
  expect(log.length, context).toBe(next - 1)
  for (const { step, first } of acknowledged) expect(first, context).toBe(firsts[step - 1])

  const entities = new Map(checkpoint?.entities)
  expect(entities.get('chain'), context).toBe(`step ${step}`)
  expect(entities.size, context).toBe(1 + Math.min(3, step))
  const folded = foldLog(log)
  const { pools } = await store.readPools({ chainId: 1, tokenAddress: null, after: null, limit: 100 })
  expect(pools.length, context).toBe(scriptedPools.length)
  for (const { poolAddress, sequence } of pools)
    expect(sequence ?? undefined, context).toBe(folded.pools.get(keyOf(1, poolAddress))?.sequence)
  return step
}
