import { expect, test } from 'vitest'
import { FeedError } from '../../feed/feedError.ts'
import { inHalves } from './inHalves.ts'

const ITEMS = Array.from({ length: 16 }, (_, item) => item)
const { signal } = new AbortController()
const failure = new FeedError('BLOCK_UNKNOWN', 'node', 'header not found')

/** What was read, in how many readings, and which items were given up. */
async function reading(fails: (some: readonly number[], reading: number) => boolean) {
  let readings = 0
  const read: number[] = []
  const givenUp: number[] = []
  await inHalves(
    ITEMS,
    async some => {
      readings++
      if (fails(some, readings)) throw failure
      read.push(...some)
    },
    item => givenUp.push(item),
    signal,
  )
  return { readings, read, givenUp }
}

test('a transient failure costs two more readings, however many items there are', async () => {
  expect(await reading((_, at) => at === 1)).toEqual({ readings: 3, read: ITEMS, givenUp: [] })
})

test('an item that always fails is given up, and excludes no other', async () => {
  const { readings, read, givenUp } = await reading(some => some.includes(5))
  expect([read, givenUp]).toEqual([ITEMS.filter(item => item !== 5), [5]])
  expect(readings).toBe(9)
})

test('a failure that splitting cannot isolate is rethrown', async () => {
  for (const thrown of [new FeedError('NO_ENDPOINT', null, 'all are away'), new Error('a bug')])
    await expect(
      inHalves(
        ITEMS,
        () => Promise.reject(thrown),
        () => undefined,
        signal,
      ),
    ).rejects.toBe(thrown)
})
