/** Plans of sales carried out on the published contracts, in random markets: `npm run test:exit` tries a thousand. */
import { Random } from '@assay/world'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Priced } from '../price/evaluation.ts'
import { cases } from '../testing/cases.ts'
import { ContractMarkets } from '../testing/contractMarket.ts'
import { printedSeed } from '../testing/printedSeed.ts'
import { exitOf, unitOf } from './exit.ts'
import type { Plan } from './plan.ts'

const MARKETS = Number(process.env['ASSAY_EXIT_MARKETS'] ?? cases(12))

const seed = printedSeed()
let markets: ContractMarkets
beforeAll(async () => {
  markets = await ContractMarkets.start()
})
afterAll(() => markets?.close())

test('R-exit-2: executed on the contracts of a random market, a plan pays what is stated, to the unit', async () => {
  const random = new Random(seed, 'exits')
  const done = { sales: 0, swaps: 0, split: 0 }
  for (let market = 0; market < MARKETS; market++) {
    const { s, token } = await markets.next(random)
    const evaluation = s.evaluation(token)
    if (evaluation.kind === 'UNPRICED') continue
    const plan = planOfAny(evaluation, s.state, random)
    if (plan === null || plan.swaps.length === 0) continue
    const changes = await markets.carryOut(
      s,
      plan.swaps.map(({ pool, amountIn }) => ({ pool: pool.address, from: pool.from, amountIn })),
    )
    const sold = [...plan.shares.values()].reduce((sum, amount) => sum + amount, 0n)
    const stated = new Map([...plan.proceeds, [token, -sold]])
    for (const [address, change] of changes)
      expect([address, change]).toEqual([address, stated.get(address) ?? 0n])
    done.sales++
    done.swaps += plan.swaps.length
    if (plan.shares.size > 1) done.split++
  }
  console.log(
    `${MARKETS} markets: ${done.sales} sales of ${done.swaps} swaps, ${done.split} of them split, all paid as stated`,
  )
  expect(done.sales).toBeGreaterThan(MARKETS / 3)
  expect(done.split).toBeGreaterThan(0)
}, 3_600_000)

/** A sale of a dollar to ten million; where the routes hold less, of as much as they do. */
function planOfAny(priced: Priced, state: Parameters<typeof exitOf>[0], random: Random): Plan | null {
  const unit = unitOf(state, priced)
  const microusd = BigInt(Math.round(10 ** (random.integer(6_000, 13_000) / 1000)))
  for (let amount = (microusd * unit.den) / unit.num; amount > 0n; amount /= 10n) {
    const [sale] = exitOf(state, priced, [amount]).sales
    if (sale?.plan != null) return sale.plan
  }
  return null
}
