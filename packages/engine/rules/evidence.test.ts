import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sqrtRatioAtTick } from '../amm/tickMath.ts'
import type { Evidence } from '../entities.ts'
import * as byHand from '../testing/byHand.ts'
import { cases } from '../testing/cases.ts'
import { address } from '../testing/chainSim.ts'
import { DAI, E18, E6, MINUTE, P1, T, USDC } from '../testing/cast.ts'
import { type PoolOptions } from '../testing/drive.ts'
import { Scenario, scenario } from '../testing/scenario.ts'
import { tick } from '../units.ts'
import { changesOf } from '../memory/temporalTape.ts'

const X = 1_000_000n * E18
const Y = 2_000_000n * E6

/** One v2 pool of a million T against two million USDC. */
function onePool(options: PoolOptions = {}): Scenario {
  const s = scenario()
  s.v2(P1, [T, X], [USDC, Y], options)
  return s
}

function evidenceOf(s: Scenario): Evidence {
  const { evidence } = s.pool(P1).state
  if (evidence === null) expect.fail('no evidence')
  return evidence
}

/** `kind in/out`. */
const shown = ({ kind, amountIn, amountOut }: Evidence): string => `${kind} ${amountIn}/${amountOut}`
const simulated = (x: bigint, y: bigint, fee = byHand.FEE): string => {
  const { input, output } = byHand.v2Sale(x, y, fee)
  return `SIMULATED_SWAP ${input}/${output}`
}

/** Reserves after a sale of T. */
const after = (input: bigint) => [X + input, Y - byHand.v2Out(X, Y, input)] as const

