/** A small market from a seed: a token with one to four pools of both families, alone or behind WETH, as it is after 40 minutes. */
import type { Address } from '../chain/block.ts'
import { DAI, E18, E6, MINUTE, P1, P2, P3, P4, P5, P6, P7, T, USDC, WETH } from './cast.ts'
import { seeded } from './randomMarket.ts'
import { type Scenario, scenario } from './scenario.ts'

export type SmallMarket = {
  readonly s: Scenario
  readonly own: readonly Address[]
  readonly all: readonly Address[]
}

const OWN = [P1, P2, P3, P4] as const
const ANCHORS = [P5, P6, P7] as const
const SPACINGS = [
  [500n, 10],
  [3000n, 60],
  [10_000n, 200],
] as const

/** From a thousand dollars to three million, each decade alike. */
export function smallMarket(seed: number): SmallMarket {
  const random = seeded(seed)
  const s = scenario({ stables: [USDC, DAI], routing: [WETH] })
  const dollars = (least: number, decades: number) =>
    BigInt(Math.round(least * 10 ** (random.below(1000 * decades) / 1000)))
  const about = (units: bigint) => (units * BigInt(9_970 + random.below(61))) / 10_000n
  const own = OWN.slice(0, 1 + random.below(4))
  for (const [at, pool] of own.entries()) {
    const usd = dollars(3_000, 3)
    const other = random.pick([USDC, USDC, WETH, DAI])
    const deployment = random.pick(['a', 'b', 'c'])
    const units = other === USDC ? usd * E6 : other === DAI ? usd * E18 : (usd * E18) / 2000n
    if (random.chance(0.6)) s.v2(pool, [T, usd * E18], [other, about(units)], { deployment })
    else wide(s, pool, other, usd, random.pick(SPACINGS), `${deployment}${at}`)
  }
  for (const [at, pool] of ANCHORS.slice(0, 1 + random.below(3)).entries()) {
    const ether = dollars(300, 2)
    s.v2(pool, [WETH, ether * E18], [USDC, about(ether * 2000n * E6)], {
      deployment: ['a', 'b', 'c'][at] as string,
    })
  }
  s.enrol(T)
  s.quiet(40 * MINUTE, MINUTE)
  return { s, own, all: [...own, ...ANCHORS.filter(pool => s.state.pools.has(pool))] }
}

/** From a fifth of the price to five times it. */
function wide(
  s: Scenario,
  pool: Address,
  other: Address,
  usd: bigint,
  [feePpm, tickSpacing]: readonly [bigint, number],
  deployment: string,
): void {
  const raw = other === USDC ? 1e-12 : other === DAI ? 1 : 1 / 2000
  const price = T < other ? raw : 1 / raw
  const tick = Math.round(Math.log(price) / Math.log(1.0001))
  const snap = (at: number) => Math.floor(at / tickSpacing) * tickSpacing
  const unitsT = Number(usd) * 1e18
  const liquidity = BigInt(Math.round(unitsT * Math.sqrt(T < other ? price : 1 / price)))
  const positions = [[snap(tick - 16_000), snap(tick + 16_000), liquidity]] as const
  s.v3(pool, T, other, { tick, feePpm, tickSpacing, deployment, positions })
}
