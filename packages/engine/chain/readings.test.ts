import { describe, expect, it } from 'vitest'
import { DYNAMIC_FEE } from '../amm/v4/swapFee.ts'
import type { V4State, V4Terms } from '../amm/v4/kind.ts'
import { v4 } from '../amm/v4/v4.ts'
import * as byHand from '../testing/byHand.ts'
import { DAI, E18, E6, HOUR, MINUTE, P1, P2, T, USDC, WETH } from '../testing/cast.ts'
import { Scenario, scenario } from '../testing/scenario.ts'
import { count, tick } from '../units.ts'

const X = 30_000_000n * E18
const Y = 60_000_000n * E6

function market(): Scenario {
  const s = scenario()
  s.v2(P1, [T, X], [USDC, Y])
  s.enrol(T)
  return s
}

function v4Market(feePpm: bigint): Scenario {
  const s = scenario({ stables: [DAI] })
  s.v3(P1, T, DAI, { family: 'amm_v4', feePpm, tick: 1_000, positions: [[-60_000, 60_000, 10n ** 24n]] })
  return s
}

/** A swap in a v4 pool whose hook overrides the stored fee for it. */
function swapAt(s: Scenario, lpFeePpm: bigint): void {
  const { state, terms } = s.pool(P1)
  const before: V4State = { ...(state.amm as V4State), lpFeePpm }
  const swapped = v4.swapExactIn(terms as V4Terms, before, 0, E18)
  if ('reason' in swapped) return expect.unreachable()
  for (const event of v4.swapped(0, swapped, swapped.state)) s.sim.forge(P1, event)
  s.mine()
}

describe('load', () => {
  it('R-verify-3: of a pool not at the tip is refused, with a need to read it again', () => {
    const s = scenario()
    const past = s.tip
    s.bornV2(P1, [T, X], [USDC, Y])
    s.sim.forget()
    s.mine()
    s.run({ kind: 'load', block: past, pools: [s.sim.loaded(P1)] })
    expect([s.state.pools.has(P1), s.result.records, s.result.needs]).toEqual([
      false,
      [],
      [{ kind: 'load', pool: P1, why: 'NOT_AT_TIP' }],
    ])
    s.load(P1)
    expect([s.state.pools.has(P1), s.result.needs]).toEqual([true, []])
  })

  it('R-verify-3: of a known pool not at the tip changes nothing', () => {
    const s = market()
    const past = s.tip
    const stale = s.sim.loaded(P1)
    s.sell(P1, 1_000n * E18)
    s.mine()
    const before = s.pool(P1).state
    s.run({ kind: 'load', block: past, pools: [stale] })
    expect(s.pool(P1).state).toBe(before)
    expect(s.result.needs).toEqual([{ kind: 'load', pool: P1, why: 'NOT_AT_TIP' }])
  })

  it('R-verify-3, R-pool-5: adds a pool in its canonical orientation, with both tokens, and publishes it', () => {
    const s = scenario()
    s.v2(P1, [T, X], [USDC, Y], { deployment: 'two', lastTradeMs: null })
    expect(s.pool(P1)).toMatchObject({ from: T, to: USDC, x: 1, deploymentId: 'two', createdBlock: null })
    expect(s.pool(P1).state).toMatchObject({ changed: s.tip, verified: true, lastTradeMs: null })
    expect(s.poolText(P1)).toMatchObject({ block_hash: s.tip.hash, finality: 'canonical' })
    expect(s.state.tokens.has(T)).toBe(true)
  })

  it('R-verify-4: that finds the same state verifies it and keeps the block that last changed it, its evidence and its average', () => {
    const s = market()
    s.sell(P1, 1_000n * E18)
    s.mine({ proof: 'none' })
    const before = s.pool(P1).state
    s.mine({ proof: 'none', afterMs: 10 * MINUTE })
    s.load(P1)
    expect(s.pool(P1).state).toEqual({ ...before, verifiedNumber: s.tip.number, verifiedMs: s.tip.timeMs })
    expect(s.edge(P1).components.freshness).toMatchObject({ ageMs: 0 })
  })

  it('R-verify-4, R-average-3: that finds another state replaces it, and the average continues from the depth it had', () => {
    const s = market()
    const depth = byHand.v2DepthY(X, Y)
    s.reserves(P1, 2n * X, 2n * Y)
    s.sim.forget()
    s.mine({ afterMs: MINUTE })
    s.load(P1)
    const { state } = s.pool(P1)
    expect(state).toMatchObject({ changed: s.tip, verified: true, depthY: byHand.v2DepthY(2n * X, 2n * Y) })
    expect(state.average).toEqual({ e: depth << 32n, l: state.depthY, t0: s.tip.timeMs })
  })

  it('R-verify-4: of more ticks makes an incomplete pool complete', () => {
    const s = scenario({ stables: [DAI] })
    s.decimals(T, 18)
    s.v3(P1, T, DAI, {
      tick: 1_000,
      positions: [[-60_000, 60_000, 10n ** 24n]],
      known: { lowest: tick(960), highest: tick(1_080) },
    })
    expect(s.pool(P1).state).toMatchObject({ incomplete: true, depth: null })
    const { changed } = s.pool(P1).state
    s.mine()
    s.load(P1)
    // The chain says the same as before: its finality is still that of the block that last changed it.
    expect(s.pool(P1).state.changed).toEqual(changed)
    expect(s.pool(P1).state).toMatchObject({ incomplete: false })
    expect(s.pool(P1).state.depth).not.toBe(null)
    expect(s.edge(P1).failure).toBe(null)
  })
})

