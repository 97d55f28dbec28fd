import { afterEach, expect, test } from 'vitest'
import type { Answer, RpcRequest, RpcStore } from '../store/cluster.ts'
import { ChainDown } from '../worker/chainService.ts'
import { StoreRpcClient, StoreRpcChain, StoreRpcServer } from './storeRpc.ts'

/** Requests in memory; the test controls what happens between the steps. */
class MemoryRpcStore implements RpcStore {
  readonly requests: RpcRequest[] = []
  readonly answers: Answer[] = []
  onPost: (request: RpcRequest) => Promise<void> = async () => undefined

  async post({ chainId, method, args }: Omit<RpcRequest, 'id'>): Promise<number> {
    const request = { id: this.requests.length + 1, chainId, method, args }
    this.requests.push(request)
    await this.onPost(request)
    return request.id
  }

  async collect(): Promise<readonly RpcRequest[]> {
    return this.requests.splice(0)
  }

  async answer(answer: Answer): Promise<void> {
    this.answers.push(answer)
  }

  async receive(): Promise<readonly Answer[]> {
    return this.answers.splice(0)
  }

  async discard(): Promise<void> {
    return undefined
  }
}

let client: StoreRpcClient
afterEach(() => client.close())

test('a response that arrives before the id of its request is not lost', async () => {
  const store = new MemoryRpcStore()
  client = new StoreRpcClient(store, 'api')
  store.onPost = async ({ id }) => {
    await store.answer({ id, result: '{"state":"EVALUATED"}', failure: null })
    client.wake()
    // Until it has been received, while `post` has not returned yet.
    while (store.answers.length > 0) await new Promise(setImmediate)
  }
  expect(await new StoreRpcChain(1, client).enrol('0x1')).toEqual({ state: 'EVALUATED' })
})

test('a request reaches the writer with its arguments, and the caller gets the response or the failure', async () => {
  const store = new MemoryRpcStore()
  client = new StoreRpcClient(store, 'api')
  const asked: unknown[] = []
  const server = new StoreRpcServer({
    store,
    leases: () => [{ chainId: 1, generation: 1 }],
    async answer(chainId, method, args) {
      asked.push([chainId, method, ...args])
      if (method === 'poolQuote') throw new ChainDown('chain 1 is starting')
      if (method === 'unenrol') throw new Error('nonsense')
      return method === 'setPaused' ? undefined : { outcome: 'not_enrolled' }
    },
  })
  store.onPost = async () => server.wake()
  const chain = new StoreRpcChain(1, client)
  expect(await chain.tokenQuote('0x1', null, true)).toEqual({ outcome: 'not_enrolled' })
  expect(await chain.setPaused(true)).toBeNull()
  await expect(chain.poolQuote('0x2', 100)).rejects.toThrow(ChainDown)
  await expect(chain.unenrol('0x3')).rejects.toThrow('nonsense')
  expect(asked).toEqual([
    [1, 'tokenQuote', '0x1', null, true, ''],
    [1, 'setPaused', true],
    [1, 'poolQuote', '0x2', 100, null, ''],
    [1, 'unenrol', '0x3'],
  ])
  await server.close()
})

test('callers still waiting when the process stops get an error that says no response will come', async () => {
  client = new StoreRpcClient(new MemoryRpcStore(), 'api')
  const asking = client.ask(1, 'enrol', ['0x1'])
  await new Promise(setImmediate)
  client.close()
  await expect(asking).rejects.toThrow(ChainDown)
})
