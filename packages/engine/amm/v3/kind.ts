/** A pool of Uniswap v3. */
import type { StaticKind } from '../staticFee.ts'

export type V3 = StaticKind<'amm_v3'>
export type V3Terms = V3['terms']
export type V3State = V3['state']
export type V3Event = V3['event']
