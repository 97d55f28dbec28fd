/** Processes that commit the scripted history and are killed, and what must hold of what they leave behind. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { Acknowledged, CommitterOptions } from './committer.ts'
import type { FullStore } from './connect.ts'
import { type FailPoint, VARIABLE } from './failPoint.ts'
import { foldLog, keyOf } from './logFold.ts'
import { scriptedCount, scriptedPools } from './script.ts'
import { wholeLog } from './wholeLog.ts'

const COMMITTER = fileURLToPath(new URL('./committer.ts', import.meta.url))
const FAIL_POINT = new URL('./failPoint.ts', import.meta.url).href

/** With these, a program dies at a fail point. */
export const dyingAt = (point: FailPoint): Record<string, string> => ({
  NODE_OPTIONS: `--import ${FAIL_POINT}`,
  [VARIABLE]: JSON.stringify(point),
})

const start = (options: CommitterOptions, point: FailPoint | null): ChildProcess =>
  spawn(process.execPath, [COMMITTER, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...(point === null ? {} : dyingAt(point)) },
  })

/** Lets a process commit until it has reported `count` commits, kills it, and returns all it reported. */
export async function killAfter(options: CommitterOptions, count: number): Promise<Acknowledged[]> {
  return untilKilled(start(options, null), (child, acknowledged) => {
    if (acknowledged === count) child.kill('SIGKILL')
  })
}

/** Lets a process commit until it kills itself, at a fail point or because its options say so. */
export async function dieAt(options: CommitterOptions, point: FailPoint | null): Promise<Acknowledged[]> {
  return untilKilled(start(options, point), () => undefined)
}

async function untilKilled(
  child: ChildProcess,
  onLine: (child: ChildProcess, acknowledged: number) => void,
): Promise<Acknowledged[]> {
  const stderr = textOf(child.stderr as NodeJS.ReadableStream)
  const acknowledged: Acknowledged[] = []
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    // The last line of a killed process may be half a line: that one was not said.
    if (!line.endsWith('}')) continue
    acknowledged.push(JSON.parse(line) as Acknowledged)
    onLine(child, acknowledged.length)
  }
  const [, signal] = await ended
  expect(signal, await stderr).toBe('SIGKILL')
  return acknowledged
}

export async function runCommitter(
  options: CommitterOptions,
): Promise<{ readonly code: unknown; readonly stderr: string }> {
  const child = start(options, null)
  child.stdout?.resume()
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

/** Checks everything that follows from the database's current step. Returns that step. */
export async function checkHistory(
  store: FullStore,
  before: number,
  acknowledged: readonly Acknowledged[],
  context: string,
): Promise<number> {
  const checkpoint = await store.readCheckpoint(1)
  const step = checkpoint?.step ?? 0
  if (acknowledged.length > 0) expect(acknowledged[0]?.step, context).toBe(before + 1)
  // Whatever was acknowledged is there; one more may be, of which the process could not tell.
  const durable = acknowledged.at(-1)?.step ?? before
  expect([durable, durable + 1], context).toContain(step)

  const firsts: number[] = []
  let next = 1
  for (let at = 1; at <= step; at++) {
    firsts.push(next)
    next += scriptedCount(1, at)
  }
  for (const { step, first } of acknowledged) expect(first, context).toBe(firsts[step - 1])
  const log = await wholeLog(store)
  const { epoch, oldest, head } = await store.readBounds()
  expect([epoch, head, log.length], context).toEqual([0, next - 1, next - oldest])
  expect(
    log.map(({ sequence }) => sequence),
    context,
  ).toEqual(log.map((_, at) => oldest + at))

  const entities = new Map(checkpoint?.entities)
  expect(entities.get('chain'), context).toBe(step === 0 ? undefined : JSON.stringify(`step ${step}`))
  expect(entities.size, context).toBe(step === 0 ? 0 : 1 + Math.min(3, step))
  // Of a log that was cut, the fold knows only what was said since: an older state is not contradicted.
  const folded = oldest === 1 ? foldLog(log) : null
  const { pools } = await store.readPools({ chainId: 1, tokenAddress: null, after: null, limit: 100 })
  expect(pools.length, context).toBe(step === 0 ? 0 : scriptedPools.length)
  for (const { poolAddress, sequence, state } of folded === null ? [] : pools) {
    const expected = folded?.pools.get(keyOf(1, poolAddress))
    expect(sequence, context).toBe(expected?.sequence ?? null)
    expect(state === null ? null : JSON.parse(state), context).toEqual(expected?.state ?? null)
  }
  return step
}
