import { expect, test } from 'vitest'
import { Inbox } from './inbox.ts'

test('items come out in order, whether they wait for the reader or the reader for them', async () => {
  const inbox = new Inbox<number>(10)
  inbox.push(1)
  inbox.push(2)
  const early = [await inbox.next(), await inbox.next()]
  const waiting = inbox.next()
  inbox.push(3)
  expect([...early, await waiting].map(each => each.value)).toEqual([1, 2, 3])
})

test('a full queue accepts nothing until it is read', async () => {
  const inbox = new Inbox<number>(2)
  expect([1, 2, 3].map(n => inbox.push(n))).toEqual([true, true, false])
  await inbox.next()
  expect(inbox.push(4)).toBe(true)
  expect([(await inbox.next()).value, (await inbox.next()).value]).toEqual([2, 4])
})

test('items queued before the end can be read, and the end is permanent', async () => {
  const inbox = new Inbox<number>(2)
  inbox.push(1)
  inbox.end()
  expect(inbox.push(2)).toBe(false)
  expect(await inbox.next()).toEqual({ done: false, value: 1 })
  expect(await inbox.next()).toEqual({ done: true, value: undefined })
  expect(await inbox.next()).toEqual({ done: true, value: undefined })
})

test('clearing drops what was queued and wakes the reader', async () => {
  const inbox = new Inbox<number>(2)
  const waiting = inbox.next()
  inbox.clear()
  expect((await waiting).done).toBe(true)
})
