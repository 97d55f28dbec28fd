/**
 * The value in dollars of one unit of a stable or routing asset at a block, by the chain alone (R-past-4). The value
 * is the same whenever the block is folded, so neither the clock nor the health of the feed affects it.
 */
import { powerOfTen } from '../../exact/decimal.ts'
import type { Fraction } from '../../exact/fraction.ts'
import * as fraction from '../../exact/fraction.ts'
import type { Decimals, GoodAnswer, Stable } from '../../entities.ts'
import type { Worth } from '../../rules/priceJump.ts'
import { guardStable } from '../../rules/stableGuard.ts'
import type { State } from '../../state.ts'
import { type Count, type Ms, ms } from '../../units.ts'
import type { Address } from '../../chain/block.ts'

/**
 * Blocks continue while an answer or decimals are read. Readings count from this age on, so they apply to the same
 * blocks however late they arrive.
 */
const SETTLED_MS = ms(60_000)

/** Null for a token that is not an anchor, whose decimals are unknown, or that no pool has priced yet. */
export function unitWorth(state: State, token: Address, timeMs: Ms): Worth | null {
  const setup = state.setup.stables.find(each => each.token === token)
  const known = state.tokens.get(token)
  if (setup === undefined) {
    const kept = known?.past?.open.at(-1) ?? known?.present
    if (kept === undefined || !state.setup.routingAssets.includes(token)) return null
    // The recursion ends: `kept.y` is an anchor listed before this one.
    const worth = unitWorth(state, kept.y, timeMs)
    return worth === null ? null : withApprox(fraction.times(kept.ratio, worth))
  }
  const decimals = settledDecimals(known?.decimals ?? null, timeMs)
  if (decimals === null) return null
  const last = settledAt(state.stables.get(token), timeMs)
  const answer = last === null ? null : { ...last, complete: true }
  const { usd } = guardStable(
    { answer, last, feed: setup.feed, sequencer: null },
    state.policyView.policy,
    timeMs,
  ).value
  return withApprox({ num: usd.num, den: usd.den * powerOfTen(decimals) })
}

const withApprox = ({ num, den }: Fraction): Worth => ({ num, den, approx: fraction.approx({ num, den }) })

function settledAt(stable: Stable | undefined, timeMs: Ms): GoodAnswer['answer'] | null {
  return stable?.good.findLast(({ readMs }) => readMs + SETTLED_MS <= timeMs)?.answer ?? null
}

/** The decimals in use at the block; a reading younger than that is ignored. */
export function settledDecimals(decimals: Decimals | null, timeMs: Ms): Count | null {
  if (decimals === null) return null
  if (decimals.block.timeMs + SETTLED_MS <= timeMs) return decimals.value
  return decimals.from ?? decimals.last ?? null
}

/** The answers at which a present or later block may still be valued. */
export function withGood(good: readonly GoodAnswer[], next: GoodAnswer): readonly GoodAnswer[] {
  const sinceMs = next.readMs - SETTLED_MS
  const first = good.findLastIndex(({ readMs }) => readMs <= sinceMs)
  return [...good.slice(Math.max(0, first)), next]
}