describe('recheck', () => {
  it('R-verify-5: of an equal state verifies the pool and publishes nothing else', () => {
    const s = market()
    s.mine({ proof: 'none', afterMs: 30 * MINUTE })
    const before = s.pool(P1).state
    s.recheck(P1)
    expect(s.pool(P1).state).toEqual({ ...before, verifiedNumber: s.tip.number, verifiedMs: s.tip.timeMs })
    expect(s.poolRecords()).toEqual([])
  })

  it('R-publish-5: renews the expiry of a price before readers count it as past', () => {
    const s = market()
    s.mine({ proof: 'none', afterMs: 31 * MINUTE })
    s.recheck(P1)
    expect([s.said(T), s.priced(T).expires_at_ms]).toEqual(['PRICE_UPSERT', s.nowMs + HOUR])
  })

  it('R-verify-5: of a different state leaves the pool unverified, with the differences, and requests a load', () => {
    const s = market()
    s.recheck(P1, { family: 'amm_v2', reserve0: Y, reserve1: X + 1n })
    expect(s.pool(P1).state).toMatchObject({
      verified: false,
      differences: [{ field: 'reserve1', event: X + 1n, computed: X }],
    })
    expect(s.result.needs).toEqual([{ kind: 'load', pool: P1, why: 'UNVERIFIED' }])
    expect([s.said(T), s.unpriced(T)]).toEqual(['PRICE_RETRACT NO_ROUTE', 'NO_ROUTE'])
    s.load(P1)
    expect(s.published(T).state).toBe('PRICED')
  })

  it('R-verify-5: of a v3 pool compares price, tick and liquidity', () => {
    const s = scenario({ stables: [DAI] })
    s.v3(P1, T, DAI, { tick: 1_000, positions: [[-60_000, 60_000, 10n ** 24n]] })
    const seen = s.sim.amm(P1) as Extract<ReturnType<typeof s.sim.amm>, { family: 'amm_v3' }>
    s.recheck(P1, { ...seen, sqrtPriceX96: seen.sqrtPriceX96 + 1n, tick: tick(1_001), liquidity: 5n })
    expect(s.pool(P1).state.differences.map(({ field }) => field)).toEqual([
      'sqrt_price_x96',
      'tick',
      'liquidity',
    ])
  })

  it('R-hook-2: keeps a dynamic fee as the last swap paid it: the hook may charge another than the manager stores', () => {
    const s = v4Market(DYNAMIC_FEE)
    swapAt(s, 12_345n)
    expect(s.pool(P1).state).toMatchObject({ verified: true, amm: { lpFeePpm: 12_345n } })
    const stored = { ...s.pool(P1).state.amm, lpFeePpm: 0n } as V4State
    s.recheck(P1, stored)
    expect(s.pool(P1).state).toMatchObject({ verified: true, differences: [], amm: { lpFeePpm: 12_345n } })
    s.run({ kind: 'load', block: s.tip, pools: [{ ...s.sim.loaded(P1), state: stored }] })
    expect(s.pool(P1).state.amm).toMatchObject({ lpFeePpm: 12_345n })
    s.recheck(P1, { ...stored, protocolFee: 5n })
    expect(s.pool(P1).state.differences.map(({ field }) => field)).toEqual(['protocol_fee'])
  })

  it('R-verify-5: of a v4 pool whose fee is fixed compares the fee', () => {
    const s = v4Market(3_000n)
    s.recheck(P1, { ...s.pool(P1).state.amm, lpFeePpm: 3_001n } as V4State)
    expect(s.pool(P1).state.differences.map(({ field }) => field)).toEqual(['lp_fee_ppm'])
  })

  it('R-verify-5, R-reading-1: read at a canonical block verifies a quiet pool as of that block, until it is orphaned', () => {
    const s = market()
    s.mine({ proof: 'none', afterMs: 20 * MINUTE })
    const below = s.branch()
    s.mine({ proof: 'none' })
    const read = s.tip
    const above = s.branch('c')
    s.mine({ proof: 'none' })
    const before = s.pool(P1).state
    const seen = [{ address: P1, state: s.sim.amm(P1) }]
    s.run({ kind: 'recheck', block: read, pools: seen })
    const verified = { ...before, verifiedNumber: read.number, verifiedMs: read.timeMs }
    expect(s.pool(P1).state).toEqual(verified)
    s.reorg(above, [above.mine({ proof: 'none' })])
    expect(s.pool(P1).state).toEqual(verified)
    s.reorg(below, [below.mine({ proof: 'none' }), below.mine({ proof: 'none' })])
    expect(s.pool(P1).state).toEqual(before)
  })

  it('R-verify-5: of a quiet pool that differs at a canonical block leaves it unverified', () => {
    const s = market()
    const read = s.tip
    s.mine({ proof: 'none' })
    s.run({
      kind: 'recheck',
      block: read,
      pools: [{ address: P1, state: { family: 'amm_v2', reserve0: Y, reserve1: X + 1n } }],
    })
    expect(s.pool(P1).state.verified).toBe(false)
    expect(s.result.needs).toEqual([{ kind: 'load', pool: P1, why: 'UNVERIFIED' }])
  })

  it('R-verify-5: read before a newer verification, or at an orphaned block, is ignored', () => {
    const s = market()
    const read = s.tip
    const branch = s.branch()
    s.mine({ proof: 'none' })
    const orphaned = s.tip
    s.reorg(branch, [branch.mine({ proof: 'none' })])
    s.recheck(P1)
    const before = s.pool(P1).state
    const other = [{ address: P1, state: { family: 'amm_v2', reserve0: Y, reserve1: X + 1n } as const }]
    for (const block of [read, orphaned]) s.run({ kind: 'recheck', block, pools: other })
    expect(s.pool(P1).state).toBe(before)
  })

  it('R-verify-5: of a pool that changed since, or of an unknown one, is ignored', () => {
    const s = market()
    const past = s.tip
    s.sell(P1, 1_000n * E18)
    s.mine({ proof: 'none' })
    const before = s.pool(P1).state
    s.run({
      kind: 'recheck',
      block: past,
      pools: [{ address: P1, state: { family: 'amm_v2', reserve0: Y, reserve1: X } }],
    })
    s.run({
      kind: 'recheck',
      block: s.tip,
      pools: [{ address: P2, state: { family: 'amm_v2', reserve0: Y, reserve1: X } }],
    })
    expect(s.pool(P1).state).toBe(before)
  })
})

