/** How a chain begins: a token of the configuration that cannot be read makes nobody wait but itself. */
import { expect, test, vi } from 'vitest'
import { FeedError } from '../feed/feedError.ts'
import type { ChainConfig } from '../config/config.ts'
import type { Address } from '../ops/hex.ts'
import { QUIET } from '../ops/testing/quiet.ts'
import { bootstrap } from './bootstrap.ts'

const token = (at: number): Address => `0x${at.toString(16).padStart(40, '0')}`
const COUNT = 230
/** The third of the first part. */
const BAD = token(2)

/** `enrolNow` of a catalogue with one bad token; what is in. */
function begin(whenAlone: () => Promise<void>, signal: AbortSignal) {
  const enrolled = new Set<Address>()
  const enrolNow = async (some: readonly Address[]): Promise<void> => {
    if (some.includes(BAD))
      await (some.length === 1
        ? whenAlone()
        : Promise.reject(new FeedError('RPC_ERROR', 'node', 'no answer')))
    for (const each of some) enrolled.add(each)
  }
  const tokens = Array.from({ length: COUNT }, (_, at) => token(at))
  const begun = bootstrap({
    chain: { chainId: 1, stables: [], routingAssets: [], pools: [], tokens } as unknown as ChainConfig,
    coverage: { start: async () => undefined } as never,
    store: { readFoundPools: async () => [] },
    enrolments: { enrolNow, know: async () => new Set(), knowPools: async () => new Map() } as never,
    upkeep: { readStables: async () => undefined } as never,
    inLane: task => task(),
    onAnchored: () => undefined,
    signal,
    log: QUIET,
  })
  return { begun, enrolled }
}

test('a token that hangs delays none of its part and none behind it', async () => {
  const stop = new AbortController()
  const { begun, enrolled } = begin(() => new Promise(() => undefined), stop.signal)
  begun.catch(() => undefined)
  await vi.waitFor(() => expect(enrolled.size).toBe(COUNT - 1), { timeout: 60_000 })
  expect(enrolled.has(BAD)).toBe(false)
  stop.abort()
})

test('a failed token is requested again after the others', async () => {
  let tries = 0
  const { begun, enrolled } = begin(async () => {
    if (++tries < 3) throw new FeedError('RPC_ERROR', 'node', 'no answer')
  }, new AbortController().signal)
  await begun
  expect(enrolled.size).toBe(COUNT)
  expect(tries).toBe(3)
})