describe('SIMULATED_SWAP', () => {
  it('R-evidence-3, R-evidence-6: sells D_down/1000 of X on the block-final state of a v2 pool', () => {
    const s = onePool()
    expect(byHand.v2Reference(X, Y)).toBe(byHand.divideUp(byHand.v2Down(X, Y), 1000n))
    expect(shown(evidenceOf(s))).toBe(simulated(X, Y))
    expect(evidenceOf(s)).toMatchObject({ block: s.tip, transactionHash: null, logIndex: null })
  })

  it('R-evidence-1, R-pool-5: is a sale of X for Y whichever of the two is token0', () => {
    const s = scenario({ stables: [DAI] })
    const pool = s.v2(P1, [T, X], [DAI, 3n * X])
    expect([pool.token0, pool.x, pool.from, pool.to]).toEqual([T, 0, T, DAI])
    expect(shown(evidenceOf(s))).toBe(simulated(X, 3n * X))
    const other = onePool().pool(P1)
    expect([other.token0, other.x, other.from, other.to]).toEqual([USDC, 1, T, USDC])
  })

  it('R-evidence-3: sells D_down/1000 of X on a v3 pool, to the unit, in both directions', () => {
    const liquidity = 10n ** 24n
    for (const [stable, side] of [
      [DAI, 0],
      [USDC, 1],
    ] as const) {
      const s = scenario({ stables: [stable] })
      s.v3(P1, T, stable, { tick: 1_000, positions: [[-60_000, 60_000, liquidity]] })
      const flat = { sqrtPriceX96: sqrtRatioAtTick(tick(1_000)), liquidity, feePpm: 3000n }
      // With X = token1 the oriented price is the reciprocal: lowering it to 98/100 raises the pool's to 100/98.
      const down =
        side === 0
          ? byHand.v3InputDown(flat, { num: 98n, den: 100n })
          : byHand.v3InputUp(flat, { num: 100n, den: 98n })
      const up =
        side === 0
          ? byHand.v3InputUp(flat, { num: 102n, den: 100n })
          : byHand.v3InputDown(flat, { num: 100n, den: 102n })
      expect(s.pool(P1).state.depth).toEqual({ up, down })
      const input = byHand.divideUp(down, 1000n)
      expect(shown(evidenceOf(s))).toBe(`SIMULATED_SWAP ${input}/${byHand.v3Out(flat, side, input)}`)
    }
  })

  it('R-evidence-3, T17: sells a single unit of X where a thousandth of the depth is no more', () => {
    const [x, y] = [1_000n, 1_000_000n * E6]
    const s = scenario()
    s.v2(P1, [T, x], [USDC, y])
    expect(byHand.v2Down(x, y)).toBeLessThan(1_000n)
    expect(shown(evidenceOf(s))).toBe(`SIMULATED_SWAP 1/${byHand.v2Out(x, y, 1n)}`)
  })

  it('R-evidence-3: sells at least 200 units of X to a v3 pool, so that the fee does not swallow the rounding', () => {
    const s = scenario({ stables: [DAI] })
    // A unit of T is worth 10^12 units of DAI.
    s.v3(P1, T, DAI, { tick: 276_300, positions: [[210_000, 330_000, 10n ** 13n]] })
    const { depth } = s.pool(P1).state
    expect([depth !== null && depth.down < 200_000n, depth !== null && depth.down > 200n]).toEqual([
      true,
      true,
    ])
    expect(evidenceOf(s).amountIn).toBe(200n)
  })

  it('R-policy-4: in revision 1 at least 10,000 units of X are sold', () => {
    const s = scenario({ policy: { revision: 1 } })
    s.v2(P1, [T, 5_000_000n], [USDC, 2_000_000n * E6])
    expect(evidenceOf(s).amountIn).toBe(10_000n)
  })

  it('R-evidence-3: sells the smallest input whose output is at least 10,000 units of Y', () => {
    const [x, y] = [10n ** 30n, 3_000_000n]
    const s = scenario()
    s.v2(P1, [T, x], [USDC, y])
    const { amountIn, amountOut } = evidenceOf(s)
    expect(amountOut).toBeGreaterThanOrEqual(10_000n)
    expect(byHand.v2Out(x, y, amountIn - 1n)).toBe(9_999n)
    expect(amountIn).toBe(byHand.v2Reference(x, y))
    expect(amountIn).toBeLessThanOrEqual(byHand.v2Down(x, y))
  })

  it('R-evidence-4, R-guard-8: EVIDENCE_TOO_COARSE when that input exceeds D_down, and not before', () => {
    const x = 10n ** 30n
    const isEnough = (y: bigint) => byHand.v2Out(x, y, byHand.v2Down(x, y)) >= 10_000n
    const enough = byHand.smallest(10_000n, isEnough)
    const [fine, coarse] = [scenario(), scenario()]
    fine.v2(P1, [T, x], [USDC, enough])
    coarse.v2(P1, [T, x], [USDC, enough - 1n])
    expect(evidenceOf(fine).amountOut).toBe(10_000n)
    expect(coarse.pool(P1).state.evidence).toBe(null)
    coarse.decimals(T, 18)
    expect(coarse.edge(P1)).toMatchObject({
      score: 0,
      derived: { ratio: null },
      failure: { rule: 'EVIDENCE_TOO_COARSE' },
    })
  })

  it('R-evidence-4: EVIDENCE_TOO_COARSE when one unit of X is more than D_down', () => {
    const x = byHand.greatest(1_000n, n => n < 2n || byHand.v2Down(n, Y) < 1n)
    const [coarse, fine] = [scenario(), scenario()]
    coarse.v2(P1, [T, x], [USDC, Y])
    fine.v2(P1, [T, x + 1n], [USDC, Y])
    expect(coarse.pool(P1).state.evidence).toBe(null)
    expect(evidenceOf(fine).amountIn).toBe(1n)
  })

  it('R-evidence-1: always gives less than the marginal ratio, by the fee and the slippage', () => {
    const s = scenario({ stables: [USDC, DAI] })
    let n = 0x1000
    fc.assert(
      fc.property(
        fc.bigInt(10n ** 9n, 10n ** 30n),
        fc.bigInt(10n ** 9n, 10n ** 30n),
        fc.constantFrom<byHand.Fee>([997n, 1000n], [9975n, 10_000n], [98n, 100n], [1n, 1n]),
        fc.constantFrom(USDC, DAI),
        (x, y, fee, stable) => {
          const { state } = s.v2(address(++n), [T, x], [stable, y], { fee })
          if (byHand.v2Reference(x, y, fee) > byHand.v2Down(x, y, fee))
            return expect(state.evidence).toBe(null)
          const evidence = state.evidence as Evidence
          expect(shown(evidence)).toBe(simulated(x, y, fee))
          expect(evidence.amountOut * x).toBeLessThan(evidence.amountIn * y)
        },
      ),
      { numRuns: cases(500) },
    )
  })
})

