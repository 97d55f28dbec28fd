/** Which pools account with reserves; the others use ticks. */
import type { AmmState } from './families.ts'

type Pair = Extract<AmmState, { readonly reserve0: bigint }>

export const isPair = (state: AmmState): state is Pair => 'reserve0' in state
