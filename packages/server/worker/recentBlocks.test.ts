import { count, createState, DEFAULT_POLICY, type Input, ms, type NewPool } from '@assay/engine'
import { expect, test } from 'vitest'
import type { Hex } from '../ops/hex.ts'
import { RecentBlocks } from './recentBlocks.ts'

type Block = Extract<Input, { kind: 'block' }>['block']

const POOL: Hex = `0x${'01'.repeat(20)}`
const OTHER: Hex = `0x${'02'.repeat(20)}`
const hash = (name: string): Hex => `0x${Buffer.from(name).toString('hex').padStart(64, '0')}`
const setup = {
  chainId: count(1),
  blockTimeMs: ms(12_000),
  stables: [],
  routingAssets: [],
  hasSequencer: false,
}

const block = (number: number, branch = 'a', parent = branch): Block => ({
  number: count(number),
  hash: hash(`${branch}${number}`),
  timeMs: ms(number * 1000),
  parentHash: hash(`${parent}${number - 1}`),
  proof: 'receipts',
  events: [POOL, OTHER].map(pool => ({ pool, event: { kind: 'SYNC' } }) as Block['events'][number]),
})

/** In a block of these prices of a pool. */
const moved = (of: Block, pool: Hex, ...ticks: readonly number[]): Block => ({
  ...of,
  events: ticks.map(tick => ({ pool, event: { kind: 'SWAP', tick } }) as Block['events'][number]),
})

const born: NewPool = {
  address: POOL,
  deploymentId: 'v2',
  token0: hash('0'),
  token1: hash('1'),
  fee: { family: 'amm_v2', numerator: 997n, denominator: 1000n },
}

function following(): RecentBlocks {
  const recent = new RecentBlocks(createState(setup, DEFAULT_POLICY))
  for (const number of [1, 2, 3]) recent.append(block(number))
  return recent
}

test('blocks above one of ours are known, with the events of watched pools alone', () => {
  const recent = following()
  const stop = recent.watch([born])
  recent.append(block(4))
  stop()
  recent.append(block(5))
  expect(recent.since(hash('a3'))?.map(({ events }) => events.map(({ pool }) => pool))).toEqual([[POOL], []])
  expect(recent.since(hash('a5'))).toEqual([])
  expect(recent.since(hash('x3'))).toBe(null)
  expect(recent.parentOf(hash('a4'))).toBe(hash('a3'))
})

test('two watchers of the same pool do not stop each other', () => {
  const recent = following()
  const stops = [recent.watch([born]), recent.watch([born])]
  stops[0]?.()
  expect(recent.familyOf(POOL)).toBe('amm_v2')
  stops[1]?.()
  expect(recent.familyOf(POOL)).toBe(null)
})

test('orphaned blocks are no longer ours, and their replacements are', () => {
  const recent = following()
  recent.replace(hash('a1'), [block(2, 'b', 'a'), block(3, 'b')])
  expect([hash('a2'), hash('a3')].map(each => recent.since(each))).toEqual([null, null])
  expect(recent.since(hash('a1'))).toHaveLength(2)
})

test('a block that does not follow the last one starts over', () => {
  const recent = following()
  recent.append(block(100, 'c'))
  expect(recent.since(hash('a3'))).toBe(null)
  expect(recent.since(hash('c100'))).toEqual([])
})

test('a pool that moved far within a block is reported so, until that block is orphaned', () => {
  const recent = following()
  recent.append(moved(block(4), POOL, 6900, -6900, 10))
  recent.append(moved(block(5), POOL, 7100, 20))
  recent.append(moved(block(6), OTHER, 30, 900))
  expect(recent.swingOf(POOL)).toEqual({ lowest: -6900, highest: 7100 })
  expect(recent.swingOf(OTHER)).toBeUndefined()
  recent.replace(hash('a4'), [block(5, 'b', 'a')])
  expect(recent.swingOf(POOL)).toEqual({ lowest: -6900, highest: 6900 })
})
