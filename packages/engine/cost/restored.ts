/**
 * The loss of a plan when others trade the pools back to m(t) in every block and the pusher pushes again at the end
 * of each: input minus output, push after push, until the price is accepted. Gas costs nothing here.
 */
import { isSaid, SETTLED_MS, type Wanted } from './belief.ts'
import { givenAway, type UnitOf } from './lever.ts'
import { type Push, pushTo } from './push.ts'
import type { Rehearsal } from './rehearsal.ts'
import { ms } from '../units.ts'
import type { Fraction } from '../exact/fraction.ts'
import type { Pool } from '../entities.ts'

/**
 * The most blocks tried. A pool restored in every block has its old price booked for the whole time (R-visit-2), so a
 * price that is not accepted at the first push hardly ever is later.
 */
const MAX_BLOCKS = 16

/** Blocks between two checks. */
const ASKED_EVERY = 4

/** Null when the price is never accepted. */
export function restoredLoss(
  rehearsal: Rehearsal,
  wanted: Wanted,
  pushes: readonly Push[],
  unitOf: UnitOf,
): bigint | null {
  const before = pushes.map(({ pool }) => ({ pool, marginal: pool.state.marginal as Fraction }))
  const after = rehearsal.attempt(pushes, () =>
    pushes.map(({ pool }) => rehearsal.pool(pool).state.marginal as Fraction),
  )
  let loss = pushes.reduce((sum, push) => sum + givenAway(push, unitOf), 0n)
  return rehearsal.attempt(pushes, () => {
    if (isSaid(wanted, rehearsal.lookAfter(ms(0)))) return atLeastNothing(loss)
    for (let block = 0; block < MAX_BLOCKS; block++) {
      if (rehearsal.blockMs * block > SETTLED_MS) break
      const swaps: Push[] = []
      for (const [at, { pool, marginal }] of before.entries()) {
        const restored = towards(pool, pool.state.amm, pool.state.marginal, marginal)
        const amm = restored?.swaps.at(-1)?.after ?? pool.state.amm
        const again = towards(pool, amm, marginal, after[at] as Fraction)
        if (restored !== null) swaps.push(restored)
        if (again === null) continue
        swaps.push(again)
        loss += givenAway(again, unitOf)
      }
      const timeMs = rehearsal.next(swaps)
      if (block % ASKED_EVERY === ASKED_EVERY - 1 && isSaid(wanted, rehearsal.look(timeMs)))
        return atLeastNothing(loss)
    }
    return null
  })
}

function towards(pool: Pool, amm: Pool['state']['amm'], from: Fraction | null, to: Fraction): Push | null {
  if (from === null) return null
  const factor = { num: to.num * from.den, den: to.den * from.num }
  return factor.num === factor.den ? null : pushTo(pool, amm, factor)
}

/** A pool away from the market may pay the pusher; that gain is not part of the attack. */
const atLeastNothing = (loss: bigint): bigint => (loss > 0n ? loss : 0n)
