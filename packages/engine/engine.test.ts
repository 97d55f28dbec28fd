import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Hex } from './chain/block.ts'
import { createState } from './createState.ts'
import { step } from './engine.ts'
import type { FeedStatus } from './input.ts'
import { evaluate, valueAssets } from './price/evaluate.ts'
import { momentOf } from './price/momentOf.ts'
import { quoteText } from './price/publish/quoteJson.ts'
import * as byHand from './testing/byHand.ts'
import { cases } from './testing/cases.ts'
import { checkQuote } from './testing/quoteLaws.ts'
import type { QuoteView } from './testing/quoteView.ts'
import { randomLife } from './testing/randomLife.ts'
import { SETUP } from './testing/randomMarket.ts'
import { TICK_FAMILIES } from './testing/tickFamilies.ts'
import { RecordLaws } from './testing/recordLaws.ts'
import { DAI, E18, E6, HOUR, MINUTE, P1, P2, P3, T, U, USDC, WETH } from './testing/cast.ts'
import { type Setting } from './testing/drive.ts'
import { Scenario, scenario } from './testing/scenario.ts'
import { count, ms } from './units.ts'

const X = 30_000_000n * E18
const Y = 60_000_000n * E6

/** T in USDC over P1, U in WETH over P2, WETH in USDC over P3. */
function market(setting: Setting = {}): Scenario {
  const s = scenario(setting)
  s.v2(P1, [T, X], [USDC, Y], { deployment: 'one' })
  s.v2(P2, [U, X], [WETH, 30_000n * E18], { deployment: 'two' })
  s.v2(P3, [WETH, 100_000n * E18], [USDC, 200_000_000n * E6], { deployment: 'three' })
  s.enrol(T)
  s.enrol(U)
  s.mine({ afterMs: 5 * MINUTE })
  return s
}

const ALL = [USDC, WETH, T, U]
const saidOf = (s: Scenario): string[] => ALL.map(token => s.said(token))
const statesOf = (s: Scenario): string[] => ALL.map(token => s.published(token).state)
/** What of a state does not depend on when it was said. */
function shownOf(state: ReturnType<Scenario['published']>): object {
  const { evaluated_at_ms: _, expires_at_ms: __, ...shown } = state as Readonly<Record<string, unknown>>
  return shown
}
const every = (text: string): string[] => ALL.map(() => text)

describe('a step', () => {
  it('R-fold-3: before the first block there is no state, so no price is published', () => {
    const state = createState(SETUP)
    const atMs = ms(1_700_000_000_000)
    const health = { status: 'HEALTHY' as FeedStatus, record: { status: 'HEALTHY' } }
    expect(step(state, { kind: 'health', atMs, health }).records.map(({ type }) => type)).toEqual([
      'FEED_HEALTH',
    ])
    expect(step(state, { kind: 'enrol', atMs, token: T }).records).toEqual([])
    expect(step(state, { kind: 'timer', atMs })).toMatchObject({ records: [], nextTimerMs: null })
  })

  it('R-edge-3: without a health report the feed is unavailable', () => {
    const s = scenario()
    const state = createState(s.state.setup)
    step(state, { kind: 'block', atMs: s.nowMs, block: s.sim.fork('x').mine() })
    expect(state.tokens.get(USDC)?.published).toBe(null)
    step(state, { kind: 'enrol', atMs: s.nowMs, token: T })
    expect(state.tokens.get(USDC)?.published?.compact).toMatchObject({ state: 'UNPRICED', reason: 'FEED' })
  })

  it('R-timer-5: a timer when nothing is due does nothing', () => {
    const s = market()
    s.run({ kind: 'timer' })
    expect([s.result.records, s.result.needs]).toEqual([[], []])
    expect(s.result.nextTimerMs).toBeGreaterThan(s.nowMs)
  })

  it('R-fold-6: names every entity it changed', () => {
    const s = market()
    s.sell(P1, 1_000n * E18)
    s.mine()
    expect(s.result.changed).toEqual(
      expect.arrayContaining(['chain', `pool/${P1}`, `quote/${T}`, `token/${T}`, `undo/${s.tip.number}`]),
    )
  })
})

