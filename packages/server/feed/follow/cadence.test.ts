import { describe, expect, it } from 'vitest'
import { Cadence } from './cadence.ts'

/** A chain with blocks at these times; polls by the cadence and counts the calls. */
function follow(cadence: Cadence, blocks: readonly { readonly timeMs: number; readonly atMs: number }[]) {
  let [questions, lateMs, seen, nowMs] = [0, 0, 0, 0]
  while (seen < blocks.length - 1) {
    nowMs = Math.max(nowMs + 1, cadence.nextMs)
    questions += 1
    const last = blocks.findLastIndex(({ atMs }) => atMs <= nowMs)
    const block = blocks[last]
    if (block !== undefined && last > seen) {
      lateMs += nowMs - block.atMs
      seen = last
      cadence.found({ number: last, timeMs: block.timeMs }, nowMs)
    } else cadence.missed(nowMs)
  }
  return { perBlock: questions / seen, meanLateMs: lateMs / seen }
}

/** Regular blocks; `jitter` of them in thousandths of a block time, from a fixed sequence. */
const chainOf = (blockMs: number, count: number, jitter = 0) =>
  Array.from({ length: count }, (_, at) => {
    const madeAtMs = at * blockMs
    return {
      timeMs: 1_700_000_000_000 + Math.floor(madeAtMs / 1000) * 1000,
      atMs: madeAtMs + ((at * 7919) % 1000) * (blockMs / 1000) * (jitter / 1000),
    }
  })

describe('the calls for a chain that is polled', () => {
  it.each([250, 450, 1000, 1500, 2000, 12_000])(
    'are at most 1.3 a block at %i ms, and find it soon after it appears',
    blockMs => {
      const { perBlock, meanLateMs } = follow(new Cadence(blockMs), chainOf(blockMs, 500))
      expect(perBlock).toBeLessThan(1.3)
      expect(meanLateMs).toBeLessThan(Math.max(blockMs * 0.1, 50))
    },
  )

  it.each([450, 1000, 12_000])('are at most 1.6 when blocks of %i ms come unevenly', blockMs => {
    const { perBlock, meanLateMs } = follow(new Cadence(blockMs), chainOf(blockMs, 500, 150))
    expect(perBlock).toBeLessThan(1.6)
    expect(meanLateMs).toBeLessThan(blockMs * 0.25)
  })

  it('are at most half a block time apart when no block comes, and at most four seconds', () => {
    for (const [blockMs, restMs] of [
      [100, 100],
      [1000, 500],
      [60_000, 4000],
    ] as const) {
      const cadence = new Cadence(blockMs)
      cadence.found({ number: 1, timeMs: 0 }, 0)
      let last = 0
      for (let n = 0; n < 50; n++) {
        last = cadence.nextMs
        cadence.missed(last)
      }
      expect(cadence.nextMs - last).toBe(restMs)
    }
  })

  it('continue after headers that are far ahead of the clock', () => {
    const cadence = new Cadence(1000)
    cadence.found({ number: 1, timeMs: 0 }, 0)
    cadence.found({ number: 101, timeMs: 500_000 }, 1000)
    expect(cadence.nextMs).toBeLessThanOrEqual(3000)
  })
})
