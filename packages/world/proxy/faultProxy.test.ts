import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type Anvil, startAnvil } from '../anvil.ts'
import { type FaultProxy, startFaultProxy } from './faultProxy.ts'
import type { Rule, RpcAnswer } from './rule.ts'

let node: Anvil
let other: Anvil
let proxy: FaultProxy
beforeAll(async () => {
  ;[node, other] = await Promise.all([startAnvil({ chainId: 31_337 }), startAnvil({ chainId: 31_338 })])
})
afterAll(async () => {
  await Promise.all([node.close(), other.close()])
})
afterEach(() => proxy.close())

const through = async (...rules: readonly Rule[]): Promise<FaultProxy> =>
  (proxy = await startFaultProxy({ url: node.url, seed: 11, rules }))

const post = (body: unknown, signal?: AbortSignal): Promise<Response> =>
  fetch(proxy.url, { method: 'POST', body: JSON.stringify(body), signal: signal ?? null })

async function ask(method: string, ...params: readonly unknown[]): Promise<RpcAnswer & { id: unknown }> {
  const response = await post({ jsonrpc: '2.0', id: 9, method, params })
  return (await response.json()) as RpcAnswer & { id: unknown }
}

/** A client over WebSocket that keeps what comes. */
async function connect(): Promise<{ socket: WebSocket; messages: Record<string, unknown>[] }> {
  const socket = new WebSocket(proxy.wsUrl)
  const messages: Record<string, unknown>[] = []
  socket.on('message', data =>
    messages.push(JSON.parse((data as Buffer).toString()) as Record<string, unknown>),
  )
  await once(socket, 'open')
  return { socket, messages }
}

const send = (socket: WebSocket, id: number, method: string, ...params: readonly unknown[]): void =>
  socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))

const mine = (): Promise<Response> =>
  fetch(node.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'evm_mine', params: [] }),
  })

describe('without a rule', () => {
  it('answers as the node does, with the id that was sent, and records the calls', async () => {
    await through()
    expect(await ask('eth_chainId')).toMatchObject({ id: 9, result: '0x7a69' })
    expect((await ask('no_such_method')).error?.code).toBe(-32601)
    expect(proxy.calls.map(({ method }) => method)).toEqual(['eth_chainId', 'no_such_method'])
  })

  it('answers a batch in its order', async () => {
    await through()
    const calls = [1, 2, 3].map(id => ({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] }))
    const answers = (await (await post(calls)).json()) as { id: number }[]
    expect(answers.map(({ id }) => id)).toEqual([1, 2, 3])
  })

  it('passes WebSocket calls and subscriptions on', async () => {
    await through()
    const { socket, messages } = await connect()
    send(socket, 5, 'eth_subscribe', 'newHeads')
    await expect.poll(() => messages.length).toBe(1)
    await mine()
    await expect.poll(() => messages.length).toBe(2)
    expect(messages).toMatchObject([{ id: 5 }, { method: 'eth_subscription' }])
    socket.terminate()
  })
})

describe('a rule', () => {
  it('matches calls by method, by parameters and by their number', async () => {
    await through()
    const rule = proxy.add({
      method: 'eth_getBlockByNumber',
      params: ([which]) => which === '0x0',
      nth: [2, 3],
      fault: { kind: 'change', change: () => 'changed' },
    })
    const asked = async (which: string): Promise<boolean> =>
      (await ask('eth_getBlockByNumber', which, false)).result === 'changed'
    expect([await asked('0x0'), await asked('latest'), await asked('0x0')]).toEqual([false, false, true])
    expect([await asked('0x0'), await asked('0x0'), rule.fired()]).toEqual([true, false, 2])
    rule.remove()
    proxy.clear()
    expect((await ask('eth_chainId')).result).toBe('0x7a69')
  })

  it('by chance acts the same way with the same seed', async () => {
    const run = async (): Promise<string> => {
      await through({ chance: 0.5, fault: { kind: 'error', code: 1, message: 'no' } })
      let seen = ''
      for (let n = 0; n < 24; n++) seen += (await ask('eth_chainId')).error === undefined ? '.' : 'x'
      await proxy.close()
      return seen
    }
    const first = await run()
    expect(first).toMatch(/x/)
    expect(first).toMatch(/\./)
    expect(await run()).toBe(first)
    await through()
  })

  it('combines with others: all that match a call act in their order', async () => {
    await through(
      { fault: { kind: 'node', url: other.url } },
      { fault: { kind: 'change', change: result => [result, 1] } },
      { fault: { kind: 'change', change: result => [result, 2] } },
    )
    expect((await ask('eth_chainId')).result).toEqual([['0x7a6a', 1], 2])
  })
})

