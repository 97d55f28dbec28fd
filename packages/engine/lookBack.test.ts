import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Block, BlockRef, PoolEvent } from './chain/block.ts'
import { createState } from './createState.ts'
import { step } from './engine.ts'
import type { PoolState, Token } from './entities.ts'
import type { Input, LoadedPool, LookedBack } from './input.ts'
import { LookBack, toAsk, type Traveller, type Window } from './lookBack.ts'
import * as temporal from './memory/temporalTape.ts'
import type { State } from './state.ts'
import { cases } from './testing/cases.ts'
import { ChainSim } from './testing/chainSim.ts'
import {
  BORN_LATER,
  DECIMALS,
  type PoolSpec,
  POOLS,
  type Random,
  seeded,
  seedPool,
  SETUP,
  trade,
} from './testing/randomMarket.ts'
import { TICK_FAMILIES } from './testing/tickFamilies.ts'
import { count, ms } from './units.ts'

const START_MS = 1_700_000_000_000
const refOf = ({ number, hash, timeMs }: BlockRef): BlockRef => ({ number, hash, timeMs })

/** A chain that lived before the window, in it, and while it was read. */
type History = {
  readonly start: BlockRef
  readonly end: BlockRef
  readonly older: readonly Block[]
  readonly within: readonly Block[]
  readonly since: readonly Block[]
  readonly atStart: ChainSim
  readonly atEnd: ChainSim
  readonly pools: readonly PoolSpec[]
  readonly tip: ChainSim
}

function historyOf(seed: number): History {
  const random = seeded(seed)
  const sim = new ChainSim({ startMs: START_MS })
  const pools: PoolSpec[] = []
  for (const spec of POOLS) seedPool(random, sim, pools, spec, TICK_FAMILIES)
  let bornLater = 0
  const live = (blocks: number): Block[] =>
    Array.from({ length: blocks }, () => {
      trade(random, sim, pools)
      poke(random, sim, pools)
      if (random.chance(0.1) && bornLater < BORN_LATER.length)
        seedPool(random, sim, pools, BORN_LATER[bornLater++] as (typeof BORN_LATER)[number], TICK_FAMILIES)
      // Two blocks of one second now and then, as on chains that are faster than their clock.
      return sim.mine({ afterMs: random.pick([0, 12_000, 12_000, 12_000, 60_000]) })
    })
  const older = live(1 + random.below(12))
  const atStart = sim.fork('s')
  const start = refOf(older.at(-1) as Block)
  const within = live(random.below(30))
  const atEnd = sim.fork('e')
  const end = refOf(within.at(-1) ?? start)
  const since = live(random.below(4))
  return { start, end, older, within, since, atStart, atEnd, pools, tip: sim }
}

/** What `trade` never does: a position of nothing, as who collects fees does, and a Sync by itself. */
function poke(random: Random, sim: ChainSim, pools: readonly PoolSpec[]): void {
  const { address } = random.pick(pools)
  const amm = sim.amm(address)
  if (amm.family !== 'amm_v2') sim.liquidity(address, -60, 60, 0n)
  else if (random.chance(0.1)) sim.reserves(address, amm.reserve0 + 5n, amm.reserve1)
}

const travellers = (history: History, without: Partial<Traveller> = {}): Traveller[] =>
  history.pools
    .filter(({ address }) => isKnownBy(history.atEnd, address))
    .map(({ address }) => ({
      loaded: history.atEnd.loaded(address),
      read: isKnownBy(history.atStart, address) ? history.atStart.amm(address) : null,
      older: [],
      ...without,
    }))

function isKnownBy(sim: ChainSim, pool: PoolSpec['address']): boolean {
  try {
    sim.amm(pool)
    return true
  } catch {
    return false
  }
}

const windowOf = ({ start, end, within }: History): Window => ({
  start,
  end,
  blocks: within.filter(({ events }) => events.length > 0),
  isProven: true,
  times: 'EXACT',
  logs: { fromBlock: count(start.number + 1), toBlock: end.number, count: count(within.length), digest: '' },
})

/** A service that follows nothing yet, and has known the decimals of all for long. */
function aroundOf({ start, older }: History): State {
  const state = createState(SETUP)
  step(state, { kind: 'block', atMs: start.timeMs, block: { ...(older.at(-1) as Block), events: [] } })
  const facts = [...DECIMALS].map(([token, decimals]) => ({
    token,
    decimals: count(decimals),
    reason: null,
    symbol: null,
    name: null,
  }))
  step(state, { kind: 'token_facts', atMs: start.timeMs, block: start, facts })
  for (const token of state.tokens.values())
    token.decimals = token.decimals && {
      ...token.decimals,
      block: { ...token.decimals.block, timeMs: ms(0) },
    }
  return state
}