describe('OBSERVED_SWAP', () => {
  const sale = 1_000n * E18

  it("R-evidence-5: is the block's last swap, with its amounts and its place", () => {
    const s = onePool()
    s.sell(P1, sale)
    const block = s.mine()
    const { transactionHash, logIndex } = block.events.at(-1) as (typeof block.events)[number]
    expect(evidenceOf(s)).toEqual({
      kind: 'OBSERVED_SWAP',
      amountIn: sale,
      amountOut: byHand.v2Out(X, Y, sale),
      block: s.tip,
      transactionHash,
      logIndex,
    })
  })

  it('R-evidence-5: of two sales in one block only the last counts', () => {
    const s = onePool()
    s.sell(P1, sale)
    s.sell(P1, 2n * sale)
    s.mine()
    const [x, y] = [X + sale, Y - byHand.v2Out(X, Y, sale)]
    expect(shown(evidenceOf(s))).toBe(`OBSERVED_SWAP ${2n * sale}/${byHand.v2Out(x, y, 2n * sale)}`)
  })

  it('R-evidence-5: a purchase of X is not evidence', () => {
    const s = onePool()
    s.buy(P1, 1_000n * E6)
    s.mine()
    expect(shown(evidenceOf(s))).toBe(simulated(X - byHand.v2Out(Y, X, 1_000n * E6), Y + 1_000n * E6))
  })

  it('R-evidence-5: a sale before the last swap of the block is not evidence', () => {
    const s = onePool()
    s.sell(P1, sale)
    s.buy(P1, 1_000n * E6)
    s.mine()
    const [x, y] = [X + sale, Y - byHand.v2Out(X, Y, sale)]
    expect(shown(evidenceOf(s))).toBe(simulated(x - byHand.v2Out(y, x, 1_000n * E6), y + 1_000n * E6))
  })

  it('R-evidence-5: an OBSERVED_SWAP below the reference input is not evidence', () => {
    const enough = byHand.smallest(1n, input => input >= byHand.v2Reference(...after(input)))
    const [at, below] = [onePool(), onePool()]
    at.sell(P1, enough)
    below.sell(P1, enough - 1n)
    at.mine()
    below.mine()
    expect(shown(evidenceOf(at))).toBe(`OBSERVED_SWAP ${enough}/${byHand.v2Out(X, Y, enough)}`)
    expect(shown(evidenceOf(below))).toBe(simulated(...after(enough - 1n)))
  })

  it('R-evidence-5: an OBSERVED_SWAP above D_down is not evidence', () => {
    const most = byHand.greatest(X, input => input <= byHand.v2Down(...after(input)))
    const [at, above] = [onePool(), onePool()]
    at.sell(P1, most)
    above.sell(P1, most + 1n)
    at.mine()
    above.mine()
    expect(shown(evidenceOf(at))).toBe(`OBSERVED_SWAP ${most}/${byHand.v2Out(X, Y, most)}`)
    expect(shown(evidenceOf(above))).toBe(simulated(...after(most + 1n)))
  })

  it('R-evidence-5: an OBSERVED_SWAP whose output is below 9,999/10,000 of what the adapter gives is not evidence', () => {
    // A sale whose fair output is a multiple of 10,000, so that the share is met to the unit.
    const fair = 2_000_000_000n
    const sold = byHand.smallest(1n, input => byHand.v2Out(X, Y, input) >= fair)
    expect(byHand.v2Out(X, Y, sold)).toBe(fair)
    const enough = (fair * 9_999n) / 10_000n
    for (const output of [enough, enough - 1n]) {
      const s = onePool()
      s.sync(P1, X + sold, Y - output)
      s.swapLog(P1, [sold, 0n], [0n, output])
      s.mine()
      expect(s.pool(P1).state.verified).toBe(true)
      expect(shown(evidenceOf(s))).toBe(
        output === enough ? `OBSERVED_SWAP ${sold}/${output}` : simulated(X + sold, Y - output),
      )
    }
  })

  it.each([
    { fee: [997n, 1000n], bps: 80n },
    { fee: [99n, 100n], bps: 150n },
  ] as const)(
    'R-evidence-5: an OBSERVED_SWAP further than fee + 50 bps ($bps) from the block-final marginal is not evidence',
    ({ fee, bps }) => {
      const output = byHand.v2Out(X, Y, sale, fee)
      // The marginal ends exactly that far above or below the sale, or one unit of Y further.
      const ends = [
        { x: sale * 10_000n, y: output * (10_000n + bps), isInside: true },
        { x: sale * 10_000n, y: output * (10_000n + bps) + 1n, isInside: false },
        { x: sale * (10_000n + bps), y: output * 10_000n, isInside: true },
        { x: sale * (10_000n + bps), y: output * 10_000n - 1n, isInside: false },
      ]
      for (const { x, y, isInside } of ends) {
        const s = onePool({ fee })
        s.sell(P1, sale)
        s.sync(P1, x, y)
        s.mine()
        expect(s.pool(P1).state).toMatchObject({ verified: true, marginal: { num: y, den: x } })
        expect(shown(evidenceOf(s))).toBe(isInside ? `OBSERVED_SWAP ${sale}/${output}` : simulated(x, y, fee))
      }
    },
  )

  it('R-evidence-5: a swap that gives and takes both tokens counts net', () => {
    const s = onePool()
    const [back, output] = [E18, byHand.v2Out(X, Y, sale) - 10_000n]
    s.sync(P1, X + sale, Y - output)
    s.swapLog(P1, [sale + back, back], [0n, output])
    s.mine()
    expect(s.pool(P1).state.verified).toBe(true)
    expect(shown(evidenceOf(s))).toBe(`OBSERVED_SWAP ${sale}/${output}`)
  })

  it('R-evidence-5: a swap that sold X and got back more X than it gave is a purchase, net', () => {
    const s = onePool()
    const paid = 3_000n * E6
    const got = byHand.v2Out(Y, X, paid - 10n * E6)
    s.sync(P1, X - got, Y + paid)
    s.swapLog(P1, [E18, got + E18], [paid, 0n])
    s.mine()
    expect(s.pool(P1).state.verified).toBe(true)
    expect(shown(evidenceOf(s))).toBe(simulated(X - got, Y + paid))
  })

  it('R-evidence-5: a sale on a v3 pool is evidence with the amounts of its log', () => {
    const liquidity = 10n ** 24n
    const s = scenario({ stables: [DAI] })
    s.v3(P1, T, DAI, { tick: 1_000, positions: [[-60_000, 60_000, liquidity]] })
    s.sell(P1, sale)
    s.mine()
    const flat = { sqrtPriceX96: sqrtRatioAtTick(tick(1_000)), liquidity, feePpm: 3000n }
    expect(shown(evidenceOf(s))).toBe(`OBSERVED_SWAP ${sale}/${byHand.v3Out(flat, 0, sale)}`)
  })

  it('R-evidence-6: liquidity added or removed in a block without a swap leaves a simulated sale', () => {
    const s = onePool()
    s.sell(P1, sale)
    s.mine()
    s.reserves(P1, X / 2n, Y / 2n)
    s.mine()
    expect(shown(evidenceOf(s))).toBe(simulated(X / 2n, Y / 2n))
  })
})

