/** Creations count only from a listed factory, and only with the address that follows from its init code. */
import { expect, test } from 'vitest'
import type { LogEntry } from '../feed/answers/entry.ts'
import type { VerifiedBlock } from '../feed/feed.ts'
import { logOf } from '../feed/testing/logOf.ts'
import type { DeploymentConfig } from '../config/config.ts'
import type { Hex } from '../ops/hex.ts'
import type { ConfigOf } from './family.ts'
import { decodeBlock } from './decode.ts'
import { TOPIC, v2 as pairs } from './v2/v2.ts'
import { encodeAddress, encodeInt } from './abiWords.ts'

const FACTORY: Hex = '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f'
const v2: ConfigOf<'amm_v2'> = {
  deploymentId: 'uniswap-v2',
  family: 'amm_v2',
  factoryAddress: FACTORY,
  deploymentBlock: 0,
  initCodeHash: '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f',
  fee: { numerator: 997, denominator: 1000 },
}
const [A, B]: [Hex, Hex] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`]
const pair = pairs.derived(v2, [A, B], 0n) as Hex
const impostor: Hex = `0x${'66'.repeat(20)}`

const HASH: Hex = `0x${'01'.repeat(32)}`

const creation = (address: Hex, pool: Hex): LogEntry =>
  logOf(
    address,
    [TOPIC.created, `0x${encodeAddress(A)}`, `0x${encodeAddress(B)}`],
    `0x${encodeAddress(pool)}${encodeInt(1n)}`,
  )
const sync = (pool: Hex): LogEntry =>
  logOf(pool, [TOPIC.sync], `0x${encodeInt(5n)}${encodeInt(7n)}`, { logIndex: '0x1' })
const block = (...logs: LogEntry[]): VerifiedBlock => ({
  number: 1,
  hash: HASH,
  parentHash: `0x${'00'.repeat(32)}`,
  timeMs: 1000,
  proof: 'receipts',
  logs,
})
const decode = (deployment: DeploymentConfig, ...logs: LogEntry[]) =>
  decodeBlock(
    [deployment],
    block(...logs),
    () => null,
    () => true,
  ).map(({ pool, event }) => `${event.kind} ${pool}`)

test('R-find-1: a pool created by a listed factory is known from its first event on', () => {
  expect(decode(v2, creation(FACTORY, pair), sync(pair))).toEqual([`CREATED ${pair}`, `SYNC ${pair}`])
})

test('R-find-1: a look-alike is no pool: another emitter, or an address that does not follow from the init code', () => {
  expect(decode(v2, creation(impostor, pair), sync(pair))).toEqual([])
  expect(decode(v2, creation(FACTORY, impostor), sync(impostor))).toEqual([])
})

test('without a known init code hash the factory’s own log is enough', () => {
  expect(decode({ ...v2, initCodeHash: null }, creation(FACTORY, impostor))).toEqual([`CREATED ${impostor}`])
})
