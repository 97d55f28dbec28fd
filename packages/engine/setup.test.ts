import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createState } from './createState.ts'
import { DEFAULT_POLICY } from './policy/policy.ts'
import { policyVersion } from './policy/policyVersion.ts'
import { canonicalX, type ChainSetup, roleOf } from './setup.ts'
import { cases } from './testing/cases.ts'
import { address } from './testing/chainSim.ts'
import { DAI, T, U, USDC, WBTC, WETH } from './testing/cast.ts'
import { count, ms } from './units.ts'

const SETUP: ChainSetup = {
  chainId: count(1),
  blockTimeMs: ms(12_000),
  stables: [
    { token: USDC, feed: null },
    { token: DAI, feed: null },
  ],
  routingAssets: [WETH, WBTC],
  hasSequencer: false,
}

/** The token that is Y. */
const yOf = (token0: `0x${string}`, token1: `0x${string}`) =>
  canonicalX(SETUP, token0, token1) === 0 ? token1 : token0

describe('canonicalX', () => {
  it('R-pool-5: Y is the stable side, whichever token of the pool it is', () => {
    expect(yOf(USDC, T)).toBe(USDC)
    expect(yOf(T, DAI)).toBe(DAI)
    expect(yOf(USDC, WETH)).toBe(USDC)
    expect(yOf(WETH, DAI)).toBe(DAI)
  })

  it('R-pool-5: without a stable, Y is the side earlier in the ordered routing assets', () => {
    expect(yOf(WETH, WBTC)).toBe(WETH)
    expect(yOf(WBTC, WETH)).toBe(WETH)
    expect(yOf(WBTC, T)).toBe(WBTC)
    expect(yOf(T, WBTC)).toBe(WBTC)
  })

  it('R-pool-5: between two tokens that are neither, Y is token1', () => {
    expect(yOf(T, U)).toBe(U)
    expect(yOf(U, T)).toBe(T)
  })

  it('of two stables the one listed first is Y', () => {
    expect(yOf(USDC, DAI)).toBe(USDC)
    expect(yOf(DAI, USDC)).toBe(USDC)
  })

  it('R-pool-5: one orientation per pair, however the pool orders its tokens', () => {
    const known = [USDC, DAI, WETH, WBTC]
    const any = fc.oneof(fc.constantFrom(...known), fc.integer({ min: 0x10, max: 0xff }).map(address))
    fc.assert(
      fc.property(any, any, (a, b) => {
        fc.pre(a !== b && (known.includes(a) || known.includes(b)))
        expect(yOf(a, b)).toBe(yOf(b, a))
      }),
      { numRuns: cases(1000) },
    )
  })
})

describe('roleOf', () => {
  it('R-pool-4: a token is STABLE, ROUTING or TOKEN by the chain it is on', () => {
    expect([USDC, DAI, WETH, WBTC, T].map(token => roleOf(SETUP, token))).toEqual([
      'STABLE',
      'STABLE',
      'ROUTING',
      'ROUTING',
      'TOKEN',
    ])
  })
})

describe('createState', () => {
  it('knows stables and routing assets from the start, and nothing else about them yet', () => {
    const state = createState(SETUP)
    expect([...state.tokens.keys()]).toEqual([USDC, DAI, WETH, WBTC])
    for (const token of state.tokens.values())
      expect([token.decimals, token.published, token.enrolledAtMs]).toEqual([null, null, null])
    expect([state.pools.size, state.chain.tip, state.chain.health]).toEqual([0, null, null])
    expect(state.policyView).toEqual({ policy: DEFAULT_POLICY, version: policyVersion(DEFAULT_POLICY) })
  })
})