describe('token facts', () => {
  it('R-decimals-3: a change is published as a retraction with DECIMALS and, once confirmed, at the new scale', () => {
    const s = market()
    const { input, output } = byHand.v2Sale(X, Y)
    s.decimals(T, 9)
    expect([s.said(T), s.unpriced(T)]).toEqual(['PRICE_RETRACT DECIMALS', 'DECIMALS'])
    s.confirm(T, 9)
    expect([s.said(T), s.price(T)]).toEqual(['PRICE_UPSERT', byHand.hopRatio(output, input, 9, 6)])
  })

  it('R-decimals-3, R-jump-1, R-past-3: T16: 18 → 6 is held for 30 minutes, candidates listed, then a jump and no change to its past', () => {
    const s = market()
    s.quiet(10 * MINUTE)
    const before = s.token(T).past
    s.decimals(T, 6)
    expect(s.unpriced(T)).toBe('DECIMALS')
    expect(s.quote(T).candidates).toMatchObject([{ rule: 'DECIMALS_CHANGED' }])
    for (let passed = 0; passed < 29; passed++) {
      s.mine({ afterMs: MINUTE })
      s.decimals(T, 6)
      expect(s.unpriced(T)).toBe('DECIMALS')
    }
    s.mine({ afterMs: MINUTE })
    s.decimals(T, 6)
    expect(s.priced(T).confidence).toMatchObject({ score: 1 })
    expect(s.priced(T).confidence.caps).toContainEqual({ code: 'MAGNITUDE_JUMP', cap: 1 })
    expect(s.token(T).past).toBe(before)
    expect(s.quote(T).own_past?.deviation_bps).toBe('0')
    expect(s.quote(T).routes?.[0]?.hops[0]).toMatchObject({ jump_since_ms: s.nowMs })
    const sinceMs = s.nowMs
    s.quiet(29 * MINUTE)
    expect(s.score(T)).toBe(1)
    s.wait(sinceMs + 30 * MINUTE - s.nowMs)
    expect(s.score(T)).toBeGreaterThan(1)
  })

  it('R-decimals-3: a change of fewer than 100× is no jump, nor is a larger one that a swap offsets', () => {
    const s = market()
    s.confirm(T, 17)
    expect(s.priced(T).confidence.caps.map(({ code }) => code)).not.toContain('MAGNITUDE_JUMP')
    s.confirm(T, 6)
    expect(s.score(T)).toBe(1)
    // A billionth of the units of T, and a thousandth of that, for the same dollars: what a whole T is worth is as before.
    s.reserves(P1, X / 10n ** 12n, Y)
    s.mine({ afterMs: 12_000 })
    expect(s.priced(T).confidence.caps.map(({ code }) => code)).not.toContain('MAGNITUDE_JUMP')
  })

  it('R-decimals-4: a failed reading between two values hides no change', () => {
    const s = market()
    s.decimals(T, null, 'reverts')
    s.decimals(T, 6)
    expect(s.token(T).decimals).toMatchObject({ value: 18, changedTo: 6 })
    expect(s.unpriced(T)).toBe('DECIMALS')
    s.decimals(T, null, 'reverts')
    s.decimals(T, 18)
    expect(s.priced(T).state).toBe('PRICED')
  })

  it('R-decimals-5: a change in a priced-in token reaches its dependents in the same step', () => {
    const s = scenario()
    s.v2(P1, [T, X], [WETH, 30_000n * E18])
    s.v2(P2, [WETH, 100_000n * E18], [USDC, 200_000_000n * E6])
    s.enrol(T)
    s.decimals(WETH, 8)
    expect([s.said(WETH), s.said(T)]).toEqual(['PRICE_RETRACT DECIMALS', 'PRICE_RETRACT DECIMALS'])
  })

  it('R-decimals-4: the same value again is no change, and keeps the block it was first read at', () => {
    const s = market()
    const { decimals } = s.token(T)
    s.mine()
    s.decimals(T, 18)
    expect(s.token(T).decimals).toBe(decimals)
    expect(s.result.records).toEqual([])
  })

  it('R-decimals-6: name and symbol follow the reading; they affect no price', () => {
    const s = market()
    s.run({
      kind: 'token_facts',
      block: s.tip,
      facts: [{ token: T, decimals: count(18), reason: null, symbol: 'USDC', name: 'USD Coin' }],
    })
    expect(s.token(T)).toMatchObject({ symbol: 'USDC', name: 'USD Coin' })
    expect(s.result.records).toEqual([])
  })

  it('R-reading-1: read at a canonical block are accepted, and undone with exactly that block', () => {
    const s = scenario()
    s.v2(P1, [T, X], [USDC, Y])
    const below = s.branch()
    s.mine()
    const read = s.tip
    const above = s.branch('c')
    s.mine()
    s.decimals(T, 18, null, read)
    expect(s.token(T).decimals).toMatchObject({ value: 18, block: read })
    s.reorg(above, [above.mine()])
    expect(s.token(T).decimals).toMatchObject({ value: 18, block: read })
    s.reorg(below, [below.mine(), below.mine(), below.mine()])
    expect(s.token(T).decimals).toBe(null)
    expect(s.result.needs).toEqual([{ kind: 'token_facts', token: T }])
  })

  it('R-reading-1: of a block below what can be undone are accepted, and never undone', () => {
    const s = scenario()
    s.v2(P1, [T, X], [USDC, Y])
    s.mine()
    const read = s.tip
    s.mine()
    s.finalize()
    const branch = s.branch()
    s.mine()
    s.decimals(T, 18, null, read)
    s.reorg(branch, [branch.mine(), branch.mine()])
    expect(s.token(T).decimals).toMatchObject({ value: 18, block: read })
  })

  it('R-reading-2: an older reading never replaces a newer one', () => {
    const s = scenario()
    const older = s.tip
    s.mine()
    s.decimals(T, 18)
    s.decimals(T, 6, null, older)
    expect(s.token(T).decimals).toMatchObject({ value: 18, changedTo: null })
  })

  it('R-reading-1: read at an orphaned block are not accepted', () => {
    const s = scenario()
    s.v2(P1, [T, X], [USDC, Y])
    s.mine()
    const branch = s.branch()
    s.mine()
    const orphaned = s.tip
    s.reorg(branch, [branch.mine()])
    s.decimals(T, 18, null, orphaned)
    expect(s.token(T).decimals).toBe(null)
  })
})

