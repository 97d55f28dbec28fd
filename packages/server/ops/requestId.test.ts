import { expect, it } from 'vitest'
import { requestId } from './requestId.ts'

/** More than are made of one beginning. */
const MANY = 10_000

it('gives every response its own id, in the form of a UUID and in creation order', () => {
  const ids = Array.from({ length: MANY }, requestId)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  expect(new Set(ids).size).toBe(MANY)
  expect(ids.toSorted()).toEqual(ids)
})
