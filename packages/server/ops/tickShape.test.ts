import { executionAsyncResource } from 'node:async_hooks'
import { expect, it } from 'vitest'
import { keepTickShape } from './tickShape.ts'

const nextTick = () =>
  new Promise<object>(resolve => process.nextTick(() => resolve(executionAsyncResource())))

it('keeps a single tick, with the shape all ticks have', async () => {
  const kept = keepTickShape()
  keepTickShape()
  const another = await nextTick()
  keepTickShape()
  await nextTick()
  expect(kept).toHaveLength(1)
  expect(kept[0]).not.toBe(another)
  expect(Reflect.ownKeys(kept[0] as object)).toEqual(Reflect.ownKeys(another))
})