describe('health', () => {
  it('R-record-8: the record is published unchanged, first, at every report', () => {
    const s = market()
    s.health('HEALTHY')
    const record = { chain_id: 1, status: 'HEALTHY', lag_ms: 12, endpoints: [{ name: 'a' }] }
    for (let n = 0; n < 2; n++)
      expect(
        s
          .run({ kind: 'health', health: { status: 'HEALTHY', record } })
          .records.map(({ payload }) => payload),
      ).toEqual([record])
    s.health('DEGRADED')
    expect(s.result.records[0]?.type).toBe('FEED_HEALTH')
  })

  it('R-trigger-4: a change of status re-evaluates every token at once', () => {
    const s = market()
    s.health('DEGRADED')
    expect([saidOf(s), ALL.map(token => s.score(token))]).toEqual([every('PRICE_UPSERT'), [3, 3, 3, 3]])
    s.health('UNAVAILABLE')
    expect([saidOf(s), ALL.map(token => s.unpriced(token))]).toEqual([
      every('PRICE_RETRACT FEED'),
      every('FEED'),
    ])
    s.health('HEALTHY')
    expect([saidOf(s), statesOf(s)]).toEqual([every('PRICE_UPSERT'), every('PRICED')])
  })

  it('R-publish-8: after a silence every token is published once, even if equal, and not again', () => {
    const s = market()
    s.enrol(DAI)
    s.health('HEALTHY')
    const before = ALL.map(token => s.published(token))
    s.nowMs = ms(s.nowMs + 30_000)
    s.health('HEALTHY')
    expect(s.tokenRecords()).toEqual([])
    s.nowMs = ms(s.nowMs + 30_001)
    s.health('HEALTHY')
    expect([saidOf(s), s.said(DAI)]).toEqual([every('PRICE_UPSERT'), 'PRICE_UPSERT'])
    expect(ALL.map(token => s.published(token))).toEqual(
      before.map(state => expect.objectContaining({ ...shownOf(state), evaluated_at_ms: s.nowMs })),
    )
    s.nowMs = ms(s.nowMs + 15_000)
    s.health('HEALTHY')
    expect(s.tokenRecords()).toEqual([])
  })

  it('R-publish-8: a clock set back looks like silence to readers, so it counts as one', () => {
    const s = market()
    s.health('HEALTHY')
    s.nowMs = ms(s.nowMs - HOUR)
    s.health('HEALTHY')
    expect(saidOf(s)).toEqual(every('PRICE_UPSERT'))
  })

  it('R-publish-8: health that arrives late is judged by when the feed wrote it', () => {
    const s = market()
    s.health('HEALTHY', s.nowMs - 20_000)
    s.nowMs = ms(s.nowMs + 15_000)
    s.health('HEALTHY')
    expect(saidOf(s)).toEqual(every('PRICE_UPSERT'))
  })

  it('R-publish-8, R-gap-2: a silence that ends in a gap is handled with the gap', () => {
    const s = market()
    s.health('HEALTHY')
    s.nowMs = ms(s.nowMs + MINUTE)
    s.health('GAP')
    expect(saidOf(s)).toEqual(every('PRICE_RETRACT FEED'))
    s.nowMs = ms(s.nowMs + MINUTE)
    s.health('GAP')
    expect(s.tokenRecords()).toEqual([])
    s.health('DEGRADED')
    expect(saidOf(s)).toEqual(every('PRICE_UPSERT'))
  })

  it.each(['UNAVAILABLE', 'GAP'] as const)(
    'a pool that traded while it was %s is published again afterwards',
    status => {
      const s = market()
      s.health(status)
      s.sell(P1, 1_000n * E18)
      s.mine()
      expect(s.poolText(P1)).toMatchObject({ reason: 'FEED', score: 0 })
      s.health('HEALTHY')
      expect(s.poolRecords()).toHaveLength(1)
      expect(s.poolText(P1)).toMatchObject({ reason: null, components: { feed: { score: 10 } } })
      s.mine()
      expect(s.poolRecords()).toEqual([])
    },
  )
})

