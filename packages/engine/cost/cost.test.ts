import { expect, test } from 'vitest'
import { E18, E6, P1, P2, P3, P4, P5, T, USDC, WETH } from '../testing/cast.ts'
import { scenario } from '../testing/scenario.ts'
import { CostToMove, isBelievable, MOVES } from './cost.ts'

test('probe', () => {
  const s = scenario()
  s.v2(P1, [T, 1_000_000n * E18], [USDC, 1_000_000n * E6])
  s.v2(P2, [T, 600_000n * E18], [USDC, 600_000n * E6], { deployment: 'b' })
  s.v2(P3, [T, 300_000n * E18], [WETH, 150n * E18], { deployment: 'c' })
  s.v2(P4, [WETH, 5_000n * E18], [USDC, 10_000_000n * E6])
  s.v2(P5, [WETH, 5_000n * E18], [USDC, 10_000_000n * E6], { deployment: 'b' })
  s.enrol(T)
  s.quiet(2_400_000)
  console.log(s.score(T), s.priced(T).price_usd.display)
  const t0 = performance.now()
  const cost = new CostToMove(s.state, T, s.nowMs)
  const { evaluation } = cost.present
  expect(isBelievable(evaluation)).toBe(true)
  if (!isBelievable(evaluation)) return
  for (const move of MOVES) {
    const before = cost.rehearsal.looks
    const t = performance.now()
    const found = cost.of(move, evaluation)
    console.log(
      move,
      found && {
        ...found,
        price: Number(found.price.num) / Number(found.price.den),
        pushes: found.pushes.map(p => [p.pool.address.slice(-3), p.side, p.amountIn]),
      },
      cost.rehearsal.looks - before,
      performance.now() - t,
    )
  }
  console.log(performance.now() - t0)
})
