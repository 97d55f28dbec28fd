/** Pools with ticks: the slot that a hop shows, and the ticks around its price read from a node. */
import { fromWords, isTickAt, marginalV3, tick, tickBitmap } from '@assay/engine/rules'
import type { Hop } from '../../wire/route.ts'
import type { Findings } from '../findings.ts'
import { word, type Words } from '../node.ts'
import type { Held } from './family.ts'

type Slot = Parameters<typeof marginalV3>[0]
type TickBook = ReturnType<typeof fromWords>

/** The ticks read on each side of the price: a little over 4%, twice the boundary of the depth. */
const REACH = 420

export function heldSlot(findings: Findings, hop: Hop, path: string): Held {
  const own = `${path}.slot`
  if (hop.slot === undefined)
    return findings.unreadable(own, null, 'the slot of a pool with ticks', [`${path}.family`])
  const sqrtPriceX96 = findings.positive(`${own}.sqrt_price_x96`, hop.slot.sqrt_price_x96)
  const liquidity = findings.positive(`${own}.liquidity`, hop.slot.liquidity)
  findings.holds(
    `${own}.tick`,
    hop.slot.tick,
    Number.isInteger(hop.slot.tick) && isTickAt(tick(hop.slot.tick), sqrtPriceX96),
    'the tick of the price',
    [`${own}.sqrt_price_x96`],
  )
  const marginal = marginalV3({ sqrtPriceX96, tick: tick(hop.slot.tick), liquidity })
  return { marginal, from: [`${own}.sqrt_price_x96`], priced: null }
}

/** A swap's amounts come first, positive into the pool. */
export const slotNets = (log: Words): readonly [bigint, bigint] => [log.int(0), log.int(1)]

export const shownSlot = ({ sqrtPriceX96, tick, liquidity }: Slot): Readonly<Record<string, unknown>> => ({
  sqrt_price_x96: sqrtPriceX96.toString(),
  tick,
  liquidity: liquidity.toString(),
})

/** Reads the words and ticks around the price, one after the other. */
export async function readBook(
  call: (data: string) => Promise<Words>,
  selectors: { readonly word: string; readonly tick: string },
  spacing: ReturnType<typeof tick>,
  at: number,
): Promise<TickBook> {
  const wordOf = (each: number) => Math.floor(Math.floor(each / spacing) / 256)
  const [first, last] = [wordOf(at - REACH), wordOf(at + REACH)]
  const bits: tickBitmap.Word[] = []
  for (let position = first; position <= last; position++)
    bits.push({
      position: BigInt(position),
      bits: (await call(`${selectors.word}${word(BigInt(position))}`)).uint(0),
    })
  const entries = []
  for (const marked of bits.flatMap(each => tickBitmap.ticksOf(each, spacing))) {
    const answer = await call(`${selectors.tick}${word(BigInt(marked))}`)
    entries.push({ tick: marked, gross: answer.uint(0), net: answer.int(1) })
  }
  return fromWords(spacing, bits, entries)
}
