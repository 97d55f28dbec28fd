/** A load brought forward by events is the load one would have read later, on random lives of both families. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases } from '../testing/cases.ts'
import { address, ChainSim } from '../testing/chainSim.ts'
import { type PoolSpec, seeded, seedPool, trade, USDC, WETH } from '../testing/randomMarket.ts'
import { tick } from '../units.ts'
import { bringForward } from './bringForward.ts'
import type { Block } from './block.ts'

const START_MS = 1_700_000_000_000

describe('R-verify-6: a pool read at a block', () => {
  it('and brought forward by later events equals a read at the later block', () => {
    let touched = 0
    fc.assert(
      fc.property(
        fc.nat(),
        fc.constantFrom('v2' as const, 'v3' as const),
        fc.integer({ min: 0, max: 12 }),
        (seed, kind, blocks) => {
          const random = seeded(seed)
          const sim = new ChainSim({ startMs: START_MS })
          const pools: PoolSpec[] = []
          seedPool(random, sim, pools, [101, USDC, WETH, kind, 'one'])
          seedPool(random, sim, pools, [102, USDC, WETH, 'v2', 'two'])
          sim.mine()
          const read = sim.loaded(address(101))
          const passed: Block[] = []
          for (let at = 0; at < blocks; at++) {
            trade(random, sim, pools)
            passed.push(sim.mine())
          }
          const forward = bringForward(read, passed)
          const own = passed.filter(({ events }) => events.some(({ pool }) => pool === address(101)))
          if (own.length > 0) touched++
          const swapped = own.filter(({ events }) =>
            events.some(({ pool, event }) => pool === address(101) && event.kind === 'SWAP'),
          )
          expect(forward).toEqual({
            ...sim.loaded(address(101)),
            lastTradeMs: swapped.at(-1)?.timeMs ?? null,
          })
        },
      ),
      { numRuns: cases(300) },
    )
    expect(touched).toBeGreaterThan(100)
  })

  it('before its first price is brought forward through its Initialize and first Mint', () => {
    const sim = new ChainSim({ startMs: START_MS })
    sim.createV3({ address: address(101), token0: USDC, token1: WETH, tick: 200_000 })
    const unpriced = {
      ...sim.loaded(address(101)),
      state: { family: 'amm_v3', sqrtPriceX96: 0n, tick: tick(0), liquidity: 0n } as const,
    }
    sim.liquidity(address(101), 199_980, 200_040, 10n ** 18n)
    const block = sim.mine()
    expect(bringForward(unpriced, [block])).toEqual(sim.loaded(address(101)))
  })

  it('is not brought forward past the ticks that were read', () => {
    const sim = new ChainSim({ startMs: START_MS })
    sim.createV3({ address: address(101), token0: USDC, token1: WETH, tick: 0 })
    sim.liquidity(address(101), -60_000, 60_000, 10n ** 24n)
    sim.mine()
    const read = sim.loaded(address(101), { lowest: tick(-120), highest: tick(120) })
    sim.swap(address(101), 0, 10n ** 24n)
    expect(bringForward(read, [sim.mine()])).toBe(null)
  })

  it('is not brought forward by an event of a v3 pool that does not recompute', () => {
    const sim = new ChainSim({ startMs: START_MS })
    sim.createV3({ address: address(101), token0: USDC, token1: WETH, tick: 0 })
    sim.liquidity(address(101), -60_000, 60_000, 10n ** 24n)
    sim.mine()
    const read = sim.loaded(address(101))
    sim.forge(address(101), { kind: 'INITIALIZE', sqrtPriceX96: 1n << 96n, tick: tick(0) })
    expect(bringForward(read, [sim.mine()])).toBe(null)
  })
})
