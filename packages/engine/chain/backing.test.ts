import { describe, expect, it } from 'vitest'
import { E6, E18, MINUTE, P1, T, USDC } from '../testing/cast.ts'
import { scenario, type Scenario } from '../testing/scenario.ts'

const [X, Y] = [1_000_000n * E18, 1_000_000n * E6]

function pair(policy?: unknown): Scenario {
  const s = scenario(policy === undefined ? {} : { policy })
  s.v2(P1, [T, X], [USDC, Y])
  s.enrol(T)
  s.mine()
  return s
}

/** Balances of X and of Y, in thousandths of what the pair reckons with. */
function held(s: Scenario, x: bigint, y: bigint, block = s.tip): void {
  const balances = [(X * x) / 10_000n, (Y * y) / 10_000n] as const
  const ordered = T < USDC ? balances : ([balances[1], balances[0]] as const)
  s.run({ kind: 'sellability', block, readings: [], balances: [{ pool: P1, balances: ordered }] })
}

const cap = (s: Scenario) => s.priced(T).confidence.caps.find(({ code }) => code === 'UNBACKED')?.cap ?? null

describe('backing', () => {
  it.each([
    [10_000n, 10_000n, null],
    [9950n, 10_000n, null],
    [9949n, 10_000n, 3],
    [10_000n, 9949n, 3],
    [10_050n, 11_000n, null],
    [10_000n, 11_001n, 3],
    [20_000n, 10_000n, 3],
  ])('R-back-1: with %i and %i ten-thousandths of its reserves the cap is %s at once', (x, y, expected) => {
    const s = pair()
    held(s, x, y)
    expect(cap(s)).toBe(expected)
  })

  it('R-back-1: a small excess counts once it has lasted five minutes, and not if it ended in between', () => {
    const s = pair()
    held(s, 10_100n, 10_000n)
    s.mine({ afterMs: 5 * MINUTE - 1000 })
    held(s, 10_100n, 10_000n)
    expect(cap(s)).toBeNull()
    s.mine({ afterMs: 1000 })
    held(s, 10_000n, 10_100n)
    expect(cap(s)).toBe(3)
    s.mine()
    held(s, 10_000n, 10_000n)
    expect(cap(s)).toBeNull()
    s.mine({ afterMs: 5 * MINUTE })
    held(s, 10_100n, 10_000n)
    expect(cap(s)).toBeNull()
  })

  it('R-back-1: a pool of v3 needs what it pays down to 2%, and may hold more', () => {
    const s = scenario()
    s.v3(P1, T, USDC, { positions: [[-600, 600, 10n ** 24n]] })
    s.enrol(T)
    const { depth } = s.pool(P1).state
    expect(depth).not.toBeNull()
    const read = (balances: readonly [bigint, bigint]) =>
      s.run({ kind: 'sellability', block: s.tip, readings: [], balances: [{ pool: P1, balances }] })
    read([10n ** 24n, 10n ** 24n])
    const { holdings } = s.pool(P1).state.backing!
    expect(s.edge(P1).caps.map(({ code }) => code)).not.toContain('UNBACKED')
    const [of0, of1] = holdings
    expect(of0.against).toBeGreaterThan(0n)
    read([of0.against, (of1.against * 9949n) / 10_000n])
    expect(s.edge(P1).caps).toContainEqual({ code: 'UNBACKED', cap: 3 })
    read([of0.against, of1.against])
    expect(s.edge(P1).caps.map(({ code }) => code)).not.toContain('UNBACKED')
  })

  it('R-back-1: a policy of revision 1 has none', () => {
    const s = pair({ revision: 1 })
    held(s, 20_000n, 10_000n)
    expect(cap(s)).toBeNull()
  })

  it('R-back-2: ignores a pool that changed after the block, and is undone with its block', () => {
    const s = pair()
    const before = s.tip
    s.sell(P1, 10n * E18)
    const block = s.mine()
    held(s, 5000n, 5000n, before)
    expect(cap(s)).toBeNull()
    held(s, 5000n, 5000n)
    expect(cap(s)).toBe(3)
    s.run({ kind: 'reorg', ancestor: block.parentHash, blocks: [] })
    expect(s.pool(P1).state.backing).toBeUndefined()
  })
})
