/** Liquidity on one side of the price in twelve shapes: either it pays no seller, or it sells to no buyer. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'
import type { Band } from '../stage.ts'

type Shape = { readonly band: Band; readonly feePpm: 500 | 3000 | 10_000; readonly besides: number }

/** Above and below, next to the price and away from it, narrow and wide, alone and beside 20 USD of real depth. */
const SHAPES: readonly Shape[] = [
  { band: [1.004, 1.04], feePpm: 500, besides: 0 },
  { band: [1.004, 1.04], feePpm: 500, besides: 20 },
  { band: [1.01, 4], feePpm: 3000, besides: 0 },
  { band: [1.01, 4], feePpm: 3000, besides: 20 },
  { band: [1.05, 1.2], feePpm: 3000, besides: 0 },
  { band: [1.05, 1.2], feePpm: 10_000, besides: 20 },
  { band: [0.96, 0.996], feePpm: 500, besides: 0 },
  { band: [0.96, 0.996], feePpm: 500, besides: 20 },
  { band: [0.25, 0.99], feePpm: 3000, besides: 0 },
  { band: [0.25, 0.99], feePpm: 3000, besides: 20 },
  { band: [0.8, 0.95], feePpm: 3000, besides: 0 },
  { band: [0.8, 0.95], feePpm: 10_000, besides: 20 },
]

const nameOf = ({ band: [low, high], feePpm, besides }: Shape) =>
  `one-sided ${low} to ${high} at ${feePpm / 10_000}%${besides > 0 ? ` beside ${besides}` : ''}`

export const oneSided: readonly Attack[] = SHAPES.map(shape => ({
  name: nameOf(shape),
  about: 'all liquidity of a pool lies on one side of its price',
  on: 'engine',
  wanted: { state: 'UNPRICED' },
  async play(stage) {
    await settle(stage, 900, { one: { depth: 50_000, family: 'v3', feePpm: shape.feePpm } })
    if (shape.besides > 0) stage.add('one', shape.besides)
    stage.drain('one', 1)
    if (shape.besides > 0) stage.add('one', shape.besides)
    stage.add('one', 50_000, shape.band)
    await stage.block()
    await stage.look('T')
    await stage.quiet(600)
    await stage.look('T')
  },
}))
