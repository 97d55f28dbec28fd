/** The pool of Uniswap v3: one fee for its whole life, and nothing but the curve of ticks. */
import { adapter, type Adapter } from '../adapter.ts'
import { staticFee } from '../staticFee.ts'
import type { V3 } from './kind.ts'

export const v3: Adapter<V3> = adapter<V3>(...staticFee('amm_v3'))
