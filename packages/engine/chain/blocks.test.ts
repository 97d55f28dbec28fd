import { describe, expect, it } from 'vitest'
import type { EngineRecord } from '../record.ts'
import * as byHand from '../testing/byHand.ts'
import { DAI, E18, E6, HOUR, MINUTE, P1, P2, P3, T, U, USDC, WETH } from '../testing/cast.ts'
import { Scenario, scenario } from '../testing/scenario.ts'
import type { Address } from './block.ts'

const X = 30_000_000n * E18
const Y = 60_000_000n * E6

/** T in USDC over P1, U over P2, both enrolled and quiet. */
function market(): Scenario {
  const s = scenario()
  s.v2(P1, [T, X], [USDC, Y], { deployment: 'one' })
  s.v2(P2, [U, X], [USDC, Y], { deployment: 'two' })
  s.enrol(T)
  s.enrol(U)
  s.mine()
  return s
}

const recordOf = (s: Scenario, pool: Address): EngineRecord | undefined =>
  s.poolRecords().find(record => record.routing.pool_ids[0] === `0x${'0'.repeat(24)}${pool.slice(2)}`)

describe('a block', () => {
  it('R-fold-2: extends the tip by hash and number; anything else is refused', () => {
    const s = market()
    const block = s.sim.mine()
    expect(() => s.run({ kind: 'block', block: { ...block, parentHash: block.hash } })).toThrow(
      'does not extend',
    )
    const next = s.sim.mine()
    expect(() => market().run({ kind: 'block', block: next })).toThrow('does not extend')
  })

  it('R-record-7: a v2 swap is observed with its exact amounts and its place', () => {
    const s = market()
    s.sell(P1, 1_000n * E18)
    const block = s.mine()
    const event = block.events[1] as (typeof block.events)[number]
    expect(s.swapRecords().map(({ payload }) => payload)).toEqual([
      {
        chain_id: 1,
        pool_id: s.pool(P1).id,
        kind: 'SWAP',
        block_number: block.number,
        block_hash: block.hash,
        block_time_ms: block.timeMs,
        transaction_hash: event.transactionHash,
        log_index: 1,
        finality: 'canonical',
        proof: 'receipts',
        amount0_in: '0',
        amount1_in: `${1_000n * E18}`,
        amount0_out: `${byHand.v2Out(X, Y, 1_000n * E18)}`,
        amount1_out: '0',
      },
    ])
  })

  it('R-record-7: a v3 swap is observed with its amounts, price, liquidity and tick', () => {
    const s = scenario({ stables: [DAI] })
    s.v3(P1, T, DAI, { tick: 1_000, positions: [[-60_000, 60_000, 10n ** 24n]] })
    s.sell(P1, E18)
    s.mine({ proof: 'digest' })
    const after = s.sim.amm(P1) as { sqrtPriceX96: bigint; tick: number }
    const payload = s.swapRecords()[0]?.payload as unknown as Record<string, unknown>
    expect(payload).toMatchObject({
      proof: 'digest',
      amount0: `${E18}`,
      sqrt_price_x96: `${after.sqrtPriceX96}`,
      liquidity: `${10n ** 24n}`,
      tick: after.tick,
    })
    expect(payload['amount1']).toMatch(/^-\d+$/)
  })

  it('R-record-7: every swap is observed, in log order, also those of a pool that prices no token', () => {
    const s = market()
    s.sell(P2, E18)
    s.buy(P1, E6)
    s.sell(P1, 2n * E18)
    s.mine()
    expect(s.swapRecords().map(({ payload }) => [payload.pool_id, payload.log_index])).toEqual([
      [s.pool(P2).id, 1],
      [s.pool(P1).id, 3],
      [s.pool(P1).id, 5],
    ])
  })

  it('R-pool-1: events of an untracked pool are ignored', () => {
    const s = market()
    s.bornV2(P3, [T, X], [USDC, Y])
    s.sim.forget()
    s.sell(P3, E18)
    s.mine()
    expect([s.result.records, s.state.pools.has(P3)]).toEqual([[], false])
  })

  it("R-pool-2: a factory's own log makes a pool known, complete and empty, with its tokens", () => {
    const s = scenario()
    s.bornV2(P1, [T, 0n], [USDC, 0n], { deployment: 'two', fee: [9_975n, 10_000n] })
    s.mine()
    expect(s.pool(P1)).toMatchObject({
      deploymentId: 'two',
      from: T,
      to: USDC,
      feePpm: 2_500n,
      createdBlock: s.tip.number,
      createdMs: s.tip.timeMs,
    })
    expect(s.pool(P1).state).toMatchObject({
      verified: true,
      incomplete: false,
      marginal: null,
      depthY: 0n,
      average: { e: 0n, l: 0n },
    })
    expect([s.state.tokens.has(T), s.result.needs]).toEqual([true, []])
    expect(s.poolText(P1)).toMatchObject({ score: 0, depth: null })
  })

  it('R-pool-2: a v3 pool lives from its Initialize and Mint in the same block', () => {
    const s = scenario({ stables: [DAI] })
    s.bornV3(P1, T, DAI, { tick: 1_000, positions: [[-60_000, 60_000, 10n ** 24n]] })
    s.mine()
    expect(s.pool(P1).state).toMatchObject({
      verified: true,
      incomplete: false,
      amm: { liquidity: 10n ** 24n, tick: 1_000 },
    })
    expect(s.pool(P1).state.evidence?.kind).toBe('SIMULATED_SWAP')
  })
})

