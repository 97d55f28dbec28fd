/** The records other tests are built from are records of the wire. */
import { expect, test } from 'vitest'
import { PoolPage } from '../wire/pool.ts'
import { Session } from '../wire/session.ts'
import { Envelope } from '../wire/stream.ts'
import { conformance } from './conformance.ts'
import * as sample from './sample.ts'

test('every sample conforms to its schema', () => {
  const sides = [sample.poolToken(1, sample.priced(150, 7)), sample.poolToken(2, null)] as const
  expect(sample.eachEnvelope().flatMap(conformance(Envelope))).toEqual([])
  expect(conformance(PoolPage)(sample.page(9, [sample.pool(1, sides, sample.poolState(3))]))).toEqual([])
  expect(conformance(Session)(sample.session('cursor', 4))).toEqual([])
})
