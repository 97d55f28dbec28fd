import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Address } from '../chain/block.ts'
import { cases } from '../testing/cases.ts'
import { address } from '../testing/chainSim.ts'
import { type Ms, ms } from '../units.ts'
import { DueQueue } from './dueQueue.ts'

const [A, B, C] = [address(1), address(2), address(3)]

describe('DueQueue', () => {
  it('gives the earliest due time, and null when nothing is due', () => {
    const queue = new DueQueue()
    expect(queue.next()).toBe(null)
    queue.set(A, ms(30))
    queue.set(B, ms(10))
    queue.set(C, ms(20))
    expect(queue.next()).toBe(10)
    expect(queue.take(ms(9))).toEqual([])
    expect(queue.take(ms(10))).toEqual([B])
    expect(queue.next()).toBe(20)
  })

  it('R-timer-4: overdue timers are taken together, earliest first, ties by token', () => {
    const queue = new DueQueue()
    queue.set(C, ms(5))
    queue.set(B, ms(7))
    queue.set(A, ms(7))
    expect(queue.take(ms(1_000))).toEqual([C, A, B])
    expect(queue.next()).toBe(null)
  })

  it('counts only the last due time of a token: an earlier one does not fire, nor does a removed one', () => {
    const queue = new DueQueue()
    queue.set(A, ms(5))
    queue.set(A, ms(50))
    queue.set(B, ms(6))
    queue.set(B, null)
    expect(queue.next()).toBe(50)
    expect(queue.take(ms(49))).toEqual([])
    expect(queue.take(ms(50))).toEqual([A])
  })

  it('does not give a taken token twice, even when the same due time was set twice', () => {
    const queue = new DueQueue()
    queue.set(A, ms(5))
    queue.set(A, ms(9))
    queue.set(A, ms(5))
    expect(queue.take(ms(20))).toEqual([A])
    expect(queue.take(ms(20))).toEqual([])
  })

  it('is a map from token to due time, whatever the order of setting, removing and taking', () => {
    const token = fc.integer({ min: 1, max: 40 }).map(address)
    const time = fc.integer({ min: 0, max: 60 }).map(ms)
    const action = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({ kind: fc.constant('set' as const), token, dueMs: fc.option(time) }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('take' as const), atMs: time }) },
    )
    fc.assert(
      fc.property(fc.array(action, { maxLength: 250 }), actions => {
        const queue = new DueQueue()
        const model = new Map<Address, Ms>()
        for (const each of actions) {
          if (each.kind === 'take') {
            const due = [...model].filter(([, dueMs]) => dueMs <= each.atMs)
            due.sort(([a, aMs], [b, bMs]) => aMs - bMs || (a < b ? -1 : 1))
            expect(queue.take(each.atMs)).toEqual(due.map(([token]) => token))
            for (const [token] of due) model.delete(token)
          } else {
            queue.set(each.token, each.dueMs)
            if (each.dueMs === null) model.delete(each.token)
            else model.set(each.token, each.dueMs)
          }
          expect(queue.next()).toBe(model.size === 0 ? null : Math.min(...model.values()))
        }
      }),
      { numRuns: cases(1500) },
    )
  })
})
