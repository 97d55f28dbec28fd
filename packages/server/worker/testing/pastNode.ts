/**
 * A node that has a past: headers and logs of a simulated chain over HTTP, with the limits that providers have. It counts
 * what it is asked.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Input } from '@assay/engine'
import { TOPIC as ALGEBRA } from '../../market/algebra/algebra.ts'
import { SWAP as PANCAKE_SWAP } from '../../market/pancake/pancake.ts'
import { TOPIC as V2 } from '../../market/v2/v2.ts'
import { TOPIC as V3 } from '../../market/v3/v3.ts'
import { TOPIC as V4 } from '../../market/v4/logs.ts'
import { MANAGER } from '../../../engine/testing/tickFamilies.ts'
import { encodeInt } from '../../market/abiWords.ts'
import type { Hex } from '../../ops/hex.ts'

type Block = Extract<Input, { kind: 'block' }>['block']
type PoolEvent = Block['events'][number]
type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }

export type LogFilter = {
  readonly fromBlock: string
  readonly toBlock: string
  readonly address: readonly string[]
  readonly topics: readonly (readonly string[])[]
}

export type PastNode = {
  readonly url: string
  /** Methods, in order; each of a batch by itself. */
  readonly asked: string[]
  /** Of each range of logs that it gave. */
  readonly filters: LogFilter[]
  readonly close: () => Promise<void>
}

export type NodeLimits = {
  readonly mostBlocks: number
  /** In these words. */
  readonly refusal?: string
  readonly saysTimes?: boolean
  /** A log that it leaves out. */
  readonly leavesOut?: (event: PoolEvent) => boolean
}

export async function startPastNode(
  chainId: number,
  blocks: readonly Block[],
  { mostBlocks, refusal = 'block range is too wide', saysTimes = false, leavesOut }: NodeLimits,
): Promise<PastNode> {
  const asked: string[] = []
  const filters: LogFilter[] = []
  const byNumber = new Map<number, Block>(blocks.map(block => [block.number, block]))
  const answer = ({ method, params }: Call): unknown => {
    asked.push(method)
    if (method === 'eth_chainId') return { result: hexOf(chainId) }
    if (method === 'eth_getBlockByNumber') return { result: headerOf(byNumber.get(Number(params[0]))) }
    if (method !== 'eth_getLogs') return { error: { code: -32601, message: 'no such method' } }
    const filter = params[0] as LogFilter
    const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)]
    if (to - from + 1 > mostBlocks) return { error: { code: -32602, message: refusal } }
    filters.push(filter)
    const [, seconds] = filter.topics
    const isAskedFor = ({ address, topics }: { readonly address: Hex; readonly topics: readonly string[] }) =>
      filter.address.includes(address) && seconds?.includes(topics[1] ?? '') !== false
    const result = blocks
      .filter(({ number }) => number >= from && number <= to)
      .flatMap(block =>
        block.events
          .filter(event => leavesOut?.(event) !== true)
          .flatMap(event => logOf(block, event, saysTimes).filter(isAskedFor)),
      )
    return { result }
  }
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as Call | Call[]
      const one = (call: Call) => ({ jsonrpc: '2.0', id: call.id, ...(answer(call) as object) })
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(Array.isArray(body) ? body.map(one) : one(body)))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    filters,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const hexOf = (number: number): Hex => `0x${number.toString(16)}`

const headerOf = (block: Block | undefined): unknown =>
  block === undefined
    ? null
    : {
        number: hexOf(block.number),
        hash: block.hash,
        parentHash: block.parentHash,
        timestamp: hexOf(block.timeMs / 1000),
      }

/** A creation is its factory's to tell, which no pool here has. A pool of v4 logs at its manager. */
function logOf(block: Block, of: PoolEvent, saysTimes: boolean) {
  const { pool, family, logIndex, transactionHash } = of
  const words = wordsOf(of)
  if (words === null) return []
  const [topics, data] = words
  return [
    {
      address: family === 'amm_v4' ? MANAGER : pool,
      topics,
      data: `0x${data.map(encodeInt).join('')}`,
      blockHash: block.hash,
      blockNumber: hexOf(block.number),
      transactionHash,
      transactionIndex: '0x0',
      logIndex: hexOf(logIndex),
      ...(saysTimes ? { blockTimestamp: hexOf(block.timeMs / 1000) } : {}),
    },
  ]
}

const word = (value: number): Hex => `0x${encodeInt(BigInt(value))}`
const OWNER = word(0)

type Words = readonly [topics: readonly string[], data: readonly bigint[]]

const wordsOf = (of: PoolEvent): Words | null =>
  of.family === 'amm_v4' ? wordsOfHeld(of.pool, of.event) : wordsOfOwn(of)

/** Amounts are the swapper's, not the pool's. */
function wordsOfHeld(id: Hex, event: (PoolEvent & { family: 'amm_v4' })['event']): Words | null {
  switch (event.kind) {
    case 'SWAP': {
      const { amount0, amount1, sqrtPriceX96, liquidity, tick, feePpm } = event
      return [
        [V4.swap, id, OWNER],
        [-amount0, -amount1, sqrtPriceX96, liquidity, BigInt(tick), feePpm],
      ]
    }
    case 'MODIFY': {
      const { tickLower, tickUpper, liquidityDelta } = event
      return [
        [V4.modify, id, OWNER],
        [BigInt(tickLower), BigInt(tickUpper), liquidityDelta, 0n],
      ]
    }
    case 'PROTOCOL_FEE':
      return [[V4.protocolFee, id], [event.protocolFee]]
    case 'INITIALIZE':
    case 'CREATED':
      return null
  }
}

function wordsOfOwn({ family, event }: PoolEvent): Words | null {
  switch (event.kind) {
    case 'SYNC':
      return [[V2.sync], [event.reserve0, event.reserve1]]
    case 'INITIALIZE':
      return [[V3.initialize], [event.sqrtPriceX96, BigInt(event.tick)]]
    case 'SWAP': {
      if (!('sqrtPriceX96' in event))
        return [
          [V2.swap, OWNER, OWNER],
          [event.amount0In, event.amount1In, event.amount0Out, event.amount1Out],
        ]
      const slot = [event.amount0, event.amount1, event.sqrtPriceX96, event.liquidity, BigInt(event.tick)]
      return family === 'amm_v3_pancake'
        ? [
            [PANCAKE_SWAP.topic, OWNER, OWNER],
            [...slot, 0n, 0n],
          ]
        : [[V3.swap, OWNER, OWNER], slot]
    }
    case 'MINT':
    case 'BURN': {
      const isMint = event.kind === 'MINT'
      if (!('tickLower' in event))
        return [
          [isMint ? V2.mint : V2.burn, OWNER],
          [event.amount0, event.amount1],
        ]
      const { tickLower, tickUpper, liquidity, amount0, amount1 } = event
      const topics = [isMint ? V3.mint : V3.burn, OWNER, word(tickLower), word(tickUpper)]
      return [topics, [...(isMint ? [0n] : []), liquidity, amount0, amount1]]
    }
    case 'FEE':
      return [[ALGEBRA.fee], [BigInt(event.feePpm)]]
    case 'MODIFY':
    case 'PROTOCOL_FEE':
    case 'CREATED':
      return null
  }
}
