/** Logs of a v4 manager: what we slice out by hand is what viem decodes. */
import fc from 'fast-check'
import {
  decodeEventLog,
  encodeAbiParameters,
  encodeEventTopics,
  keccak256,
  parseAbi,
  parseAbiParameters,
} from 'viem'
import { describe, expect, test } from 'vitest'
import type { LogEntry } from '../../feed/answers/entry.ts'
import { logOf } from '../../feed/testing/logOf.ts'
import type { Hex } from '../../ops/hex.ts'
import { poolOf, readEvent, readKey, SIGNATURES, TOPIC } from './logs.ts'
import { NATIVE, poolIdOf } from './poolKey.ts'

const abi = parseAbi([
  'event Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, uint24 fee, int24 tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick)',
  'event ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32 salt)',
  'event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee)',
  'event ProtocolFeeUpdated(bytes32 indexed id, uint24 protocolFee)',
])

const bytes = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((each): Hex => `0x${Buffer.from(each).toString('hex')}`)
const id = bytes(32)
const address = bytes(20)
const uint = (bits: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n })
const int = (bits: number) =>
  fc.bigInt({ min: -(1n << BigInt(bits - 1)), max: (1n << BigInt(bits - 1)) - 1n })
const tick = fc.integer({ min: -887_272, max: 887_272 })
const ppm = fc.integer({ min: 0, max: 1_000_000 })

const logged = (topics: readonly unknown[], data: Hex): LogEntry =>
  logOf(`0x${'44'.repeat(20)}`, topics, data)

/** viem's decoding of it. */
const viems = (log: LogEntry) =>
  decodeEventLog({ abi, topics: log.topics as [Hex, ...Hex[]], data: log.data })

describe('a log of the manager decodes as in viem', () => {
  test('Swap', () => {
    fc.assert(
      fc.property(
        id,
        address,
        int(128),
        int(128),
        uint(160),
        uint(128),
        tick,
        ppm,
        (pool, sender, ...values) => {
          const [amount0, amount1, sqrtPriceX96, liquidity, at, fee] = values
          const topics = encodeEventTopics({ abi, eventName: 'Swap', args: { id: pool, sender } })
          const types = parseAbiParameters('int128, int128, uint160, uint128, int24, uint24')
          const log = logged(
            topics,
            encodeAbiParameters(types, [amount0, amount1, sqrtPriceX96, liquidity, at, fee]),
          )
          const { args } = viems(log) as unknown as { args: Record<string, bigint | number> }
          expect(poolOf(log)).toBe(pool)
          expect(readEvent(log)).toEqual({
            kind: 'SWAP',
            amount0: 0n - (args['amount0'] as bigint),
            amount1: 0n - (args['amount1'] as bigint),
            sqrtPriceX96: args['sqrtPriceX96'],
            liquidity: args['liquidity'],
            tick: args['tick'],
            feePpm: BigInt(args['fee'] as number),
          })
        },
      ),
    )
  })

  test('ModifyLiquidity', () => {
    fc.assert(
      fc.property(id, address, tick, tick, int(256), id, (pool, sender, lower, upper, delta, salt) => {
        const topics = encodeEventTopics({ abi, eventName: 'ModifyLiquidity', args: { id: pool, sender } })
        const types = parseAbiParameters('int24, int24, int256, bytes32')
        const log = logged(topics, encodeAbiParameters(types, [lower, upper, delta, salt]))
        const { args } = viems(log) as { args: Record<string, unknown> }
        expect(poolOf(log)).toBe(pool)
        expect(readEvent(log)).toEqual({
          kind: 'MODIFY',
          tickLower: args['tickLower'],
          tickUpper: args['tickUpper'],
          liquidityDelta: args['liquidityDelta'],
        })
      }),
    )
  })

  test('Initialize, with the key that its id follows from', () => {
    const fee = fc.oneof(ppm, fc.constant(0x800000))
    fc.assert(
      fc.property(
        address,
        address,
        fee,
        fc.integer({ min: 1, max: 32_767 }),
        address,
        uint(160),
        tick,
        (...values) => {
          const [currency0, currency1, keyFee, tickSpacing, hooks, sqrtPriceX96, at] = values
          const keyTypes = parseAbiParameters('address, address, uint24, int24, address')
          const pool = keccak256(
            encodeAbiParameters(keyTypes, [currency0, currency1, keyFee, tickSpacing, hooks]),
          )
          const topics = encodeEventTopics({
            abi,
            eventName: 'Initialize',
            args: { id: pool, currency0, currency1 },
          })
          const types = parseAbiParameters('uint24, int24, address, uint160, int24')
          const log = logged(
            topics,
            encodeAbiParameters(types, [keyFee, tickSpacing, hooks, sqrtPriceX96, at]),
          )
          const { args } = viems(log) as { args: Record<string, unknown> }
          expect(readEvent(log)).toEqual({
            kind: 'INITIALIZE',
            sqrtPriceX96: args['sqrtPriceX96'],
            tick: args['tick'],
          })
          const key = { currency0, currency1, fee: BigInt(keyFee), tickSpacing, hooks }
          expect(readKey(log)).toEqual(key)
          const otherId: Hex = `0x${'00'.repeat(32)}`
          const [topic0, , ...rest] = log.topics
          expect(readKey(logged([topic0, otherId, ...rest], log.data))).toBeNull()
        },
      ),
    )
  })

  test('ProtocolFeeUpdated', () => {
    fc.assert(
      fc.property(id, fc.integer({ min: 0, max: 0xffffff }), (pool, protocolFee) => {
        const topics = encodeEventTopics({ abi, eventName: 'ProtocolFeeUpdated', args: { id: pool } })
        const log = logged(topics, encodeAbiParameters(parseAbiParameters('uint24'), [protocolFee]))
        expect(readEvent(log)).toEqual({ kind: 'PROTOCOL_FEE', protocolFee: BigInt(protocolFee) })
        expect(poolOf(log)).toBe(pool)
      }),
    )
  })
})