describe('a GAP', () => {
  it('R-gap-1: blocks are applied and pools and swaps shown, but no token record is published', () => {
    const s = market()
    s.health('GAP')
    s.sell(P1, 1_000n * E18)
    s.sell(P3, 100n * E18)
    s.mine()
    expect([s.swapRecords().length, s.poolRecords().length, s.tokenRecords().length]).toEqual([2, 2, 0])
    expect(s.pool(P1).state.changed).toEqual(s.tip)
    expect(s.poolText(P1)).toMatchObject({ score: 0, components: { feed: { score: 0, status: 'GAP' } } })
    s.stable(USDC, 99_000_000n)
    s.decimals(T, 6)
    s.wait(2 * HOUR)
    s.health('GAP')
    expect(s.tokenRecords()).toEqual([])
  })

  it('R-gap-2: a token enrolled during it is first published when it ends', () => {
    const s = market()
    s.unenrol(T)
    s.health('GAP')
    s.enrol(T)
    s.enrol(DAI)
    expect([s.tokenRecords(), s.token(DAI).published]).toEqual([[], null])
    s.health('HEALTHY')
    expect([s.published(T).state, s.unpriced(DAI)]).toEqual(['PRICED', 'NO_POOL'])
  })

  it('R-gap-2: on leaving it every token is evaluated once', () => {
    const s = market()
    s.health('GAP')
    s.sell(P1, 1_000n * E18)
    s.mine()
    s.health('HEALTHY')
    expect(saidOf(s)).toEqual(every('PRICE_UPSERT'))
    const output = byHand.v2Out(X, Y, 1_000n * E18)
    expect(s.price(T)).toEqual(byHand.hopRatio(output, 1_000n * E18, 18, 6))
  })

  it('R-gap-1, R-timer-5: the engine asks for no timer that is already past', () => {
    const s = market()
    s.health('GAP')
    s.wait(2 * HOUR)
    expect(s.result.nextTimerMs === null || s.result.nextTimerMs > s.nowMs).toBe(true)
    s.health('HEALTHY')
    expect(s.result.nextTimerMs === null || s.result.nextTimerMs > s.nowMs).toBe(true)
    expect(s.unpriced(T)).toBe('ROUTE_EXPIRED')
  })

  it('R-gap-1: even a reorganisation publishes no token record', () => {
    const s = market()
    const branch = s.branch()
    s.sell(P1, 1_000n * E18)
    s.mine()
    s.health('GAP')
    s.reorg(branch, [branch.mine(), branch.mine()])
    expect(s.poolRecords().length).toBe(1)
    expect(s.tokenRecords()).toEqual([])
    s.health('HEALTHY')
    expect([saidOf(s), statesOf(s)]).toEqual([every('PRICE_UPSERT'), every('PRICED')])
  })

  it('R-gap-1, R-publish-10: a token unenrolled during it does not keep the gap as its reason', () => {
    const s = market()
    s.health('GAP')
    s.unenrol(T)
    s.health('HEALTHY')
    expect(s.unpriced(T)).toBe('OPERATOR')
  })

  it('R-gap-2: prices published before it are withdrawn when it begins, FEED', () => {
    const s = market()
    s.health('GAP')
    expect(saidOf(s)).toEqual(every('PRICE_RETRACT FEED'))
  })
})

describe('pause and resume', () => {
  it('R-trigger-7, R-retract-2: a pause withdraws every price, OPERATOR, and nothing is priced while it lasts', () => {
    const s = market()
    s.pause(true)
    expect([saidOf(s), ALL.map(token => s.unpriced(token))]).toEqual([
      every('PRICE_RETRACT OPERATOR'),
      every('OPERATOR'),
    ])
    s.sell(P1, 1_000n * E18)
    s.mine()
    expect([s.swapRecords().length, s.poolRecords().length, s.tokenRecords().length]).toEqual([1, 1, 0])
  })

  it('R-trigger-7: a resume prices every token again, from the current state', () => {
    const s = market()
    s.pause(true)
    s.sell(P1, 1_000n * E18)
    s.mine()
    s.pause(false)
    expect([saidOf(s), statesOf(s)]).toEqual([every('PRICE_UPSERT'), every('PRICED')])
    expect(s.priced(T).as_of.block_hash).toBe(s.tip.hash)
  })
})

describe('enrolment', () => {
  it('R-publish-2: the first evaluation of an enrolled token is published, priced or not', () => {
    const s = scenario()
    s.enrol(T)
    expect([s.said(T), s.unpriced(T)]).toEqual(['PRICE_UPSERT', 'NO_POOL'])
  })

  it('R-publish-10, R-retract-2: unenrolling withdraws the price, OPERATOR, and no record follows', () => {
    const s = market()
    s.unenrol(T)
    expect([s.said(T), s.unpriced(T), s.said(U)]).toEqual(['PRICE_RETRACT OPERATOR', 'OPERATOR', 'none'])
    s.sell(P1, 1_000n * E18)
    s.mine()
    s.wait(2 * HOUR)
    s.policy({ min_depth_usd: 51 })
    expect(s.said(T)).toBe('none')
    expect(s.unpriced(T)).toBe('OPERATOR')
  })

  it('R-publish-10, R-retract-2, R-find-4: an idle token turns DORMANT, withdrawn as OPERATOR, and returns when it is enrolled again', () => {
    const s = market()
    s.unenrol(T, 'DORMANT')
    expect([s.said(T), s.unpriced(T)]).toEqual(['PRICE_RETRACT OPERATOR', 'DORMANT'])
    s.enrol(T)
    expect([s.said(T), s.published(T).state]).toEqual(['PRICE_UPSERT', 'PRICED'])
  })

  it('R-publish-10: a token keeps the time of its first enrolment', () => {
    const s = market()
    const { enrolledAtMs } = s.token(T)
    s.wait(MINUTE)
    s.enrol(T)
    expect(s.token(T).enrolledAtMs).toBe(enrolledAtMs)
    s.unenrol(T)
    s.enrol(T)
    expect(s.token(T).enrolledAtMs).toBe(s.nowMs)
  })

  it('R-timer-4: an unenrolled token requests no timers', () => {
    const s = scenario()
    s.v2(P1, [T, X], [USDC, Y])
    s.enrol(T)
    expect(s.result.nextTimerMs).not.toBe(null)
    s.unenrol(T)
    // Only the stable is left, and its answer is good for a year.
    expect((s.result.nextTimerMs ?? Number.POSITIVE_INFINITY) > s.nowMs + 300 * 24 * HOUR).toBe(true)
  })
})