describe('a reorganisation', () => {
  it('R-reorg-3, R-retract-3: withdraws what was published on the orphaned blocks, names it, and carries the state after', () => {
    const s = market()
    const before = s.price(T)
    const branch = s.branch()
    s.sell(P1, 100_000n * E18)
    s.mine()
    const withdrawn = s.token(T).published?.recordId
    expect(s.price(T)).not.toEqual(before)
    s.reorg(branch, [branch.mine(), branch.mine()])
    const [record] = s.tokenRecords(T)
    expect(record).toMatchObject({
      type: 'PRICE_RETRACT',
      payload: {
        reason: 'REORG',
        retracted: { record_id: withdrawn },
        current: { state: 'PRICED', as_of: { block_hash: s.tip.hash } },
      },
    })
    expect(s.price(T)).toEqual(before)
  })

  it('R-reorg-2: restores pools to what they were: state, average, history, evidence', () => {
    const s = market()
    const before = structuredClone(s.pool(P1).state)
    const branch = s.branch()
    s.sell(P1, 100_000n * E18)
    s.mine()
    s.reserves(P1, X / 2n, Y / 2n)
    s.mine({ afterMs: 10 * MINUTE })
    s.reorg(branch, [branch.mine()])
    expect(s.pool(P1).state).toEqual(before)
  })

  it('R-reorg-2: restores a pool that was read again at the orphaned block to what it was before that block', () => {
    const s = market()
    const before = structuredClone(s.pool(P1).state)
    const branch = s.branch()
    s.sell(P1, 100_000n * E18)
    s.mine()
    s.recheck(P1)
    s.reorg(branch, [branch.mine()])
    expect(s.pool(P1).state).toEqual(before)
  })

  it('R-reorg-2: restores the ticks of a v3 pool too', () => {
    const s = scenario({ stables: [DAI] })
    s.v3(P1, T, DAI, { tick: 1_000, positions: [[-60_000, 60_000, 10n ** 24n]] })
    s.mine()
    const depth = s.pool(P1).state.depth
    const branch = s.branch()
    s.sim.liquidity(P1, 900, 1_020, 10n ** 25n)
    s.mine()
    expect(s.pool(P1).state.depth).not.toEqual(depth)
    branch.swap(P1, 0, 10n ** 22n)
    s.reorg(branch, [branch.mine()])
    expect(s.pool(P1).state).toMatchObject({ verified: true, incomplete: false })
    const { terms } = s.pool(P1)
    expect(terms.family === 'amm_v3' && [...terms.book.entries()].map(({ tick }) => tick)).toEqual([
      -60_000, 60_000,
    ])
  })

  it('R-record-7, R-record-1: swaps of orphaned blocks are sent again as orphaned, under the same keys, before those of the new ones', () => {
    const s = market()
    const branch = s.branch()
    s.sell(P1, 1_000n * E18)
    s.mine()
    s.sell(P2, 1_000n * E18)
    s.mine()
    const seen = s.swapRecords().map(({ payload }) => payload)
    branch.swap(P1, 1, 5n * E18)
    s.reorg(branch, [branch.mine()])
    const payloads = s.swapRecords().map(({ payload }) => payload)
    expect(payloads.map(({ finality, pool_id }) => [finality, pool_id])).toEqual([
      ['orphaned', s.pool(P1).id],
      ['orphaned', s.pool(P2).id],
      ['canonical', s.pool(P1).id],
    ])
    expect(payloads[1]).toEqual({ ...seen[0], finality: 'orphaned' })
  })

  it('R-retract-4: a pool whose published state was orphaned is retracted with its state after; other pools are left alone', () => {
    const s = market()
    s.sell(P2, 1_000n * E18)
    s.mine()
    const branch = s.branch()
    s.sell(P1, 1_000n * E18)
    s.mine()
    const withdrawn = s.pool(P1).published?.recordId
    s.reorg(branch, [branch.mine()])
    expect(recordOf(s, P1)).toMatchObject({
      type: 'PRICE_RETRACT',
      payload: {
        scope: 'pool',
        reason: 'REORG',
        retracted: { record_id: withdrawn },
        current: { reserves: { reserve0: `${Y}`, reserve1: `${X}` } },
      },
    })
    expect([recordOf(s, P2), s.said(U)]).toEqual([undefined, 'none'])
  })

  it('R-retract-4, R14: a pool created in an orphaned block disappears, POOL_ORPHANED, with the price it gave', () => {
    const s = scenario()
    s.enrol(T)
    s.mine()
    const branch = s.branch()
    s.bornV2(P1, [T, X], [USDC, Y])
    s.mine()
    s.mine({ afterMs: HOUR })
    expect(s.published(T).state).toBe('PRICED')
    const withdrawn = s.pool(P1).published?.recordId
    s.reorg(branch, [branch.mine()])
    expect(s.state.pools.has(P1)).toBe(false)
    expect(recordOf(s, P1)).toMatchObject({
      type: 'PRICE_RETRACT',
      payload: { reason: 'POOL_ORPHANED', retracted: { record_id: withdrawn }, current: null },
    })
    expect([s.said(T), s.unpriced(T)]).toEqual(['PRICE_RETRACT REORG', 'NO_POOL'])
    expect(s.result.needs).toContainEqual({ kind: 'load', pool: P1, why: 'ORPHANED' })
  })

  it('R-reorg-4, R14: a pool that the new branch creates too is known again from there, its average from 0', () => {
    const s = scenario()
    s.enrol(T)
    const branch = s.branch()
    s.bornV2(P1, [T, X], [USDC, Y])
    s.mine()
    s.mine({ afterMs: HOUR })
    const withdrawn = s.pool(P1).published?.recordId
    const first = branch.mine()
    branch.createV2({ address: P1, token0: USDC, token1: T })
    branch.reserves(P1, Y, X)
    s.reorg(branch, [first, branch.mine()])
    expect(s.pool(P1)).toMatchObject({
      createdBlock: s.tip.number,
      createdMs: s.tip.timeMs,
      state: { average: { e: 0n, t0: s.tip.timeMs } },
    })
    expect(recordOf(s, P1)).toMatchObject({
      type: 'PRICE_RETRACT',
      payload: { reason: 'REORG', retracted: { record_id: withdrawn } },
    })
    expect(s.result.needs).toEqual([])
  })

  it('R-reorg-4, R-fold-8: a pool read at an orphaned block is removed with it and requested again', () => {
    const s = scenario()
    s.mine()
    const branch = s.branch()
    s.mine()
    s.v2(P1, [T, X], [USDC, Y])
    s.reorg(branch, [branch.mine()])
    expect(s.state.pools.has(P1)).toBe(false)
    expect(s.result.needs).toEqual([{ kind: 'load', pool: P1, why: 'ORPHANED' }])
  })

  it('R-reorg-2: decimals and stable answers read at an orphaned block are undone with it', () => {
    const s = scenario()
    s.v2(P1, [T, X], [USDC, Y])
    s.mine()
    const branch = s.branch()
    s.mine()
    s.enrol(T)
    s.stable(USDC, 96_000_000n)
    expect(s.priced(T).stable.status).toBe('DEPEG')
    s.reorg(branch, [branch.mine()])
    expect([s.token(T).decimals, s.unpriced(T), s.said(T)]).toEqual([null, 'DECIMALS', 'PRICE_RETRACT REORG'])
    expect(s.result.needs).toContainEqual({ kind: 'token_facts', token: T })
    expect(s.price(USDC)).toEqual({ num: 1n, den: 1n })
    s.decimals(T, 18)
    expect(s.priced(T).stable.status).toBe('OK')
  })

  it('R-reorg-2, R-fold-1: state from outside the chain survives: enrolments, health, policy, coverage, pause', () => {
    const s = market()
    const branch = s.branch()
    s.mine()
    s.unenrol(U)
    s.health('DEGRADED')
    s.policy({ min_depth_usd: 51 })
    s.coverage(WETH, 1_000n)
    const version = s.state.policyView.version
    s.reorg(branch, [branch.mine()])
    expect([s.unpriced(U), s.score(T), s.priced(T).policy_version, s.state.coverage.size]).toEqual([
      'OPERATOR',
      3,
      version,
      1,
    ])
  })

  it('R-reorg-2, R-fresh-3: leaves pools that its blocks did not touch as fresh as the new tip', () => {
    const s = market()
    s.quiet(10 * MINUTE)
    const branch = s.branch()
    s.mine()
    s.reorg(branch, [branch.mine(), branch.mine()])
    expect(s.edge(P1)).toMatchObject({ verifiedMs: s.tip.timeMs, components: { freshness: { ageMs: 0 } } })
  })

  it('R-reorg-1, R2: a block of the same height with another hash is a reorganisation like any other', () => {
    const s = market()
    const branch = s.branch()
    s.sell(P1, 1_000n * E18)
    s.mine()
    const number = s.tip.number
    branch.swap(P1, 1, 2_000n * E18)
    s.reorg(branch, [branch.mine()])
    expect([s.tip.number, s.state.chain.tip?.hash]).toEqual([number, s.tip.hash])
    expect(s.pool(P1).state.evidence).toMatchObject({ kind: 'OBSERVED_SWAP', amountIn: 2_000n * E18 })
  })

  it.each([1, 2, 7, 31, 64])(
    'R-reorg-1, R-record-1, R1: %i blocks deep is one step and one record per entity',
    depth => {
      const s = market()
      const before = s.price(T)
      const branch = s.branch()
      for (let n = 0; n < depth; n++) {
        s.sell(P1, 1_000n * E18)
        s.mine()
      }
      const blocks = Array.from({ length: depth + 1 }, () => branch.mine())
      s.reorg(branch, blocks)
      expect(s.price(T)).toEqual(before)
      expect([s.tokenRecords(T).length, s.poolRecords().length, s.swapRecords().length]).toEqual([
        1,
        1,
        depth,
      ])
      expect(s.tip.number).toBe(blocks.at(-1)?.number)
    },
  )

  it('R-reorg-3: a token republished only because of time or health while an orphaned block was the tip is carried over to the new one', () => {
    const s = market()
    const branch = s.branch()
    s.mine()
    s.health('DEGRADED')
    expect(s.score(T)).toBe(3)
    s.reorg(branch, [branch.mine()])
    expect([s.score(T), s.priced(T).as_of.block_hash]).toEqual([3, s.tip.hash])
  })

  it('R-publish-4: is silent about a token that had no price before it and has none after, for the same reason', () => {
    const s = scenario()
    s.mine()
    const [early, late] = [s.branch('b'), s.branch('c')]
    s.mine()
    s.enrol(T)
    expect([s.said(T), s.unpriced(T)]).toEqual(['PRICE_UPSERT', 'NO_POOL'])
    s.reorg(early, [early.mine()])
    expect([s.said(T), s.unpriced(T)]).toEqual(['none', 'NO_POOL'])
    s.reorg(late, [late.mine(), late.mine()])
    expect([s.said(T), s.unpriced(T)]).toEqual(['none', 'NO_POOL'])
  })

  it('R7: below the finalized block it is refused', () => {
    const s = market()
    const branch = s.branch()
    s.mine()
    s.mine()
    s.finalize()
    expect(() => s.reorg(branch, [branch.mine()])).toThrow('below the finalized block')
  })

  it('R-reorg-5: while finality is behind, undo is kept for max_undo_blocks', () => {
    const s = scenario({ policy: { max_undo_blocks: 3 } })
    const tooDeep = s.branch()
    s.mine()
    const deepest = s.branch('c')
    for (let n = 0; n < 3; n++) s.mine()
    expect(s.state.journals.length).toBe(3)
    s.reorg(deepest, [deepest.mine()])
    expect(s.state.chain.tip?.hash).toBe(s.tip.hash)
    for (let n = 0; n < 3; n++) s.mine()
    expect(() => s.reorg(tooDeep, [tooDeep.mine()])).toThrow('below the finalized block')
  })
})