describe('a rate', () => {
  const BEYOND = {
    beyond: { perSecond: 0.001, burst: 3 },
    fault: {
      kind: 'refuse',
      status: 429,
      headers: { 'retry-after': '7' },
      code: -32_005,
      message: 'too many',
    },
  } as const satisfies Rule
  const batch = (count: number) =>
    Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] }))

  it('is shared by all connections, and refuses over HTTP with a status, over WebSocket with an error', async () => {
    await through(BEYOND)
    const { socket, messages } = await connect()
    send(socket, 1, 'eth_chainId')
    await expect.poll(() => messages).toMatchObject([{ id: 1, result: '0x7a69' }])
    expect((await ask('eth_chainId')).result).toBe('0x7a69')
    expect((await ask('eth_chainId')).result).toBe('0x7a69')
    const refused = await post({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toMatchObject([
      429,
      '7',
      { error: { code: -32_005, message: 'too many' } },
    ])
    send(socket, 2, 'eth_chainId')
    await expect.poll(() => messages[1]).toMatchObject({ id: 2, error: { code: -32_005 } })
    expect(proxy.calls).toHaveLength(5)
    socket.terminate()
  })

  it('counts each entry of a batch, and refuses a batch that does not fit as a whole', async () => {
    await through(BEYOND)
    expect((await post(batch(2))).status).toBe(200)
    expect((await post(batch(2))).status).toBe(429)
    expect((await post(batch(1))).status).toBe(200)
    expect((await post(batch(1))).status).toBe(429)
    expect(proxy.calls).toHaveLength(6)
  })

  it('does not count what the node pushes', async () => {
    await through(BEYOND)
    const { socket, messages } = await connect()
    send(socket, 1, 'eth_subscribe', 'newHeads')
    await expect.poll(() => messages.length).toBe(1)
    for (let n = 0; n < 4; n++) await mine()
    await expect.poll(() => messages.length).toBe(5)
    expect((await post(batch(2))).status).toBe(200)
    expect((await post(batch(1))).status).toBe(429)
    socket.terminate()
  })
})