describe('evidence', () => {
  it("R-evidence-7: changes only with the pool's own state: blocks and time alone leave it unchanged", () => {
    const s = onePool()
    s.sell(P1, 1_000n * E18)
    s.mine()
    const before = evidenceOf(s)
    s.quiet(10 * MINUTE)
    s.wait(MINUTE)
    s.recheck(P1)
    s.load(P1)
    expect(evidenceOf(s)).toEqual(before)
  })

  it('R-pool-3: anything undone within the same block leaves no trace in marginal, depth or evidence', () => {
    const s = onePool()
    const before = s.pool(P1).state
    s.sync(P1, 3n * X, Y / 3n)
    s.sync(P1, X, Y)
    s.mine()
    const { marginal, depth, history } = s.pool(P1).state
    expect({ marginal, depth }).toEqual({ marginal: before.marginal, depth: before.depth })
    expect(changesOf(history)).toEqual(changesOf(before.history))
    expect(shown(evidenceOf(s))).toBe(simulated(X, Y))
  })

  it('R-evidence-4: depth UNKNOWN gives no evidence', () => {
    const s = scenario({ stables: [DAI] })
    s.v3(P1, T, DAI, {
      tick: 1_000,
      positions: [[-60_000, 60_000, 10n ** 24n]],
      known: { lowest: tick(960), highest: tick(1_080) },
    })
    expect(s.pool(P1).state).toMatchObject({ depth: null, depthY: null, evidence: null })
    s.decimals(T, 18)
    expect(s.edge(P1).failure?.rule).toBe('DEPTH_UNKNOWN')
  })
})
