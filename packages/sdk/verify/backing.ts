/** Whether a pool held the tokens it accounts for when its balances were read, and the resulting cap. */
import { type Backing, backingCap, ms } from '@assay/engine/rules'
import type { Hop } from '../wire/route.ts'
import type { Reading } from './reading.ts'

/** Null without a cap, and when no balances were read. */
export function checkBacking(
  { findings, policy }: Reading,
  { backing, reserves }: Hop,
  path: string,
): ReturnType<typeof backingCap> {
  if (backing === undefined) return null
  const own = `${path}.backing`
  const readMs = findings.integer(`${own}.read_at_ms`, backing.read_at_ms)
  const sinceMs = backing.excess_since_ms
  const found: Backing = {
    holdings: [
      {
        balance: findings.whole(`${own}.balance0`, backing.balance0),
        against: findings.whole(`${own}.against0`, backing.against0),
      },
      {
        balance: findings.whole(`${own}.balance1`, backing.balance1),
        against: findings.whole(`${own}.against1`, backing.against1),
      },
    ],
    readMs: ms(readMs),
    excessSinceMs: sinceMs === null ? null : ms(findings.integer(`${own}.excess_since_ms`, sinceMs)),
  }
  return backingCap(reserves !== undefined, found, policy)
}