describe('stable answers', () => {
  it('R-stable-1: a new answer is the price of the stable, exactly, with the decimals of its feed', () => {
    const s = scenario()
    s.stable(USDC, 1_000_300_000_000_000_000n, { decimals: count(18) })
    expect(s.price(USDC)).toEqual({ num: 10_003n, den: 10_000n })
  })

  it('R-reading-2: the same answer again changes nothing', () => {
    const s = scenario()
    s.stable(USDC, 99_990_000n)
    const before = s.state.stables.get(USDC)
    s.mine()
    s.stable(USDC, 99_990_000n, before?.reading ?? {})
    expect(s.state.stables.get(USDC)).toBe(before)
    expect(s.result.records).toEqual([])
  })

  it('R-stable-3: a failed reading leaves the last good answer, stale', () => {
    const s = scenario()
    s.stable(USDC, 99_990_000n)
    s.run({ kind: 'stable', block: s.tip, answers: [{ token: USDC, answer: null }], sequencer: null })
    expect(s.priced(USDC)).toMatchObject({ price_usd: { display: '0.9999' }, stable: { status: 'STALE' } })
    s.stable(USDC, 99_980_000n)
    expect(s.priced(USDC)).toMatchObject({ price_usd: { display: '0.9998' }, stable: { status: 'OK' } })
  })

  it('R-reading-1: an answer read at a canonical block is accepted, and undone with exactly that block', () => {
    const s = scenario({ hasSequencer: true })
    const below = s.branch()
    s.mine()
    const read = s.tip
    const above = s.branch('c')
    s.mine()
    const answer = { value: 99_990_000n, decimals: count(8), updatedAtMs: s.nowMs, complete: true }
    const sequencer = { up: true, sinceMs: s.nowMs }
    s.run({ kind: 'stable', block: read, answers: [{ token: USDC, answer }], sequencer })
    s.reorg(above, [above.mine()])
    expect([s.state.stables.get(USDC)?.reading, s.state.chain.sequencer]).toEqual([answer, sequencer])
    s.reorg(below, [below.mine(), below.mine(), below.mine()])
    expect(s.state.stables.get(USDC)?.reading?.value).toBe(100_000_000n)
    expect(s.state.chain.sequencer).toBe(null)
  })

  it('R-reading-2: an older answer never replaces a newer one', () => {
    const s = scenario()
    const older = s.tip
    s.mine()
    s.stable(USDC, 99_990_000n)
    s.stable(USDC, 96_000_000n, {}, older)
    expect(s.state.stables.get(USDC)?.reading?.value).toBe(99_990_000n)
  })

  it('R-reading-1: an answer read at an orphaned block is not accepted', () => {
    const s = scenario()
    const branch = s.branch()
    s.mine()
    const orphaned = s.tip
    s.reorg(branch, [branch.mine()])
    s.stable(USDC, 96_000_000n, {}, orphaned)
    expect(s.price(USDC)).toEqual({ num: 1n, den: 1n })
  })
})
