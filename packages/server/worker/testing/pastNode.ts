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
import { encodeInt } from '../../market/words.ts'
import type { Hex } from '../../ops/hex.ts'

type Block = Extract<Input, { kind: 'block' }>['block']
type PoolEvent = Block['events'][number]
type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }

export type PastNode = {
  readonly url: string
  /** Methods, in order; each of a batch by itself. */
  readonly asked: string[]
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
  const byNumber = new Map<number, Block>(blocks.map(block => [block.number, block]))
  const answer = ({ method, params }: Call): unknown => {
    asked.push(method)
    if (method === 'eth_chainId') return { result: hexOf(chainId) }
    if (method === 'eth_getBlockByNumber') return { result: headerOf(byNumber.get(Number(params[0]))) }
    if (method !== 'eth_getLogs') return { error: { code: -32601, message: 'no such method' } }
    const filter = params[0] as { fromBlock: string; toBlock: string; address: readonly string[] }
    const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)]
    if (to - from + 1 > mostBlocks) return { error: { code: -32602, message: refusal } }
    const of = new Set(filter.address)
    const result = blocks
      .filter(({ number }) => number >= from && number <= to)
      .flatMap(block =>
        block.events
          .filter(event => of.has(event.pool) && leavesOut?.(event) !== true)
          .flatMap(event => logOf(block, event, saysTimes)),
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

/** A creation is its factory's to tell, which no pool here has. */
function logOf(block: Block, of: PoolEvent, saysTimes: boolean) {
  const { pool, logIndex, transactionHash } = of
  const words = wordsOf(of)
  if (words === null) return []
  const [topics, data] = words
  return [
    {
      address: pool,
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

function wordsOf({ family, event }: PoolEvent): readonly [readonly string[], readonly bigint[]] | null {
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
