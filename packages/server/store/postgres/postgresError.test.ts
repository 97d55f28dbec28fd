import { expect, test } from 'vitest'
import { toStoreError } from './postgresError.ts'

test.each([
  ['53100', 'STORE_FULL', true],
  ['53300', 'STORE_BUSY', true],
  ['55P03', 'STORE_BUSY', true],
  ['57P01', 'STORE_UNREACHABLE', true],
  ['58030', 'STORE_IO', false],
  ['25006', 'STORE_READ_ONLY', false],
  ['XX001', 'STORE_CORRUPT', false],
  ['42601', 'STORE_INTERNAL', false],
])('SQLSTATE %s is %s', (state, code, retryable) => {
  const failure = Object.assign(new Error('said'), { code: state, severity: 'ERROR' })
  expect(toStoreError(failure)).toMatchObject({ code, retryable })
})

test('a broken socket is unreachable, and an error of ours is unchanged', () => {
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  expect(toStoreError(reset)).toMatchObject({ code: 'STORE_UNREACHABLE', retryable: true })
  expect(toStoreError(new Error('Connection terminated unexpectedly'))).toMatchObject({
    code: 'STORE_UNREACHABLE',
  })
  const ours = new TypeError('x is not a function')
  expect(toStoreError(ours)).toBe(ours)
})