/** A service that began to follow at the window's start, and reads its pools once more at its end. */
function followed(history: History): State {
  const { start, end, within, since, atStart, atEnd, pools } = history
  const state = aroundOf(history)
  const say = (input: Input) => step(state, input)
  const load = (sim: ChainSim, block: BlockRef) =>
    say({
      kind: 'load',
      atMs: block.timeMs,
      block,
      pools: pools.filter(({ address }) => isKnownBy(sim, address)).map(({ address }) => sim.loaded(address)),
    })
  load(atStart, start)
  for (const block of within) say({ kind: 'block', atMs: block.timeMs, block })
  load(atEnd, end)
  for (const block of since) say({ kind: 'block', atMs: block.timeMs, block })
  return state
}

const askedOf = (history: History, window: Window): ReadonlySet<string> => {
  const pools = travellers(history).map(({ loaded }) => loaded.pool)
  return new Set(toAsk(pools, window).map(({ address }) => address))
}

const looked = (...of: Parameters<typeof foldOf>): readonly LookedBack[] => foldOf(...of).result()

function foldOf(history: History, pools = travellers(history), window = windowOf(history)): LookBack {
  const lookBack = new LookBack(aroundOf(history), window, pools)
  for (const _ of lookBack.fold());
  for (const block of history.since) lookBack.follow(block)
  return lookBack
}

/** Without what only one of the two can know, and the tape as what stands on it. */
const plain = ({ past: _past, history, ...state }: PoolState) => ({
  ...state,
  history: temporal.changesOf(history),
})
const images = (pools: Iterable<{ readonly state: PoolState; readonly createdMs: unknown }>) =>
  [...pools].map(({ state, createdMs }) => ({ createdMs, ...plain(state) }))

/** Tokens that a pool had a say of. */
const pastsOf = (tokens: Iterable<Pick<Token, 'address' | 'past'>>) =>
  [...tokens]
    .flatMap(({ address, past }) =>
      past === null || past.open.length === 0 ? [] : [{ token: address, past }],
    )
    .sort((a, b) => (a.token < b.token ? -1 : 1))

/** What a trade is worth is asked of other pools, which may not be there. */
const untraded = (image: ReturnType<typeof images>[number]) => ({
  ...image,
  lastTradeMs: null,
  lastSaleMs: undefined,
})

/** After one of these an event says no state before it. */
const UNSAID = new Set<string>(['SWAP', 'FEE', 'PROTOCOL_FEE'])

const seeds = fc.integer({ min: 0, max: 2 ** 30 })

