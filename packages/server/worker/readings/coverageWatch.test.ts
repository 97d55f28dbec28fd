/** The depth of other markets, as files on the disk tell it, reaches a real engine. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createState, DEFAULT_POLICY, type Input, type State, step } from '@assay/engine'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../ops/clock.ts'
import type { ChainConfig, CoverageSource } from '../../config/config.ts'
import { configFrom } from '../../config/loadConfig.ts'
import { FaultLog } from '../../config/faultLog.ts'
import { until } from '../../endToEnd/testing/until.ts'
import { CoverageWatch } from './coverageWatch.ts'
import { setupOf } from '../setupOf.ts'

const CHAIN = 1
const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
const NOW = Date.now()

let folder: string
let abort: AbortController
let state: State
let applied: Input[]
let warnings: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-coverage-'))
  abort = new AbortController()
  applied = []
  warnings = []
  const document = { chains: [{ chain_id: CHAIN, endpoints: [{ name: 'a', url: 'http://127.0.0.1:1' }] }] }
  const [chain] = configFrom(new FaultLog(), document, folder).chains as [ChainConfig]
  state = createState(setupOf(chain), DEFAULT_POLICY)
})
afterEach(() => {
  abort.abort()
  rmSync(folder, { recursive: true })
})

const sourcesOf = (...sources: readonly object[]): readonly CoverageSource[] => {
  const shape = new FaultLog()
  const { coverage } = configFrom(shape, { coverage: { sources } }, folder)
  expect(shape.faults.filter(({ path }) => path.startsWith('coverage'))).toEqual([])
  return coverage
}

const asset = (usd: string, chainId = CHAIN) => ({
  chain_id: chainId,
  token_address: WETH,
  external_depth_usd: usd,
})
/** In one go: a file seen half written would be one more that is wrong. */
const write = (document: unknown) => {
  const text = typeof document === 'string' ? document : JSON.stringify(document)
  writeFileSync(join(folder, 'next.json'), text)
  renameSync(join(folder, 'next.json'), join(folder, 'depth.json'))
}
const depth = () => state.coverage.get(WETH)?.depthMicrousd ?? null

type Lane = (task: () => Promise<void>) => Promise<void>

async function watch(sources: readonly CoverageSource[], inLane: Lane = task => task()): Promise<void> {
  await new CoverageWatch({
    sources,
    state,
    apply: async input => {
      applied.push(input)
      return step(state, input)
    },
    inLane,
    clock: systemClock,
    signal: abort.signal,
    log: {
      info: () => undefined,
      error: () => undefined,
      warn: (_, fields) => warnings.push(String(fields?.['error'])),
    },
    lookMs: 10,
  }).start()
}

test('a file is read at the start and again when its contents change, and applied only then', async () => {
  write({ as_of_ms: NOW, assets: [asset('25000000'), asset('7', 137)] })
  await watch(sourcesOf({ kind: 'file', path: 'depth.json' }))
  expect(depth()).toBe(25_000_000_000_000n)
  write({ as_of_ms: NOW + 1, assets: [asset('30000000')] })
  await until('the new depth', () => depth() === 30_000_000_000_000n)
  expect(state.coverage.get(WETH)?.asOfMs).toBe(NOW + 1)
  write({ as_of_ms: NOW + 2, assets: [] })
  await until('no depth', () => depth() === null)
  expect(applied).toHaveLength(3)
  expect(warnings).toEqual([])
})

test('a file that is gone, truncated or wrong leaves the previous values, and is reported once', async () => {
  write({ as_of_ms: NOW, assets: [asset('25000000')] })
  await watch(sourcesOf({ kind: 'file', path: 'depth.json' }))
  write('{"as_of_ms":')
  await until('reported', () => warnings.length === 1)
  write({ as_of_ms: 5, assets: [asset('a lot')] })
  await until('reported again', () => warnings.length === 2)
  expect(warnings[1]).toMatch(/as_of_ms: received 5, expected an integer from .* in Unix milliseconds/)
  expect(warnings[1]).toMatch(/assets\[0\]\.external_depth_usd: received "a lot"/)
  rmSync(join(folder, 'depth.json'))
  await until('reported a third time', () => warnings.length === 3)
  expect(depth()).toBe(25_000_000_000_000n)
  write({ as_of_ms: NOW, assets: [asset('1')] })
  await until('the new depth', () => depth() === 1_000_000n)
  expect(warnings).toHaveLength(3)
})

test('checks never overlap: while one waits for its turn, no other begins', async () => {
  write({ as_of_ms: NOW, assets: [asset('25000000')] })
  let [waiting, most, turns] = [0, 0, 0]
  await watch(sourcesOf({ kind: 'file', path: 'depth.json' }), async task => {
    most = Math.max(most, ++waiting)
    // Several looks are due by then.
    await new Promise(resolve => setTimeout(resolve, 50))
    await task()
    waiting -= 1
    turns += 1
  })
  await until('some turns', () => turns > 3)
  expect(most).toBe(1)
})

test('a chain starts without its file, and reads it once it exists', async () => {
  await watch(sourcesOf({ kind: 'file', path: join(folder, 'depth.json') }))
  expect(warnings).toHaveLength(1)
  expect(depth()).toBeNull()
  write({ as_of_ms: NOW, assets: [asset('2')] })
  await until('the depth', () => depth() === 2_000_000n)
})

test('of two sources for an asset the later counts, and values applied before a restart are not applied again', async () => {
  write({ as_of_ms: NOW, assets: [asset('9')] })
  const sources = sourcesOf(
    { kind: 'static', as_of_ms: NOW, assets: [asset('3')] },
    { kind: 'file', path: 'depth.json' },
  )
  await watch(sources)
  await watch(sources)
  expect(depth()).toBe(9_000_000n)
  expect(applied).toHaveLength(1)
})

test('values no longer in the configuration are removed', async () => {
  await watch(sourcesOf({ kind: 'static', as_of_ms: NOW, assets: [asset('3')] }))
  await watch(sourcesOf())
  expect(depth()).toBeNull()
})
