import { expect, test } from 'vitest'
import { measure } from './words.ts'

test.each([
  ['14535446 microusd', '$14.53'],
  ['1999999 microusd', '$1.99'],
  ['0 microusd', '$0.00'],
  ['1234567890000 microusd', '$1,234,567.89'],
  ['10000 ppm', '10000 ppm'],
  ['less than 60000 ms', 'less than 60000 ms'],
])('a rule that measured %s is printed with %s', (text, printed) => {
  expect(measure(text)).toBe(printed)
})