describe('a fault over HTTP', () => {
  it('delays, and waits for a condition of the test', async () => {
    let isOpen = false
    await through(
      { fault: { kind: 'delay', ms: [20, 40] } },
      { fault: { kind: 'wait', until: () => Promise.resolve((isOpen = true)) } },
    )
    const startedMs = performance.now()
    expect((await ask('eth_chainId')).result).toBe('0x7a69')
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(19)
    expect(isOpen).toBe(true)
  })

  it('drops the connection', async () => {
    await through({ fault: { kind: 'drop' } })
    await expect(ask('eth_chainId')).rejects.toThrow()
    await expect.poll(() => proxy.underWay()).toBe(0)
  })

  it('gives a status with its headers', async () => {
    await through({
      fault: { kind: 'status', status: 429, headers: { 'retry-after': '3' }, body: 'slow down' },
    })
    const response = await post({ id: 1, method: 'eth_chainId', params: [] })
    expect([response.status, response.headers.get('retry-after'), await response.text()]).toEqual([
      429,
      '3',
      'slow down',
    ])
  })

  it('gives a JSON-RPC error', async () => {
    await through({ fault: { kind: 'error', code: -32_005, message: 'limit', data: [1] } })
    expect((await ask('eth_chainId')).error).toEqual({ code: -32_005, message: 'limit', data: [1] })
  })

  it('truncates the body, visibly or as if it were whole', async () => {
    await through({ fault: { kind: 'truncate', share: 0.5 } })
    await expect(ask('eth_chainId')).rejects.toThrow()
    await proxy.close()
    await through({ fault: { kind: 'truncate', share: 0.5, isClean: true } })
    const text = await (await post({ id: 1, method: 'eth_chainId', params: [] })).text()
    expect(text.length).toBeGreaterThan(5)
    expect(() => JSON.parse(text) as unknown).toThrow()
  })

  it('replays the first answer, or the one before', async () => {
    await through()
    const number = async (): Promise<number> => Number((await ask('eth_blockNumber')).result)
    const first = await number()
    await mine()
    await number()
    await mine()
    expect(await number()).toBe(first + 2)
    const rule = proxy.add({ fault: { kind: 'replay', which: 'first' } })
    expect(await number()).toBe(first)
    rule.remove()
    proxy.add({ fault: { kind: 'replay', which: 'previous' } })
    expect(await number()).toBe(first + 1)
  })

  it('rewrites tags, also to none', async () => {
    await through({ fault: { kind: 'tags', tags: { finalized: 'latest', safe: null, pending: 0 } } })
    await mine()
    const number = async (tag: string): Promise<unknown> =>
      ((await ask('eth_getBlockByNumber', tag, false)).result as { number: string } | null)?.number
    expect(await number('finalized')).toBe(await number('latest'))
    expect([await number('safe'), await number('pending')]).toEqual([undefined, '0x0'])
  })

  it('refuses logs of more blocks than it serves, with tags as what they stand for', async () => {
    await through({ fault: { kind: 'logRange', most: 3, code: -32_000, message: 'too wide' } })
    for (let n = 0; n < 4; n++) await mine()
    const head = Number((await ask('eth_blockNumber')).result)
    const hex = (number: number): string => `0x${number.toString(16)}`
    const isServed = async (filter: object): Promise<boolean> =>
      (await ask('eth_getLogs', filter)).error === undefined
    expect(await isServed({ fromBlock: hex(head - 2), toBlock: hex(head) })).toBe(true)
    expect(await isServed({ fromBlock: hex(head - 3), toBlock: hex(head) })).toBe(false)
    expect(await isServed({ fromBlock: hex(head - 2), toBlock: 'latest' })).toBe(true)
    expect(await isServed({ fromBlock: 'earliest' })).toBe(false)
    const { hash } = (await ask('eth_getBlockByNumber', 'latest', false)).result as { hash: string }
    expect(await isServed({ blockHash: hash })).toBe(true)
  })

  it('loses a request as a whole when the rule says so, and by the entry when it does not', async () => {
    await through()
    const rule = proxy.add({ isPerRequest: true, fault: { kind: 'error', code: 1, message: 'no' } })
    const calls = [1, 2, 3].map(id => ({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] }))
    await post(calls)
    expect(rule.fired()).toBe(1)
    const each = proxy.add({ fault: { kind: 'error', code: 1, message: 'no' } })
    await post(calls)
    expect(each.fired()).toBe(3)
  })

  it('marks logs as removed, in lists and in receipts', async () => {
    const log = { topics: [], removed: false }
    await through(
      { fault: { kind: 'change', change: () => [log, { logs: [log] }] } },
      { fault: { kind: 'removed' } },
    )
    const removed = { topics: [], removed: true }
    expect((await ask('eth_getLogs', {})).result).toEqual([removed, { logs: [removed] }])
  })

  it('hangs before or after the headers until the client gives up', async () => {
    await through(
      { nth: 1, fault: { kind: 'hang', after: 'request' } },
      { nth: 2, fault: { kind: 'hang', after: 'headers' } },
    )
    const body = { id: 1, method: 'eth_chainId', params: [] }
    await expect(post(body, AbortSignal.timeout(50))).rejects.toThrow()
    const response = await post(body, AbortSignal.timeout(60_000))
    expect(response.status).toBe(200)
    await response.body?.cancel()
    await expect.poll(() => proxy.underWay()).toBe(0)
  })

  it('drips the answer', async () => {
    await through({ fault: { kind: 'drip', bytes: 8, everyMs: 5 } })
    const startedMs = performance.now()
    expect((await ask('eth_chainId')).result).toBe('0x7a69')
    expect(performance.now() - startedMs).toBeGreaterThan(15)
  })

  it('sends any text, repeatedly, and stops when nobody reads', async () => {
    await through(
      { nth: 1, fault: { kind: 'body', body: '<html>' } },
      { nth: 2, fault: { kind: 'body', body: 'x'.repeat(65_536), repeat: 16_384 } },
    )
    const body = { id: 1, method: 'eth_chainId', params: [] }
    expect(await (await post(body)).text()).toBe('<html>')
    const response = await post(body)
    await response.body?.cancel()
    await expect.poll(() => proxy.underWay()).toBe(0)
    expect(proxy.sentBytes()).toBeLessThan(100_000_000)
  })
})

