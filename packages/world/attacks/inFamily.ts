/** Attacks on pools of other families than those they were written for: the same moves must fail there too. */
import type { Attack } from './attack.ts'
import { POOL_FAMILIES, type PoolFamily } from './families.ts'
import { aroundOneTrade } from './liquidity/aroundOneTrade.ts'
import { edgeParking } from './liquidity/edgeParking.ts'
import { everySecondBlock } from './liquidity/everySecondBlock.ts'
import { lateLiquidity } from './liquidity/lateLiquidity.ts'
import { oneSided } from './liquidity/oneSided.ts'
import { rented } from './liquidity/rented.ts'
import { rug } from './liquidity/rug.ts'
import { tickBomb } from './liquidity/tickBomb.ts'
import { youngPool } from './liquidity/youngPool.ts'
import { youngPoolSeen } from './liquidity/youngPoolSeen.ts'
import { concentrated } from './price/concentrated.ts'
import { flash } from './price/flash.ts'
import { heldBack } from './price/heldBack.ts'
import { heldBeforeAsked } from './price/heldBeforeAsked.ts'
import { heldInOne } from './price/heldInOne.ts'
import { heldInTwo } from './price/heldInTwo.ts'
import { oneBlock } from './price/oneBlock.ts'
import { parkedAtBlockEnds } from './price/parkedAtBlockEnds.ts'
import { pushedBeforeAsked } from './price/pushedBeforeAsked.ts'
import { pushedTwiceBeforeAsked } from './price/pushedTwiceBeforeAsked.ts'
import { sandwich } from './price/sandwich.ts'
import type { Stage } from './stage.ts'
import { stray } from './votes/stray.ts'
import { strayInAndOut } from './votes/strayInAndOut.ts'
import { sameSecond } from './chain/sameSecond.ts'

/** Those whose outcome depends on how a pool keeps its price, its liquidity and its past; open ones are open in all. */
const PLAYED: readonly Attack[] = [
  aroundOneTrade,
  edgeParking,
  everySecondBlock,
  lateLiquidity,
  ...oneSided,
  rented,
  rug,
  tickBomb,
  youngPool,
  youngPoolSeen,
  concentrated,
  flash,
  heldBack,
  ...heldBeforeAsked,
  heldInOne,
  heldInTwo,
  oneBlock,
  parkedAtBlockEnds,
  pushedBeforeAsked,
  pushedTwiceBeforeAsked,
  sandwich,
  ...stray,
  ...strayInAndOut,
  sameSecond,
].filter(({ open }) => open === undefined)

/** Attacks that need a fee, or ticks closer to each other, than a pool of the family has. */
const IMPOSSIBLE: Partial<Record<PoolFamily, readonly string[]>> = {
  algebra: ['parked at a tick edge', 'T8 stray pool of 9% at 0.907'],
}

/** The families that no attack names itself. */
export const OTHER_FAMILIES = ['v4', 'pancake', 'algebra'] as const satisfies readonly PoolFamily[]

/** An attack in a family, and the attack as it was written. */
export type FamilyAttack = Attack & {
  readonly written: Attack
  readonly family: (typeof OTHER_FAMILIES)[number]
}

export const nameIn = ({ name }: Pick<Attack, 'name'>, family: PoolFamily): string =>
  `${name}, ${POOL_FAMILIES[family].title}`

export const FAMILY_ATTACKS: readonly FamilyAttack[] = PLAYED.flatMap(written =>
  OTHER_FAMILIES.filter(family => IMPOSSIBLE[family]?.includes(written.name) !== true).map(family => ({
    ...written,
    written,
    family,
    name: nameIn(written, family),
    play: stage => written.play(withPoolsOf(stage, family)),
  })),
)

/**
 * The same stage, on which the pools that the attack creates are of this family, as far as it has factories for them.
 * Pools of WETH stay pairs.
 */
function withPoolsOf(stage: Stage, family: PoolFamily): Stage {
  const taken = new Set<string>()
  const pool: Stage['pool'] = (name, spec) => {
    // A pair and a pool of v3 may share tokens at factories of the same letter; two pools of one family may not.
    const key = `${spec.of} ${spec.with} ${spec.factory ?? 'a'} ${spec.feePpm}`
    const factory = taken.has(key) ? 'b' : (spec.factory ?? 'a')
    taken.add(key)
    const isPossible = POOL_FAMILIES[family].factories.includes(factory)
    return stage.pool(name, isPossible ? { ...spec, family, factory } : spec)
  }
  return new Proxy(stage, {
    get(of, key) {
      if (key === 'pool') return pool
      const value: unknown = Reflect.get(of, key)
      return typeof value === 'function' ? (value.bind(of) as unknown) : value
    },
  })
}
