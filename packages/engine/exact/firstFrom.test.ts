import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { count } from '../units.ts'
import { firstFrom } from './firstFrom.ts'

it('R-timer-2: finds the first whole number from which a condition holds, whatever the ends', () => {
  const whole = fc.integer({ min: 1, max: 2 ** 50 })
  fc.assert(
    fc.property(whole, whole, whole, (after, toFirst, toEnd) => {
      const [first, by] = [after + toFirst, after + toFirst + toEnd]
      const tried: number[] = []
      const found = firstFrom(count(after), count(by), at => {
        tried.push(at)
        return at >= first
      })
      expect(found).toBe(first)
      expect(tried.every(at => at > after && at < by)).toBe(true)
      expect(tried.length).toBeLessThanOrEqual(52)
    }),
  )
})

it('asks nothing when only one number is left', () => {
  const never = () => expect.fail('asked')
  expect(firstFrom(count(-1), count(0), never)).toBe(0)
  expect(firstFrom(count(7), count(7), never)).toBe(7)
})
