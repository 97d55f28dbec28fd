/** viem over our own transport, on a real node; what a real node cannot be made to do is a server of the test's own. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPublicClient, HttpRequestError, RpcRequestError, TimeoutError } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from './anvil.ts'
import { connect, DEV_ACCOUNT } from './client.ts'
import { nodeTransport } from './nodeTransport.ts'

let anvil: Anvil
const servers: Server[] = []

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 31_337 })
}, 30_000)
afterAll(() => anvil.close())
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function served(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const clientOf = (url: string, timeoutMs = 5000) =>
  createPublicClient({ transport: nodeTransport(url, timeoutMs), cacheTime: 0 })

test('a thousand calls made at once each get their own answer', async () => {
  const client = connect(anvil.url)
  const accounts = Array.from(
    { length: 1000 },
    (_, at) => `0x${(at + 1).toString(16).padStart(40, '0')}` as const,
  )
  await Promise.all(
    accounts.map((address, at) => client.setBalance({ address, value: BigInt(at) * 10n ** 18n })),
  )
  const balances = await Promise.all(accounts.map(address => client.getBalance({ address })))
  expect(balances).toEqual(accounts.map((_, at) => BigInt(at) * 10n ** 18n))
})

test('calls of one turn are one request, whatever the order of the responses', async () => {
  let requests = 0
  const url = await served((asked, reply) => {
    requests += 1
    let text = ''
    asked.setEncoding('utf8').on('data', (part: string) => (text += part))
    asked.on('end', () => {
      const calls = JSON.parse(text) as { id: number; params: [string] }[]
      reply.end(JSON.stringify(calls.reverse().map(({ id, params }) => ({ id, result: params[0] }))))
    })
  })
  const client = clientOf(url)
  const ask = (n: number) => client.request({ method: 'eth_getBalance', params: [`0x${n}`, 'latest'] })
  expect(await Promise.all([1, 2, 3].map(ask))).toEqual(['0x1', '0x2', '0x3'])
  expect(requests).toBe(1)
})

test('a refused call fails with the node’s own message, and its neighbours do not', async () => {
  const client = connect(anvil.url)
  const [refused, block] = await Promise.allSettled([
    client.request({ method: 'eth_nothing' as 'txpool_status' }),
    client.getBlockNumber(),
  ])
  expect(block).toMatchObject({ status: 'fulfilled' })
  expect(refused).toMatchObject({ status: 'rejected', reason: { code: -32_601 } })
  // mstore, revert: the contract's message is passed on.
  await client.setCode({
    address: '0x00000000000000000000000000000000000000aa',
    bytecode: '0x602a60005260206000fd',
  })
  const failure = await client
    .call({ account: DEV_ACCOUNT, to: '0x00000000000000000000000000000000000000aa' })
    .catch((thrown: unknown) => thrown)
  const cause = (failure as HttpRequestError).walk(each => each instanceof RpcRequestError)
  expect(cause).toMatchObject({ code: 3, data: `0x${'2a'.padStart(64, '0')}` })
})

test('a node that is missing, returns garbage or does not answer is reported as such', async () => {
  const closed = await served(() => undefined)
  await new Promise(resolve => servers.pop()?.close(resolve))
  await expect(clientOf(closed).getBlockNumber()).rejects.toBeInstanceOf(HttpRequestError)
  const nonsense = await served((_, reply) => reply.end('<html>'))
  await expect(clientOf(nonsense).getBlockNumber()).rejects.toBeInstanceOf(HttpRequestError)
  const empty = await served((_, reply) => reply.end('[]'))
  await expect(clientOf(empty).getBlockNumber()).rejects.toThrow(/unanswered/)
  const silent = await served(() => undefined)
  await expect(clientOf(silent, 100).getBlockNumber()).rejects.toBeInstanceOf(TimeoutError)
})

test('a kept connection that the node has closed is not an error', async () => {
  let requests = 0
  const url = await served((asked, reply) => {
    requests += 1
    asked.resume()
    // The second request finds the connection dead.
    if (requests === 2) return asked.socket.resetAndDestroy()
    reply.end(JSON.stringify([{ id: 0, result: '0x7' }]))
  })
  const client = clientOf(url)
  expect(await client.getBlockNumber()).toBe(7n)
  expect(await client.getBlockNumber()).toBe(7n)
  expect(requests).toBe(3)
})
