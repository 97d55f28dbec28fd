/** The pool families of the local world, one line each. */
import type { DeploymentPlan } from '../plan.ts'
import type { WorldFamily } from './family.ts'
import { managed } from './managed.ts'
import { algebraV1, pancakeV3, uniswapV3 } from './ownPools.ts'
import { pairs } from './pairs.ts'

const FAMILIES: Readonly<Record<DeploymentPlan['family'], WorldFamily>> = {
  amm_v2: pairs,
  amm_v3: uniswapV3,
  amm_v3_pancake: pancakeV3,
  amm_algebra_v1: algebraV1,
  amm_v4: managed,
}

export const familyOf = ({ family }: Pick<DeploymentPlan, 'family'>): WorldFamily => FAMILIES[family]
