/** A manager emits the logs of every pool there is: those of pools that nobody follows are passed over by their id. */
import { expect, test } from 'vitest'
import { encodeAbiParameters, parseAbiParameters } from 'viem'
import type { LogEntry } from '../../feed/answers/entry.ts'
import { logOf } from '../../feed/testing/logOf.ts'
import type { Hex } from '../../ops/hex.ts'
import { decodeBlock } from '../decode.ts'
import type { ConfigOf } from '../family.ts'
import { TOPIC } from './logs.ts'
import { NATIVE, poolIdOf } from './poolKey.ts'

const MANAGER: Hex = `0x${'44'.repeat(20)}`
const WRAPPED: Hex = `0x${'ee'.repeat(20)}`
const [A, B]: [Hex, Hex] = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`]
const HASH: Hex = `0x${'01'.repeat(32)}`
const OURS: Hex = `0x${'77'.repeat(32)}`
const SENDER: Hex = `0x${'00'.repeat(32)}`

const v4: ConfigOf<'amm_v4'> = {
  deploymentId: 'uniswap-v4',
  family: 'amm_v4',
  factoryAddress: MANAGER,
  deploymentBlock: 0,
  initCodeHash: null,
  wrappedNative: WRAPPED,
}

/** Reading anything but the topics is counted. */
let reads = 0
function counted(topics: readonly Hex[], data: Hex): LogEntry {
  const log = logOf(MANAGER, topics, data)
  return new Proxy(log, {
    get(of, key) {
      if (key === 'data' || key === 'dataAt' || key === 'dataEnd') reads++
      const value: unknown = Reflect.get(of, key)
      return typeof value === 'function' ? (value.bind(of) as unknown) : value
    },
  })
}

function decoded(logs: readonly LogEntry[], wanted: readonly Hex[] = []) {
  reads = 0
  const wants: [Hex, Hex][] = []
  const events = decodeBlock(
    [v4],
    { number: 1, hash: HASH, parentHash: HASH, timeMs: 1000, proof: 'receipts', logs },
    pool => (pool === OURS ? 'amm_v4' : null),
    (token0, token1) => {
      wants.push([token0, token1])
      return wanted.includes(token0) && wanted.includes(token1)
    },
  )
  return { events: events.map(({ pool, event }) => `${event.kind} ${pool}`), reads, wants }
}

const swapData = encodeAbiParameters(parseAbiParameters('int128, int128, uint160, uint128, int24, uint24'), [
  -5n,
  5n,
  1n << 96n,
  10n ** 18n,
  0,
  3000,
])
const idOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const topicOf = (token: Hex): Hex => `0x${token.slice(2).padStart(64, '0')}`

test('the logs of a thousand unfollowed pools are not read, and ours among them is', () => {
  const foreign = Array.from({ length: 1000 }, (_, n) => [
    counted([TOPIC.swap, idOf(n), SENDER], swapData),
    counted([TOPIC.modify, idOf(n), SENDER], '0x'),
    counted([TOPIC.protocolFee, idOf(n)], '0x'),
  ]).flat()
  expect(decoded(foreign)).toEqual({ events: [], reads: 0, wants: [] })
  const ours = counted([TOPIC.swap, OURS, SENDER], swapData)
  const found = decoded([...foreign, ours, ...foreign])
  expect(found.events).toEqual([`SWAP ${OURS}`])
  expect(found.reads).toBe(decoded([ours]).reads)
})

/** The log of a new pool, whose key need not hash to its id. */
const born = (id: Hex, currency0: Hex, currency1: Hex): LogEntry =>
  counted(
    [TOPIC.initialize, id, topicOf(currency0), topicOf(currency1)],
    encodeAbiParameters(parseAbiParameters('uint24, int24, address, uint160, int24'), [
      3000,
      60,
      NATIVE,
      1n << 96n,
      0,
    ]),
  )

test('a new pool is looked up by its tokens, the wrapped one for native currency, and read only if wanted', () => {
  const id = poolIdOf({ currency0: NATIVE, currency1: A, fee: 3000n, tickSpacing: 60, hooks: NATIVE })
  const log = born(id, NATIVE, A)
  expect(decoded([log], [A, B])).toEqual({ events: [], reads: 0, wants: [[WRAPPED, A]] })
  expect(decoded([log], [A, WRAPPED]).events).toEqual([`CREATED ${id}`, `INITIALIZE ${id}`])
  expect(decoded([born(idOf(1), NATIVE, A)], [A, WRAPPED]).events).toEqual([])
})

test('logs of the manager without a pool, and truncated ones, are no error', () => {
  const cut = [
    counted([], '0x'),
    counted([TOPIC.swap], '0x'),
    counted([TOPIC.initialize], '0x'),
    counted([TOPIC.initialize, idOf(1)], '0x'),
    counted([`0x${'12'.repeat(32)}`, idOf(1)], '0x'),
    counted([`0x${'12'.repeat(32)}`, OURS], '0x'),
  ]
  expect(decoded(cut, [A, B]).events).toEqual([])
})