describe('finality', () => {
  it('R-final-2: marks the pools of settled blocks finalized, each with a record, and republishes the tokens this raises', () => {
    const s = market()
    s.mine({ afterMs: 5 * MINUTE })
    s.sell(P1, 1_000n * E18)
    s.mine()
    s.finalize()
    expect(s.poolText(P1)).toMatchObject({ finality: 'finalized', components: { state: { score: 10 } } })
    expect(s.poolRecords().every(record => record.type === 'PRICE_UPSERT')).toBe(true)
    expect(s.pricedNow(T).components).toMatchObject({ aggregate_state: { score: 10 } })
  })

  it('R-final-2: a pool that changed again after the settled block stays canonical', () => {
    const s = market()
    s.sell(P1, 1_000n * E18)
    s.mine()
    const settled = s.tip
    s.sell(P1, 1_000n * E18)
    s.mine()
    s.finalize(settled)
    expect(s.edge(P1).finality).toBe('canonical')
    expect(recordOf(s, P1)).toBe(undefined)
  })

  it('R-final-1: is monotonic: an older report changes nothing', () => {
    const s = market()
    const first = s.tip
    s.sell(P1, 1_000n * E18)
    s.mine()
    s.finalize()
    const { finalized } = s.state.chain
    s.finalize(first)
    expect([s.state.chain.finalized, s.result.records]).toEqual([finalized, []])
    expect(s.edge(P1).finality).toBe('finalized')
  })

  it('R-final-1: of a block that is not on our chain is refused', () => {
    const s = market()
    expect(() => s.finalize({ ...s.tip, hash: '0xdead' })).toThrow('not on our chain')
  })

  it('R-final-2: settled blocks need no undo data: it is deleted with the commit', () => {
    const s = market()
    const { number } = s.tip
    s.finalize()
    expect(s.state.journals).toEqual([])
    expect(s.result.changed).toContain(`undo/${number}`)
  })
})
