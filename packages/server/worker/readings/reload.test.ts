/** What a start at the head made unknown is read again: in groups, whatever cannot be read, and prices come last. */
import {
  type Address,
  count,
  createState,
  type Hex,
  type LoadedPool,
  ms,
  type NewPool,
  type State,
  step,
} from '@assay/engine'
import { afterEach, describe, expect, it } from 'vitest'
import { FeedError } from '../../feed/feedError.ts'
import type { Market } from '../../market/market.ts'
import type { ChainConfig } from '../../config/config.ts'
import type { Log } from '../../ops/log.ts'
import { until } from '../../endToEnd/testing/until.ts'
import { Intake } from './intake.ts'
import { Lane } from '../lane.ts'
import { RecentBlocks } from '../recentBlocks.ts'
import { Reload } from './reload.ts'

const address = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const hash = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const USDC = address(1)
const NOW = ms(1_700_000_000_000)
const block = (number: number) => ({ number: count(number), hash: hash(number), timeMs: ms(NOW + number) })

const born = (n: number): NewPool => ({
  address: address(1000 + n),
  deploymentId: 'v2',
  token0: USDC,
  token1: address(5000 + n),
  fee: { family: 'amm_v2', numerator: 997n, denominator: 1000n },
})
const loaded = (pool: NewPool): LoadedPool => ({
  pool,
  createdBlock: null,
  createdMs: null,
  state: { family: 'amm_v2', reserve0: 10n ** 12n, reserve1: 10n ** 24n },
  ticks: null,
  lastTradeMs: null,
})

let abort = new AbortController()
afterEach(() => {
  abort.abort()
  abort = new AbortController()
})

/** A chain with so many pools, and a worker's means to read it again. */
function chainOf(pools: number) {
  const state: State = createState({
    chainId: count(1),
    blockTimeMs: ms(12_000),
    stables: [{ token: USDC, feed: null }],
    routingAssets: [],
    hasSequencer: false,
  })
  const apply = async (input: Parameters<typeof step>[1]) => {
    const result = step(state, input)
    reload.note(result.needs)
    return result
  }
  const all = Array.from({ length: pools }, (_, n) => born(n))
  const said: string[] = []
  const unreadable = new Set<Address>()
  const failure = { code: 'ENDPOINT_UNREACHABLE' as 'ENDPOINT_UNREACHABLE' | 'NO_ENDPOINT' }
  const refuse = (asked: readonly Address[]): void => {
    if (asked.some(each => unreadable.has(each))) throw new FeedError(failure.code, null, 'it cannot be read')
  }
  const market = {
    readStables: async () => {
      said.push('stables')
      return { answers: [], sequencer: null }
    },
    readToken: async (token: Address) => {
      refuse([token])
      return { token, decimals: count(18), reason: null, symbol: null, name: null }
    },
    load: async (some: readonly ReturnType<typeof born>[]) => {
      refuse(some.map(each => each.address))
      said.push(`${some.length} pools`)
      return { loaded: some.map(loaded), failed: [] }
    },
  } as unknown as Market
  const log: Log = { info: () => {}, warn: message => said.push(message), error: () => {} }
  const lane = new Lane()
  const reload: Reload = new Reload({
    chain: {
      chainId: 1,
      stables: [{ tokenAddress: USDC, usdFeed: null }],
      routingAssets: [],
    } as unknown as ChainConfig,
    state,
    market,
    enrolments: {
      know: async tokens => {
        said.push(`${tokens.length} searched`)
        return new Set(tokens)
      },
    },
    requested: { note: needs => said.push(`${needs.length} left to others`) },
    intake: new Intake({
      state,
      recent: new RecentBlocks(state),
      apply,
      inLane: task => lane.run(task),
      now: () => NOW,
      log,
    }),
    apply,
    now: () => NOW,
    onReloaded: async () => {
      said.push('prices')
    },
    onFailure: error => said.push(String(error)),
    signal: abort.signal,
    log,
  })
  step(state, {
    kind: 'block',
    block: { ...block(1), parentHash: hash(0), proof: 'receipts', events: [] },
    atMs: NOW,
  })
  const sides = new Set(all.flatMap(({ token0, token1 }) => [token0, token1]))
  const facts = [...sides].map(token => ({
    token,
    decimals: count(18),
    reason: null,
    symbol: null,
    name: null,
  }))
  step(state, { kind: 'token_facts', block: block(1), facts, atMs: NOW })
  step(state, { kind: 'load', block: block(1), pools: all.map(loaded), atMs: NOW })
  const rebase = async () => {
    reload.rebased()
    const health = { status: 'GAP', record: {} } as const
    await apply({ kind: 'rebase_head', block: block(900), ancestor: hash(1), health, atMs: NOW })
    reload.start()
  }
  const unknown = () => [...state.pools.values()].filter(pool => pool.state.isBeforeGap).length
  return { state, reload, said, unreadable, failure, rebase, unknown, pools: all }
}

describe('after a start at the head', () => {
  it('stables are read, then pools in groups of 50, then prices are published, then new pools are looked up', async () => {
    const { reload, said, rebase, unknown } = chainOf(120)
    await rebase()
    expect(reload.isRebasing).toBe(true)
    await until('prices', () => said.includes('1 searched'))
    expect(said).toEqual(['stables', '50 pools', '50 pools', '20 pools', 'prices', '1 searched'])
    expect([reload.isRebasing, unknown()]).toEqual([false, 0])
  })

  it('a pool and a token that cannot be read exclude no other', async () => {
    const { said, unreadable, rebase, unknown, pools } = chainOf(20)
    const [first, second] = pools as [NewPool, NewPool]
    unreadable.add(first.address).add(second.token1)
    await rebase()
    await until('prices', () => said.includes('prices'))
    expect(unknown()).toBe(1)
    expect(said).toContain('a pool could not be read after the gap')
    expect(said).toContain('a token could not be read after the gap')
    expect(said).toContain('1 left to others')
  })

  it('nothing is given up while no endpoint can be reached', async () => {
    const { reload, said, unreadable, failure, rebase, unknown, pools } = chainOf(3)
    failure.code = 'NO_ENDPOINT'
    unreadable.add((pools[0] as NewPool).address)
    await rebase()
    await until(
      'a second try',
      () => said.filter(each => each === 'the chain cannot be reached yet').length > 1,
    )
    expect([reload.isRebasing, unknown(), said.includes('prices')]).toEqual([true, 3, false])
    unreadable.clear()
    await until('prices', () => said.includes('prices'))
    expect(unknown()).toBe(0)
  })

  it('a process that ended before it was done continues with the rest', async () => {
    const { state, rebase, unreadable, pools, said } = chainOf(3)
    for (const { address: each } of pools) unreadable.add(each)
    await rebase()
    await until('prices', () => said.includes('prices'))
    const again = chainOf(0)
    for (const [key, pool] of state.pools) again.state.pools.set(key, pool)
    const reload = new Reload({ state: again.state } as unknown as ConstructorParameters<typeof Reload>[0])
    expect(reload.isRebasing).toBe(true)
  })
})
