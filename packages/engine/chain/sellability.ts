/**
 * Whether a token can be sold, as simulated at a block (R-sell-1). A reading is undone with its block, and an older
 * reading never replaces a newer one. A reading that confirms the known result renews the time of the check, and
 * publishes nothing.
 */
import type { Sellability } from '../entities.ts'
import type { Input } from '../input.ts'
import { type Sellable, withSales } from '../rules/sellability.ts'
import { roleOf } from '../setup.ts'
import type { State } from '../state.ts'
import { triggers } from '../triggers.ts'
import type { Ms } from '../units.ts'
import type { Work } from '../work.ts'
import type { Address } from './block.ts'
import { isReplacedAbove, placeOf, setSellability } from './changes.ts'
import { knownToken, poolsOf } from './registry.ts'

export function applySellability(
  state: State,
  { block, readings }: Extract<Input, { kind: 'sellability' }>,
  atMs: Ms,
  work: Work,
): void {
  const place = placeOf(state, block)
  if (place === null) return
  for (const { token: address, ...found } of readings) {
    const token = knownToken(state, address)
    const before = token.sellability
    const isOlder =
      (before?.block.number ?? 0) > block.number ||
      isReplacedAbove(state, block, 'sellability', token.address)
    // Stables and routing assets are not probed.
    if (isOlder || roleOf(state.setup, token.address) !== 'TOKEN') continue
    const next: Sellability = {
      ...withSales(found, lastSaleOf(state, address), block.timeMs),
      block,
      checkedAtMs: atMs,
    }
    setSellability(state, token, next, place.journal)
    if (before === undefined || !isSame(before, next)) triggers.sellability(work, token.address)
  }
}

/** Considers any of its pools: a token that can be sold in one of them is not unsellable. */
function lastSaleOf(state: State, token: Address): Ms | null {
  let lastMs: Ms | null = null
  for (const { state: pool } of poolsOf(state, token)) {
    const saleMs = pool.lastSaleMs ?? null
    if (saleMs !== null && (lastMs === null || saleMs > lastMs)) lastMs = saleMs
  }
  return lastMs
}

const SHOWN = ['status', 'buyTaxBps', 'transferTaxBps', 'sellTaxBps', 'reason'] as const

const isSame = (before: Sellable, next: Sellable): boolean => SHOWN.every(key => before[key] === next[key])