describe('a look-back', () => {
  it('R-history-1: equals a service that began following at the window’s start', () => {
    fc.assert(
      fc.property(seeds, seed => {
        const history = historyOf(seed)
        const back = looked(history)
        const live = followed(history)
        const own = travellers(history).map(({ loaded }) => live.pools.get(loaded.pool.address)!)
        expect(images(back)).toEqual(images(own))
        expect(back.map(({ ticks }) => ticks?.entries ?? null)).toEqual(
          own.map(({ terms }) => ('book' in terms ? terms.book.entries() : null)),
        )
        expect(back.every(({ state }) => state.past?.kind === 'READ')).toBe(true)
      }),
      { numRuns: cases(60) },
    )
  })

  it('R-history-9: so does the history of every token that its pools price', () => {
    let compared = 0
    fc.assert(
      fc.property(seeds, seed => {
        const history = historyOf(seed)
        const { pools, tokens } = followed(history)
        const priced = travellers(history).map(({ loaded }) => pools.get(loaded.pool.address)?.from)
        const own = pastsOf([...tokens.values()].filter(({ address }) => priced.includes(address)))
        const folded = foldOf(history).pasts()
        expect(pastsOf(folded.map(({ token, past }) => ({ address: token, past })))).toEqual(own)
        compared += own.filter(({ past }) => past.minutes.length > 1).length
      }),
      { numRuns: cases(60) },
    )
    expect(compared).toBeGreaterThan(100)
  })

  it('R-history-1: what was created in the window is known from its creation', () => {
    fc.assert(
      fc.property(seeds, seed => {
        const history = historyOf(seed)
        const born = history.within.flatMap(({ events, timeMs }) =>
          events.flatMap(({ pool, event }) => (event.kind === 'CREATED' ? [[pool, timeMs]] : [])),
        )
        const ages = looked(history).flatMap(({ pool, createdMs }) =>
          createdMs === null ? [] : [[pool.address, createdMs]],
        )
        expect(ages.sort()).toEqual(born.sort())
      }),
      { numRuns: cases(40) },
    )
  })

  it('R-history-2: requests a state at the start only where no event of the window has it', () => {
    fc.assert(
      fc.property(seeds, seed => {
        const history = historyOf(seed)
        const window = windowOf(history)
        const unread = travellers(history, { read: null })
        const asked = askedOf(history, window)
        for (const { loaded } of unread) {
          const own = window.blocks.flatMap(({ events }) =>
            events.filter(({ pool }) => pool === loaded.pool.address).map(({ event }) => event.kind),
          )
          const isBorn = own.includes('CREATED')
          const isSaid =
            loaded.state.family === 'amm_v2'
              ? own.length === 0 || own[1] === 'SWAP' || own[1] === 'MINT'
              : !own.some(kind => UNSAID.has(kind))
          expect([loaded.pool.address, own, asked.has(loaded.pool.address)]).toEqual([
            loaded.pool.address,
            own,
            !isBorn && !isSaid,
          ])
        }
        // What is not asked for is found exactly without it.
        const spared = unread.filter(({ loaded }) => !asked.has(loaded.pool.address))
        const all = new Map(looked(history).map(each => [each.pool.address, each]))
        expect(images(looked(history, spared)).map(untraded)).toEqual(
          images(spared.map(({ loaded }) => all.get(loaded.pool.address)!)).map(untraded),
        )
      }),
      { numRuns: cases(40) },
    )
  })

  it('R-history-2: the newest older event with a price replaces a state that no node has any more', () => {
    fc.assert(
      fc.property(seeds, seed => {
        const history = historyOf(seed)
        const older = (pool: LoadedPool['pool']) =>
          history.older.flatMap(({ events }) => events.filter(event => event.pool === pool.address))
        const searched = travellers(history).map(each => ({
          ...each,
          read: null,
          older: older(each.loaded.pool),
        }))
        // No log says the protocol fee of a v4 pool but that of its change: one that changed is not believed.
        const changed = new Set(
          [...history.older, ...history.within, ...history.since].flatMap(({ events }) =>
            events.flatMap(({ pool, event }) => (event.kind === 'PROTOCOL_FEE' ? [pool] : [])),
          ),
        )
        const steady = (of: readonly LookedBack[]) =>
          images(of.filter(({ pool }) => !changed.has(pool.address)))
        expect(steady(looked(history, searched))).toEqual(steady(looked(history)))
      }),
      { numRuns: cases(40) },
    )
  })

  it('R-history-3: without one it is SHORT: from nothing at its first event, and the same from there', () => {
    fc.assert(
      fc.property(seeds, seed => {
        const history = historyOf(seed)
        const window = windowOf(history)
        const lost = travellers(history, { read: null, older: [] })
        const asked = askedOf(history, window)
        const whole = new Map(looked(history).map(each => [each.pool.address, each]))
        for (const short of looked(history, lost)) {
          const { address } = short.pool
          expect(short.state.past?.kind).toBe(asked.has(address) ? 'SHORT' : 'READ')
          const known = whole.get(address)!
          expect([short.state.amm, short.state.marginal, short.state.depthY]).toEqual([
            known.state.amm,
            known.state.marginal,
            known.state.depthY,
          ])
          if (!asked.has(address)) continue
          const first = window.blocks.find(({ events }) => events.some(({ pool }) => pool === address))!
          expect(short.state.trackedSinceMs).toBeGreaterThanOrEqual(first.timeMs)
          expect(short.state.average!.e <= known.state.average!.e).toBe(true)
        }
      }),
      { numRuns: cases(40) },
    )
  })

  it('R-history-4: logs that do not lead to the state that was read are rejected', () => {
    fc.assert(
      fc.property(seeds, seed => {
        const history = historyOf(seed)
        const window = windowOf(history)
        for (const { loaded } of travellers(history)) {
          const { address } = loaded.pool
          const kind = loaded.state.family === 'amm_v2' ? 'SYNC' : 'SWAP'
          const said = window.blocks.flatMap(({ events }) =>
            events.filter(({ pool, event }) => pool === address && event.kind === kind),
          )
          const [before, last] = said.slice(-2)
          // One that stood alone leaves nothing that could contradict: only a proof of the logs shows that.
          if (before === undefined || last === undefined) continue
          if (priceIn(before.event) === priceIn(last.event)) continue
          const blocks = window.blocks.map(block => ({
            ...block,
            events: block.events.filter(event => event !== last),
          }))
          const own = travellers(history).filter(each => each.loaded.pool.address === address)
          expect(looked({ ...history, since: [] }, own, { ...window, blocks })).toEqual([])
        }
      }),
      { numRuns: cases(40) },
    )
  })
})

/** All of the price that an event says. */
const priceIn = (event: PoolEvent['event']): string =>
  'sqrtPriceX96' in event
    ? `${event.sqrtPriceX96}`
    : 'reserve0' in event
      ? `${event.reserve0}/${event.reserve1}`
      : ''
