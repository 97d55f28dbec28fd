/** The families of pools with ticks, as tests make pools of each from the same few numbers. */
import type { AmmEvent, Born } from '../amm/families.ts'
import type { Family } from '../amm/familyNames.ts'
import type { Slot, TickChange } from '../amm/states.ts'
import { amount0Down, amount0Up, amount1Down, amount1Up } from '../amm/sqrtPriceMath.ts'
import { sqrtRatioAtTick } from '../amm/tickMath.ts'
import type { Address } from '../chain/block.ts'
import { tick, type Tick } from '../units.ts'

export type TickFamily = Exclude<Family, 'amm_v2'>

type Terms = { readonly feePpm: bigint; readonly tickSpacing: Tick }
type Making = {
  born(terms: Terms): Born
  /** The log of a position that grows, or with a negative amount shrinks. */
  changed(slot: Slot, change: TickChange): AmmEvent
}

/** Holds every pool of v4 that a test makes. */
export const MANAGER: Address = `0x${'44'.repeat(20)}`
const NO_HOOKS: Address = `0x${'0'.repeat(40)}`

const MAKING: Readonly<Record<TickFamily, Making>> = {
  amm_v3: { born: terms => ({ family: 'amm_v3', ...terms }), changed: positionEvent },
  amm_v3_pancake: { born: terms => ({ family: 'amm_v3_pancake', ...terms }), changed: positionEvent },
  amm_algebra_v1: {
    born: ({ tickSpacing }) => ({ family: 'amm_algebra_v1', tickSpacing }),
    changed: positionEvent,
  },
  amm_v4: {
    born: ({ feePpm, tickSpacing }) => ({
      family: 'amm_v4',
      keyFee: feePpm,
      tickSpacing,
      hooks: NO_HOOKS,
      isNative: false,
      manager: MANAGER,
    }),
    changed: (_slot, { lower, upper, delta }) => ({
      kind: 'MODIFY',
      tickLower: lower,
      tickUpper: upper,
      liquidityDelta: delta,
    }),
  },
}

export const TICK_FAMILIES = Object.keys(MAKING) as readonly TickFamily[]

export const makingOf = (family: TickFamily): Making => MAKING[family]

function positionEvent(slot: Slot, { lower, upper, delta }: TickChange): AmmEvent {
  const liquidity = delta < 0n ? -delta : delta
  const ticks = { tickLower: lower, tickUpper: upper }
  return {
    kind: delta < 0n ? 'BURN' : 'MINT',
    ...ticks,
    liquidity,
    ...positionAmounts(slot, lower, upper, delta),
  }
}

/** What a position of this liquidity holds: rounded up when it is paid in, down when it is taken out. */
function positionAmounts(state: Slot, lower: Tick, upper: Tick, change: bigint) {
  const isMint = change >= 0n
  const liquidity = isMint ? change : -change
  const [low, high] = [sqrtRatioAtTick(tick(lower)), sqrtRatioAtTick(tick(upper))]
  const [of0, of1] = isMint ? [amount0Up, amount1Up] : [amount0Down, amount1Down]
  const price = state.sqrtPriceX96
  if (state.tick < lower) return { amount0: of0(low, high, liquidity), amount1: 0n }
  if (state.tick >= upper) return { amount0: 0n, amount1: of1(low, high, liquidity) }
  return { amount0: of0(price, high, liquidity), amount1: of1(low, price, liquidity) }
}
