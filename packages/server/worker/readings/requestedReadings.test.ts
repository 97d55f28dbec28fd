/** What the engine requests is read; what cannot be read is tried again, and keeps nothing else waiting. */
import { type Address, count, createState, type Hex, ms, type NewPool } from '@assay/engine'
import { expect, test } from 'vitest'
import { until } from '../../endToEnd/testing/until.ts'
import { FeedError } from '../../feed/feedError.ts'
import type { Market } from '../../market/market.ts'
import { QUIET } from '../../ops/testing/quiet.ts'
import { RequestedReadings } from './requestedReadings.ts'

const address = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const HASH: Hex = `0x${'1'.padStart(64, '0')}`
const BLOCK = { number: count(1), hash: HASH, timeMs: ms(1) }
const unreadable = () => new FeedError('ANSWER_MALFORMED', 'node', 'an answer that is none')

const load = (pool: Address) => ({ kind: 'load', pool, why: 'INCOMPLETE' }) as const
const facts = (token: Address) => ({ kind: 'token_facts', token }) as const

test.each([
  { what: 'a token that cannot be read', broken: 'facts' },
  { what: 'a pool that cannot be identified', broken: 'identify' },
  { what: 'a pool that cannot be loaded', broken: 'pools' },
] as const)('$what keeps no other pool unread, and is read when it can be', async ({ broken }) => {
  const [bad, good] = [address(1), address(2)]
  const read = new Set<string>()
  let isBroken = true
  let nowMs = 0
  let tries = 0
  const take = async (part: typeof broken, those: readonly Address[]) => {
    if (isBroken && part === broken && those.includes(bad)) {
      if (those.length === 1) tries++
      throw unreadable()
    }
    for (const each of those) read.add(`${part} ${each}`)
  }
  const requested = new RequestedReadings({
    state: createState({
      chainId: count(1),
      blockTimeMs: ms(12_000),
      stables: [],
      routingAssets: [],
      hasSequencer: false,
    }),
    intake: {
      read: (_means, task) => task(BLOCK),
      facts: async tokens => {
        await take('facts', tokens)
        return new Set(tokens)
      },
      pools: pools =>
        take(
          'pools',
          pools.map(pool => pool.address),
        ),
    },
    market: {
      identify: async (pool: Address) => {
        await take('identify', [pool])
        return { kind: 'pool', pool: { address: pool } as NewPool }
      },
    } as unknown as Market,
    now: () => ms(nowMs),
    signal: new AbortController().signal,
    log: QUIET,
  })
  requested.note([facts(bad), facts(good), load(bad), load(good)])
  await until('the good pool', () => read.has(`pools ${good}`))
  expect(read.has(`${broken} ${bad}`)).toBe(false)
  // Every step asks for what is left; the tries become rare.
  for (nowMs = 0; nowMs < 3_600_000; nowMs += 100) {
    requested.note([])
    if (nowMs % 1000 === 0) await new Promise(setImmediate)
  }
  expect(tries).toBeGreaterThan(10)
  expect(tries).toBeLessThan(30)
  isBroken = false
  nowMs += 300_000
  await until('the other pool', () => {
    requested.note([])
    return read.has(`${broken} ${bad}`) && read.has(`pools ${bad}`)
  })
})
