import { expect, test } from 'vitest'
import { RoundRobin } from './roundRobin.ts'

/** Tasks that end on request, and the order in which they began. */
function tasks(turns: RoundRobin) {
  const begun: string[] = []
  const ends: (() => void)[] = []
  return {
    begun,
    start: (who: string, name: string) =>
      turns.run(who, () => {
        begun.push(name)
        return new Promise<void>(resolve => ends.push(resolve))
      }),
    /** Ends the task that has run longest, and lets the next begin. */
    end: async () => {
      ends.shift()?.()
      await new Promise(resolve => setImmediate(resolve))
    },
  }
}

test('concurrency is limited, and waiting consumers are served in turn', async () => {
  const { begun, start, end } = tasks(new RoundRobin(2))
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void start('a', name)
  void start('b', 'b1')
  void start('c', 'c1')
  void start('b', 'b2')
  expect(begun).toEqual(['a1', 'a2'])
  for (let at = 0; at < 6; at++) await end()
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5'])
})

test('a failed task releases its slot', async () => {
  const turns = new RoundRobin(1)
  await expect(turns.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await turns.run('b', async () => 'yes')).toBe('yes')
})
