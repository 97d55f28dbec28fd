/** Each answer is compared with that of an up-to-date node on a real chain. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Anvil, startAnvil } from '../anvil.ts'
import { connect, DEV_ACCOUNT, send } from '../client.ts'
import { answerBehind } from './behind.ts'
import type { RpcAnswer, RpcCall } from './rule.ts'

const BLOCKS = 12
const HEAD = BLOCKS - 3

let node: Anvil
const hashes: string[] = []
const transactions: string[] = []
beforeAll(async () => {
  node = await startAnvil({ chainId: 31_339, slotsInAnEpoch: 1 })
  const client = connect(node.url)
  for (let number = 1; number <= BLOCKS; number++)
    transactions.push((await send(client, { to: DEV_ACCOUNT })).transactionHash)
  for (let number = 0n; number <= BLOCKS; number++)
    hashes.push((await client.getBlock({ blockNumber: number })).hash)
})
afterAll(() => node.close())

async function ask({ method, params }: RpcCall): Promise<RpcAnswer> {
  const response = await fetch(node.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as RpcAnswer
  return error === undefined ? { result } : { error }
}

const late = (method: string, ...params: readonly unknown[]) =>
  answerBehind({ id: 1, method, params }, BLOCKS - HEAD, ask)
const now = (method: string, ...params: readonly unknown[]) => ask({ id: 1, method, params })
const numberOf = ({ result }: RpcAnswer): number | null =>
  result === null ? null : Number((result as { readonly number: string }).number)
const hex = (number: number): string => `0x${number.toString(16)}`

describe('a node three blocks behind', () => {
  it('has a lower head, and every tag is as much lower', async () => {
    expect((await late('eth_blockNumber')).result).toBe(hex(HEAD))
    for (const tag of ['latest', 'safe', 'finalized']) {
      const ahead = numberOf(await now('eth_getBlockByNumber', tag, false)) as number
      expect(numberOf(await late('eth_getBlockByNumber', tag, false)), tag).toBe(ahead - 3)
    }
    expect(numberOf(await late('eth_getBlockByNumber', 'earliest', false))).toBe(0)
  })

  it('knows blocks up to its head as they are, and none above it', async () => {
    for (const number of [1, HEAD, HEAD + 1, BLOCKS]) {
      const isKnown = number <= HEAD
      for (const [method, params] of [
        ['eth_getBlockByNumber', [hex(number), false]],
        ['eth_getBlockByHash', [hashes[number], false]],
        ['eth_getBlockReceipts', [hex(number)]],
        ['eth_getBlockReceipts', [hashes[number]]],
        ['eth_getTransactionReceipt', [transactions[number - 1]]],
        ['eth_getTransactionByHash', [transactions[number - 1]]],
      ] as const) {
        const expected = isKnown ? await now(method, ...params) : { result: null }
        expect(await late(method, ...params), `${method} of block ${number}`).toEqual(expected)
      }
    }
  })

  it('has the state of its head and of the blocks before it, and reports others as missing', async () => {
    const call = { to: DEV_ACCOUNT, data: '0x' }
    expect(await late('eth_call', call, { blockHash: hashes[HEAD] })).toEqual({ result: '0x' })
    expect(await late('eth_call', call, 'latest')).toEqual({ result: '0x' })
    const missing = { error: { code: -32_000, message: 'header not found' } }
    expect(await late('eth_call', call, { blockHash: hashes[HEAD + 1] })).toEqual(missing)
    expect(await late('eth_call', call, { blockNumber: hex(BLOCKS) })).toEqual(missing)
    expect(await late('eth_getCode', DEV_ACCOUNT, hex(HEAD + 1))).toEqual(missing)
    expect(await late('eth_getTransactionCount', DEV_ACCOUNT, 'latest')).toEqual(
      await now('eth_getTransactionCount', DEV_ACCOUNT, hex(HEAD)),
    )
  })

  it('gives logs up to its head and silently omits the rest', async () => {
    const asked: RpcCall[] = []
    const range = async (fromBlock: string, toBlock: string) => {
      const call = { id: 1, method: 'eth_getLogs', params: [{ fromBlock, toBlock }] }
      const answer = await answerBehind(call, BLOCKS - HEAD, each => {
        asked.push(each)
        return ask(each)
      })
      const [last] = asked.splice(0).filter(each => each.method === 'eth_getLogs')
      return [answer.result, last?.params[0] ?? null]
    }
    expect(await range(hex(2), hex(BLOCKS))).toEqual([[], { fromBlock: hex(2), toBlock: hex(HEAD) }])
    expect(await range(hex(2), 'latest')).toEqual([[], { fromBlock: hex(2), toBlock: hex(HEAD) }])
    expect(await range(hex(HEAD + 1), hex(BLOCKS))).toEqual([[], null])
    expect(await late('eth_getLogs', { blockHash: hashes[HEAD] })).toEqual({ result: [] })
    expect((await late('eth_getLogs', { blockHash: hashes[BLOCKS] })).error?.message).toBe('unknown block')
  })

  it('answers requests unrelated to blocks unchanged', async () => {
    expect(await late('eth_chainId')).toEqual(await now('eth_chainId'))
    expect(await late('eth_getBlockByHash', `0x${'12'.repeat(32)}`, false)).toEqual({ result: null })
  })
})