test('a log that changes no pool gives no event', () => {
  expect(readEvent(logged([`0x${'12'.repeat(32)}`], '0x'))).toBeNull()
})

test('every topic is the hash of its signature', () => {
  for (const [topic, signature] of Object.entries(SIGNATURES))
    expect(keccak256(Buffer.from(signature))).toBe(topic)
  expect(Object.keys(SIGNATURES).sort()).toEqual(Object.values(TOPIC).sort())
})

test('R-ticks-7: a dynamic fee in the word before the tick is read as neither: the pool begins at its own tick', () => {
  const [currency0, currency1]: [Hex, Hex] = [NATIVE, `0x${'a0'.repeat(20)}`]
  const hooks: Hex = `0x${'00'.repeat(18)}2080`
  const key = { currency0, currency1, fee: 0x800000n, tickSpacing: 60, hooks }
  const topics = encodeEventTopics({
    abi,
    eventName: 'Initialize',
    args: { id: poolIdOf(key), currency0, currency1 },
  })
  const types = parseAbiParameters('uint24, int24, address, uint160, int24')
  const log = logged(topics, encodeAbiParameters(types, [0x800000, 60, hooks, 1n << 96n, 0]))
  expect(readEvent(log)).toEqual({ kind: 'INITIALIZE', sqrtPriceX96: 1n << 96n, tick: 0 })
  expect(readKey(log)).toEqual(key)
})

test('R-ticks-8: the id of the pool of ETH and USDC at 0.05% on Ethereum', () => {
  const currency1 = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
  const id = poolIdOf({ currency0: NATIVE, currency1, fee: 500n, tickSpacing: 10, hooks: NATIVE })
  expect(id).toBe('0x21c67e77068de97969ba93d4aab21826d33ca12bb9f565d8496e8fda8a82ca27')
})
