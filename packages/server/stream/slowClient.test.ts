import { expect, test } from 'vitest'
import { StoppedClock } from '../endToEnd/testing/testClock.ts'
import { SlowClient } from './slowClient.ts'

function clientWith(undrained: () => number) {
  const clock = new StoppedClock()
  return { clock, client: new SlowClient(undrained, clock) }
}

test('a client has ten seconds for a write, and ten more after each one', () => {
  const { clock, client } = clientWith(() => 1)
  clock.advance(10_000)
  expect(client.hasFinishedNothing()).toBe(false)
  clock.advance(1)
  expect(client.hasFinishedNothing()).toBe(true)
  client.restart()
  expect(client.hasFinishedNothing()).toBe(false)
})

test('a replay goes on while single bytes leave, and is too slow when none has for ten seconds', () => {
  let undrained = 100
  const { clock, client } = clientWith(() => undrained)
  client.hasTakenNothing()
  for (let bytes = 0; bytes < 5; bytes++) {
    clock.advance(9000)
    undrained -= 1
    expect(client.hasTakenNothing()).toBe(false)
  }
  clock.advance(10_001)
  expect(client.hasTakenNothing()).toBe(true)
})

test('more bytes that wait are no progress', () => {
  let undrained = 1
  const { clock, client } = clientWith(() => undrained)
  client.hasTakenNothing()
  clock.advance(10_001)
  undrained = 50
  expect(client.hasTakenNothing()).toBe(true)
})