describe('a fault over WebSocket', () => {
  it('matches the entries of a batch, which is answered in one message and in its order', async () => {
    await through(
      { method: 'eth_chainId', fault: { kind: 'delay', ms: 20 } },
      { method: 'eth_blockNumber', fault: { kind: 'error', code: 5, message: 'no' } },
    )
    const { socket, messages } = await connect()
    const methods = ['eth_chainId', 'eth_blockNumber', 'eth_subscribe']
    socket.send(
      JSON.stringify(
        methods.map((method, id) => ({
          jsonrpc: '2.0',
          id,
          method,
          params: method === 'eth_subscribe' ? ['newHeads'] : [],
        })),
      ),
    )
    await expect
      .poll(() => messages)
      .toMatchObject([[{ id: 0, result: '0x7a69' }, { id: 1, error: { code: 5 } }, { id: 2 }]])
    expect(proxy.calls.map(({ method }) => method)).toEqual(methods)
    await mine()
    await expect.poll(() => messages[1]).toMatchObject({ method: 'eth_subscription' })
    expect(proxy.push('newHeads', {})).toBe(1)
    socket.terminate()
  })

  it('ends with a connection that sends no JSON, and is back for the next', async () => {
    await through()
    const { socket } = await connect()
    socket.send('{')
    await once(socket, 'close')
    expect((await ask('eth_chainId')).result).toBe('0x7a69')
  })

  it('holds pushed messages in parallel, and passes them on in order', async () => {
    const opens: (() => void)[] = []
    const until = (): Promise<void> => new Promise(resolve => opens.push(resolve))
    await through({ method: 'eth_subscription', fault: { kind: 'wait', until } })
    const { socket, messages } = await connect()
    send(socket, 1, 'eth_subscribe', 'newHeads')
    await expect.poll(() => messages.length).toBe(1)
    for (let n = 0; n < 3; n++) await mine()
    await expect.poll(() => opens.length).toBe(3)
    for (const open of opens.reverse()) {
      open()
      // Time enough for a message that is not held back.
      await ask('eth_chainId')
    }
    await expect.poll(() => messages.length).toBe(4)
    const numbers = messages
      .slice(1)
      .map(({ params }) => Number((params as { result: { number: string } }).result.number))
    expect(numbers).toEqual([0, 1, 2].map(n => (numbers[0] as number) + n))
    socket.terminate()
  })

  it('refuses the upgrade', async () => {
    await through({ method: 'connect', nth: 1, fault: { kind: 'status', status: 503 } })
    await expect(connect()).rejects.toThrow('503')
    const { socket } = await connect()
    socket.terminate()
  })

  it('changes answers, loses pushed heads, and pushes what the node never sent', async () => {
    await through(
      { method: 'eth_chainId', fault: { kind: 'change', change: () => '0x1' } },
      { method: 'eth_subscription', nth: 1, fault: { kind: 'drop' } },
    )
    const { socket, messages } = await connect()
    send(socket, 1, 'eth_chainId')
    send(socket, 2, 'eth_subscribe', 'newHeads')
    send(socket, 3, 'eth_subscribe', 'logs', {})
    await expect.poll(() => messages.length).toBe(3)
    expect(messages.find(({ id }) => id === 1)).toMatchObject({ result: '0x1' })
    await mine()
    await mine()
    await expect.poll(() => messages.length).toBe(4)
    expect(proxy.push('logs', { removed: true })).toBe(1)
    await expect.poll(() => messages.at(-1)).toMatchObject({ params: { result: { removed: true } } })
    socket.terminate()
  })

  it('drops the connection, or all of them at once, and drips', async () => {
    await through(
      { method: 'eth_blockNumber', nth: 1, fault: { kind: 'drip', bytes: 4, everyMs: 1 } },
      { method: 'eth_blockNumber', nth: 2, fault: { kind: 'drop' } },
    )
    const { socket, messages } = await connect()
    send(socket, 1, 'eth_blockNumber')
    await expect.poll(() => messages).toMatchObject([{ id: 1 }])
    send(socket, 2, 'eth_blockNumber')
    await once(socket, 'close')
    const again = await connect()
    proxy.cut()
    await once(again.socket, 'close')
    expect(messages).toHaveLength(1)
  })
})
