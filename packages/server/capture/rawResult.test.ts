import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { rawResult } from './rawResult.ts'

const spaces = fc.constantFrom('', ' ', '\n', '\t \r\n')

test('the result is the text in the response, wherever it is and whatever it contains', () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.nat(),
      spaces,
      spaces,
      fc.boolean(),
      (value, id, before, after, isLast) => {
        const text = JSON.stringify(value, null, id % 3)
        const result = `"result"${before}:${after}${text}`
        const rest = `"jsonrpc":"2.0",${before}"id":${id}`
        const body = isLast ? `{${rest},${result}${after}}` : `${before}{${result},${rest}}${after}`
        expect(rawResult(body)).toBe(text)
      },
    ),
  )
})

test('numbers beyond 2^53, spaces, the order of keys and escapes are kept', () => {
  const text = '{ "b":12345678901234567890 ,"a" : "\\u0041\\"}" , "result":[1.50] }'
  expect(rawResult(`{"id":1,"result":${text}}`)).toBe(text)
})

test('a response without a result has none', () => {
  for (const body of ['{"id":1}', '{"id":1,"error":{"result":1}}', '[]', '"result"', '{}', ''])
    expect(rawResult(body)).toBeNull()
})