describe('policy', () => {
  it('R-trigger-7, R-policy-3: a change re-evaluates every token, and every price carries the new version', () => {
    const s = market()
    const before = s.state.policyView.version
    s.policy({ observation_share_bps: 201 })
    const { version } = s.state.policyView
    expect(version).not.toBe(before)
    expect([saidOf(s), ALL.map(token => s.published(token).policy_version)]).toEqual([
      every('PRICE_UPSERT'),
      every(version),
    ])
  })

  it('R-retract-2: a price that a policy removes is retracted as POLICY', () => {
    const s = market()
    s.policy({ min_depth_usd: 1_000_000_000 })
    expect(saidOf(s)).toEqual([
      'PRICE_UPSERT',
      'PRICE_RETRACT POLICY',
      'PRICE_RETRACT POLICY',
      'PRICE_RETRACT POLICY',
    ])
    expect(s.unpriced(T)).toBe('NO_ROUTE')
    s.policy({})
    expect(statesOf(s)).toEqual(every('PRICED'))
  })

  it('R-publish-9: the same policy again publishes nothing', () => {
    const s = market()
    s.policy({})
    expect(s.result.records).toEqual([])
  })

  it('R-policy-1: its numbers apply from then on', () => {
    const s = market()
    s.policy({ agreement: { path_sources: [4, 7, 8, 9, 10] } })
    expect([s.score(T), s.priced(T).confidence.caps.find(({ code }) => code === 'SINGLE_SOURCE')]).toEqual([
      4,
      { code: 'SINGLE_SOURCE', cap: 4 },
    ])
  })
})

describe('two chains', () => {
  it('P4: the same token address on two chains is two tokens, kept apart', () => {
    const [one, other] = [market({ chainId: 1 }), market({ chainId: 56 })]
    const before = structuredClone(other.published(T))
    one.reserves(P1, X, 2n * Y)
    one.mine()
    one.unenrol(U)
    one.health('GAP')
    expect(other.published(T)).toEqual(before)
    other.sell(P1, 1_000n * E18)
    other.mine()
    for (const record of other.result.records) expect(record.routing.chain_id).toBe(56)
    expect(other.tokenRecords(T)[0]?.payload).toMatchObject({ chain_id: 56, token_id: one.token(T).id })
    expect(other.published(U).state).toBe('PRICED')
  })

  it('R16: a reorganisation of one leaves the other unchanged', () => {
    const [one, other] = [market({ chainId: 1 }), market({ chainId: 56 })]
    const steps = other.state.chain.steps
    const branch = one.branch()
    one.sell(P1, 1_000n * E18)
    one.mine()
    one.reorg(branch, [branch.mine()])
    expect([other.state.chain.steps, other.published(T).state]).toEqual([steps, 'PRICED'])
  })
})

describe('any history of a market', () => {
  const seeds = fc.integer({ min: 0, max: 2 ** 31 })

  it('R-record-1, R-retract-1: records keep their laws: order, one per entity, retractions exactly where due, no score of 0, no duplicates', () => {
    fc.assert(
      fc.property(seeds, seed => {
        const { life, endMs } = randomLife(seed, { families: TICK_FAMILIES, rounds: 25, maxDepth: 6 })
        const state = createState(SETUP)
        const laws = new RecordLaws()
        for (const input of life) {
          const result = step(state, input)
          laws.check(result, new Set(result.orphaned as readonly Hex[]))
          expect(result.nextTimerMs === null || result.nextTimerMs > input.atMs).toBe(true)
        }
        // R-score-5: and what it ends in can be recomputed from the quotes alone.
        const moment = momentOf(state, endMs)
        valueAssets(moment)
        for (const token of state.tokens.keys()) {
          const quote: unknown = quoteText(
            count(1),
            evaluate(moment, token),
            state.policyView.version,
            'COMPUTED',
          )
          checkQuote(quote as QuoteView, each => state.tokens.get(each)?.decimals?.value ?? 0)
        }
      }),
      { numRuns: cases(60) },
    )
  })
})
