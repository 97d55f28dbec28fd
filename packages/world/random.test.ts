import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Random } from './random.ts'
import { seedOfRun } from './seed.ts'

const seeds = fc.nat(2 ** 32 - 1)

describe('Random', () => {
  it('draws the same from the same seed, and different values from another seed or stream', () => {
    const draw = (random: Random) => Array.from({ length: 8 }, () => random.uint32())
    fc.assert(
      fc.property(seeds, seed => {
        expect(draw(new Random(seed))).toEqual(draw(new Random(seed)))
        expect(draw(new Random(seed))).not.toEqual(draw(new Random(seed ^ 1)))
        expect(draw(new Random(seed).stream('a'))).not.toEqual(draw(new Random(seed).stream('b')))
      }),
    )
  })

  it('stays inside its bounds, both included, and reaches them', () => {
    const bounds = fc.tuple(fc.bigInt(-(1n << 200n), 1n << 200n), fc.bigInt(0n, 1n << 200n))
    fc.assert(
      fc.property(seeds, bounds, (seed, [least, span]) => {
        const drawn = new Random(seed).bigint(least, least + span)
        expect(drawn >= least && drawn <= least + span).toBe(true)
      }),
    )
    fc.assert(
      fc.property(seeds, fc.bigInt(1n, 1n << 255n), fc.bigInt(0n, 1n << 255n), (seed, least, span) => {
        const drawn = new Random(seed).magnitude(least, least + span)
        expect(drawn >= least && drawn <= least + span).toBe(true)
      }),
    )
    const random = new Random(1)
    const faces = new Set(Array.from({ length: 200 }, () => random.integer(1, 6)))
    expect([...faces].sort()).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('draws small and large magnitudes alike', () => {
    const random = new Random(2)
    const sizes = Array.from(
      { length: 1_000 },
      () => random.magnitude(1n, (1n << 200n) - 1n).toString(2).length,
    )
    const small = sizes.filter(size => size <= 100).length
    expect(small).toBeGreaterThan(400)
    expect(small).toBeLessThan(600)
  })
})

describe('seedOfRun', () => {
  it('takes ASSAY_SEED if set and refuses an invalid seed', () => {
    expect(seedOfRun({ ASSAY_SEED: '42' })).toBe(42)
    expect(seedOfRun({})).toBe(seedOfRun({}))
    const drawn = new Set(Array.from({ length: 20 }, () => seedOfRun({ ASSAY_SEED: 'random' })))
    expect(drawn.size).toBeGreaterThan(1)
    for (const wrong of ['', '-1', '1.5', 'abc', '4294967296']) {
      expect(() => seedOfRun({ ASSAY_SEED: wrong })).toThrow('ASSAY_SEED')
    }
  })
})
