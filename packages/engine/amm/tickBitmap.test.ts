import type { Side } from './states.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases } from '../testing/cases.ts'
import { type Tick, tick as toTick } from '../units.ts'
import { edgeAtOrAbove, edgeDistance, edgeFrom, positionOf, ticksOf } from './tickBitmap.ts'
import { MAX_TICK, MIN_TICK } from './ticks.ts'

const spacing = fc.constantFrom(1, 10, 60, 200, 7).map(toTick)
const tick = fc.integer({ min: MIN_TICK, max: MAX_TICK - 1 }).map(toTick)
const side = fc.constantFrom<Side>(0, 1)

/** A stop by its definition: the first (going down) or last (going up) multiple of the spacing in a word. */
const isEdge = (value: Tick, direction: Side, tickSpacing: Tick): boolean =>
  value % tickSpacing === 0 && (((value / tickSpacing) % 256) + 256) % 256 === (direction === 0 ? 0 : 255)

describe('R-ticks-1: tick bitmap', () => {
  it('decodes a word into exactly the ticks whose bits are set', () => {
    fc.assert(
      fc.property(
        spacing,
        fc.bigInt({ min: -13n, max: 13n }),
        fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }),
        (s, position, bits) => {
          const ticks = ticksOf({ position, bits }, s)
          let encoded = 0n
          for (const one of ticks) {
            const { word, bit } = positionOf(one, s)
            expect(word).toBe(position)
            encoded |= 1n << BigInt(bit)
          }
          expect(encoded).toBe(bits)
          expect(ticks).toEqual([...ticks].sort((a, b) => a - b))
        },
      ),
      { numRuns: cases(500) },
    )
  })

  it('stops at the nearest edge of the direction, going down at it and going up past the tick', () => {
    fc.assert(
      fc.property(tick, side, spacing, (from, direction, s) => {
        const edge = edgeFrom(from, direction, s)
        if (direction === 0) expect(edge).toBeLessThanOrEqual(from)
        else expect(edge).toBeGreaterThan(from)
        expect(Math.abs(edge - from)).toBeLessThanOrEqual(edgeDistance(s))
        if (edge !== MIN_TICK && edge !== MAX_TICK) expect(isEdge(edge, direction, s)).toBe(true)
        const nearest = edgeAtOrAbove(
          toTick(direction === 0 ? from - edgeDistance(s) + 1 : from + 1),
          direction,
          s,
        )
        if (nearest >= MIN_TICK && nearest <= MAX_TICK) expect(nearest).toBe(edge)
      }),
      { numRuns: cases(2000) },
    )
  })

  it('reaches every edge once when it continues from stop to stop', () => {
    for (const s of [60, 200].map(toTick)) {
      const down: Tick[] = []
      for (let at = toTick(MAX_TICK - 1); at > MIN_TICK; at = toTick(edgeFrom(at, 0, s) - 1))
        down.push(edgeFrom(at, 0, s))
      const up: Tick[] = []
      for (let at = MIN_TICK; at < MAX_TICK; at = edgeFrom(at, 1, s)) up.push(edgeFrom(at, 1, s))
      const words = Math.ceil(MAX_TICK / s / 256)
      expect(down.length).toBe(2 * words)
      expect(up.length).toBe(2 * words)
      expect(down.at(-1)).toBe(MIN_TICK)
      expect(up.at(-1)).toBe(MAX_TICK)
    }
  })

  it('refuses a tick between two multiples of the spacing', () => {
    expect(() => positionOf(toTick(61), toTick(60))).toThrow('multiple')
  })
})
