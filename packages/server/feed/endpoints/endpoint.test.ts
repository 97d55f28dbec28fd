import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { systemClock } from '../../ops/clock.ts'
import { Secret } from '../../ops/secret.ts'
import { DEFAULT_LIMITS } from '../transport/connection.ts'
import { Endpoint, type EndpointOptions } from './endpoint.ts'
import type { FeedLog } from '../feedLog.ts'
import { type LocalChain, mine, startLocalChain } from '../testing/localChain.ts'
import { changing, pass, type Rule, type RpcCall, type RpcProxy, startRpcProxy } from '../testing/rpcProxy.ts'
import { startTcpProxy, type TcpProxy } from '../testing/tcpProxy.ts'

const { signal } = new AbortController()
const SECRET = 'a-secret-project-key'
const LIMITS = { ...DEFAULT_LIMITS, bodyBytes: 8192, answerBytes: 16_384 }
/** Set once the identity is checked, which a busy machine may take longer for. */
const SHORT_MS = 100

let chain: LocalChain
let proxy: RpcProxy
beforeAll(async () => {
  chain = await startLocalChain()
  proxy = await startRpcProxy(chain.anvil.url)
})
afterAll(async () => {
  await proxy.close()
  await chain.close()
})

const open: { close(): unknown }[] = []
const lines: string[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
  // Nothing that was logged or thrown in any of these tests names an address.
  expect(lines.join('\n')).not.toMatch(/127\.0\.0\.1|localhost|secret/)
  lines.length = 0
})

const log: FeedLog = (_level, message, fields) => void lines.push(JSON.stringify([message, fields]))

function create(url: string, options: Partial<EndpointOptions> = {}): Endpoint {
  const { chainId, genesisHash } = chain.config()
  const identity = { chainId, genesisHash }
  const endpoint = new Endpoint({
    name: 'node',
    url: new Secret(url),
    identity,
    clock: systemClock,
    log,
    ...options,
  })
  open.push(endpoint)
  return endpoint
}

const failureOf = async (task: Promise<unknown>): Promise<Record<string, unknown>> => {
  try {
    await task
  } catch (error) {
    const failure = error as Error
    lines.push(JSON.stringify(error), failure.message, String(failure.stack).replaceAll(/at .*\n?/g, ''))
    return error as Record<string, unknown>
  }
  return expect.unreachable('it succeeded')
}

/** A rule for block numbers only, so that the identity check passes. */
const forNumbers =
  (rule: (call: RpcCall, response: ServerResponse) => ReturnType<Rule>): Rule =>
  (call, fetchAnswer, response) =>
    call.method === 'eth_blockNumber' ? rule(call, response) : fetchAnswer()

const raw = (write: (response: ServerResponse, call: RpcCall) => void): Rule =>
  forNumbers((call, response) => {
    write(response, call)
    return 'handled'
  })

const encoded = (encoding: string, write: (call: RpcCall) => Uint8Array): Rule =>
  raw((response, call) => void response.writeHead(200, { 'content-encoding': encoding }).end(write(call)))
const numberOf = ({ id }: RpcCall): string => JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' })

describe('a response over HTTP', () => {
  const ask = async (rule: Rule, deadlineMs = LIMITS.deadlineMs): Promise<unknown> => {
    proxy.rule = rule
    const limits = { ...LIMITS }
    const endpoint = create(`${proxy.url}/v3/${SECRET}`, { limits })
    await endpoint.open(signal)
    limits.deadlineMs = deadlineMs
    limits.overMs = Math.min(deadlineMs, limits.overMs)
    return endpoint.request('eth_blockNumber', [], signal)
  }

  it('is the result of the call', async () => {
    expect(await ask(pass)).toMatch(/^0x/)
  })

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)('may be compressed with %s', async (encoding, compress) => {
    expect(await ask(encoded(encoding, call => compress(numberOf(call))))).toBe('0x1')
  })

  it('arrives over a socket that is kept for the next', async () => {
    const ports = new Set<number | undefined>()
    proxy.rule = raw((response, call) => {
      ports.add(response.socket?.remotePort)
      response.end(numberOf(call))
    })
    const endpoint = create(proxy.url)
    for (let at = 0; at < 5; at++) await endpoint.request('eth_blockNumber', [], signal)
    expect(ports.size).toBe(1)
  })

  it('that requires TLS does not arrive without', async () => {
    proxy.rule = pass
    const failure = await failureOf(create(proxy.url.replace('http:', 'https:')).open(signal))
    expect(failure).toMatchObject({ code: 'ENDPOINT_UNREACHABLE' })
    expect(failure['message']).toMatch(/: (EPROTO|ERR_SSL_\w+)$/)
  })

  const faults: readonly (readonly [what: string, rule: Rule, code: string])[] = [
    [
      'is cut',
      raw(
        response =>
          void response.writeHead(200, { 'content-length': 99 }).write('{', () => response.destroy()),
      ),
      'ENDPOINT_UNREACHABLE',
    ],
    [
      'declares a length that is too large',
      raw(response => response.writeHead(200, { 'content-length': 9000 }).flushHeaders()),
      'ANSWER_TOO_LARGE',
    ],
    [
      'turns out to be too large',
      raw(response => void response.end(`"${'x'.repeat(9000)}"`)),
      'ANSWER_TOO_LARGE',
    ],
    [
      'is small and unpacks to one that is too large',
      encoded('gzip', () => gzipSync(`"${'x'.repeat(900_000)}"`)),
      'ANSWER_TOO_LARGE',
    ],
    [
      'is compressed and cut',
      encoded('gzip', call => gzipSync(numberOf(call)).subarray(0, -9)),
      'ENDPOINT_UNREACHABLE',
    ],
    [
      'is declared compressed and is not',
      encoded('br', call => Buffer.from(numberOf(call))),
      'ENDPOINT_UNREACHABLE',
    ],
    [
      'comes in an encoding that was not requested',
      encoded('snappy', call => Buffer.from(numberOf(call))),
      'ENDPOINT_UNREACHABLE',
    ],
    ['is an HTML page', raw(response => void response.end('<html>busy</html>')), 'ANSWER_MALFORMED'],
    ['is cut JSON', raw(response => void response.end('{"jsonrpc":"2.0","id":')), 'ANSWER_MALFORMED'],
    ['is a list', raw(response => void response.end('[]')), 'ANSWER_MALFORMED'],
    [
      'has another id',
      raw((response, { id }) => void response.end(JSON.stringify({ id: id + 1, result: '0x1' }))),
      'ANSWER_MALFORMED',
    ],
    ['has no id', raw(response => void response.end('{"result":"0x1"}')), 'ANSWER_MALFORMED'],
    [
      'has no result',
      raw((response, { id }) => void response.end(JSON.stringify({ id }))),
      'ANSWER_MALFORMED',
    ],
    ['is a status', raw(response => void response.writeHead(502).end('bad gateway')), 'ENDPOINT_STATUS'],
    [
      'is a redirect',
      raw(response => void response.writeHead(307, { location: '/elsewhere' }).end()),
      'ENDPOINT_UNREACHABLE',
    ],
    ['is a JSON-RPC error', forNumbers(() => ({ error: { code: -32000, message: 'no' } })), 'RPC_ERROR'],
    [
      'is a JSON-RPC error with a status',
      raw(
        (response, { id }) =>
          void response.writeHead(400).end(JSON.stringify({ id, error: { code: -32601, message: 'no' } })),
      ),
      'METHOD_MISSING',
    ],
    [
      'is a rate limit as an error',
      forNumbers(() => ({ error: { code: -32005, message: 'slow down' } })),
      'ENDPOINT_LIMITED',
    ],
  ]
  it.each(faults)('that %s is the endpoint’s fault', async (_what, rule, code) => {
    expect(await failureOf(ask(rule))).toMatchObject({ code, endpoint: 'node' })
  })

  it.each([
    ['never comes', raw(() => {})],
    ['stops after the headers', raw(response => response.writeHead(200).flushHeaders())],
    ['is dripped', raw(response => drip(response))],
  ])('that %s is waited for until the deadline', async (_what, rule) => {
    const failure = await failureOf(ask(rule, SHORT_MS))
    expect(failure).toMatchObject({ code: 'ENDPOINT_TIMEOUT', endpoint: 'node', retryable: true })
  })

  it('that asks to slow down is obeyed for the stated time', async () => {
    proxy.rule = raw(response => void response.writeHead(429, { 'retry-after': '7' }).end())
    let nowMs = 1000
    const endpoint = create(proxy.url, { clock: { nowMs: () => nowMs, monotonicMs: () => nowMs } })
    const failure = await failureOf(endpoint.request('eth_blockNumber', [], signal))
    expect(failure).toMatchObject({ code: 'ENDPOINT_LIMITED', retryAfterMs: 7000 })
    expect([endpoint.usableAtMs, endpoint.isUsable]).toEqual([8000, false])
    nowMs = 8000
    expect(endpoint.isUsable).toBe(true)
  })

  it('that repeats the address has it redacted', async () => {
    const message = `no access to http://127.0.0.1:8545/v3/${SECRET} with ${SECRET}`
    const failure = await failureOf(ask(forNumbers(() => ({ error: { code: -32000, message } }))))
    expect(failure).toMatchObject({ rpcMessage: 'no access to [redacted] with [redacted]' })
  })

  it('is not waited for when the caller aborts, and counts against no endpoint', async () => {
    proxy.rule = raw(() => {})
    proxy.calls.length = 0
    const endpoint = create(proxy.url)
    const controller = new AbortController()
    const asked = endpoint.request('eth_blockNumber', [], controller.signal)
    await expect.poll(() => proxy.calls.at(-1)?.method).toBe('eth_blockNumber')
    controller.abort(new Error('changed my mind'))
    await expect(asked).rejects.toThrow('changed my mind')
    expect([endpoint.status, endpoint.errorRate, endpoint.isUsable]).toEqual(['OK', 0, true])
  })
})

describe('an endpoint', () => {
  it('counts errors and the time of successful calls', async () => {
    proxy.rule = pass
    const endpoint = create(proxy.url)
    expect([endpoint.errorRate, endpoint.p50Ms]).toEqual([0, null])
    for (let at = 0; at < 3; at++) await endpoint.request('eth_blockNumber', [], signal)
    expect(endpoint.p50Ms).toBeGreaterThanOrEqual(0)
    proxy.rule = raw(response => void response.writeHead(500).end())
    await failureOf(endpoint.request('eth_blockNumber', [], signal))
    expect([endpoint.errorRate, endpoint.status, endpoint.isUsable]).toEqual([0.25, 'FAILING', false])
    proxy.rule = pass
    await endpoint.request('eth_blockNumber', [], signal)
    expect([endpoint.errorRate, endpoint.status]).toEqual([0.2, 'OK'])
  })

  it('is checked for its identity once, and again after a failure', async () => {
    proxy.rule = pass
    proxy.calls.length = 0
    const endpoint = create(proxy.url)
    await Promise.all([1, 2, 3].map(() => endpoint.request('eth_blockNumber', [], signal)))
    const checks = () => proxy.calls.filter(({ method }) => method === 'eth_chainId').length
    expect(checks()).toBe(1)
    proxy.rule = raw(response => response.destroy())
    await failureOf(endpoint.request('eth_blockNumber', [], signal))
    // Meanwhile another chain answers at the same address.
    proxy.rule = changing('eth_chainId', () => '0x38')
    const failure = await failureOf(endpoint.request('eth_blockNumber', [], signal))
    expect(failure).toMatchObject({ code: 'ENDPOINT_IDENTITY', retryable: false })
    expect(checks()).toBe(2)
    expect([endpoint.status, endpoint.isUsable]).toEqual(['WRONG_CHAIN', false])
    expect(endpoint.wrongIdentity?.message).toMatch(/expected chain 31337 .* received chain 56/)
  })

  it('over HTTP is checked again every ten minutes', async () => {
    proxy.rule = pass
    proxy.calls.length = 0
    let nowMs = 0
    const endpoint = create(proxy.url, { clock: { nowMs: () => nowMs, monotonicMs: () => nowMs } })
    for (nowMs of [0, 600_000, 600_001]) await endpoint.request('eth_blockNumber', [], signal)
    expect(proxy.calls.filter(({ method }) => method === 'eth_chainId')).toHaveLength(2)
  })

  it('accepts a user and a password in its address', async () => {
    proxy.rule = pass
    const endpoint = create(proxy.url.replace('http://', 'http://a-secret-user:p%40ss-secret@'))
    expect(await endpoint.request('eth_blockNumber', [], signal)).toMatch(/^0x/)
  })

  it('with an invalid address reports so without showing it', () => {
    expect(() => create('localhost:8545/secret')).toThrow(
      'endpoint node: its address is not an http, https, ws or wss URL',
    )
  })

  it('answers nothing after it is closed', async () => {
    proxy.rule = pass
    const endpoint = create(proxy.url)
    endpoint.close()
    expect(await failureOf(endpoint.request('eth_blockNumber', [], signal))).toMatchObject({
      code: 'FEED_CLOSED',
    })
  })
})

describe('an endpoint over WebSocket', () => {
  let tcp: TcpProxy
  const url = () => `ws://127.0.0.1:${tcp.port}`
  beforeAll(async () => {
    tcp = await startTcpProxy(chain.anvil.port)
  })
  afterAll(() => tcp.close())

  it('pushes heads, and again after its connection was cut', async () => {
    const heads: unknown[] = []
    const endpoint = create(url())
    endpoint.onHead = head => heads.push(head)
    await endpoint.open(signal)
    expect(endpoint.isSubscribed).toBe(true)
    await mine(chain)
    await expect.poll(() => heads.length).toBe(1)
    tcp.cut()
    await expect.poll(() => endpoint.status).toBe('FAILING')
    expect(endpoint.isSubscribed).toBe(false)
    await endpoint.open(signal)
    await mine(chain)
    await expect.poll(() => heads.length).toBe(2)
    expect(endpoint.status).toBe('OK')
  })

  it('that does not upgrade reports why, and not where', async () => {
    const failure = await failureOf(create(`${url()}/${SECRET}`).open(signal))
    expect(failure).toMatchObject({ code: 'ENDPOINT_UNREACHABLE' })
    expect(lines.join()).toContain('endpoint node: the WebSocket could not be opened: HTTP 404')
  })

  it('is checked for its identity on every connection', async () => {
    const other = await startLocalChain({ chainId: 31_340 })
    open.push(other)
    const endpoint = create(url())
    await endpoint.open(signal)
    tcp.target = other.anvil.port
    tcp.cut()
    await expect.poll(() => endpoint.status).toBe('FAILING')
    const failure = await failureOf(endpoint.open(signal))
    tcp.target = chain.anvil.port
    expect(failure).toMatchObject({ code: 'ENDPOINT_IDENTITY' })
    expect([endpoint.status, endpoint.isUsable]).toEqual(['WRONG_CHAIN', false])
  })

  const answers: readonly (readonly [
    what: string,
    answer: (call: RpcCall) => string | null,
    code: string,
  ])[] = [
    ['never answers', () => null, 'ENDPOINT_TIMEOUT'],
    ['answers too much', ({ id }) => JSON.stringify({ id, result: 'x'.repeat(9000) }), 'ANSWER_TOO_LARGE'],
    ['answers with a page', () => '<html>', 'ANSWER_MALFORMED'],
    ['answers another call', ({ id }) => JSON.stringify({ id: id + 100, result: '0x1' }), 'ANSWER_MALFORMED'],
    [
      'answers with an error',
      ({ id }) => JSON.stringify({ id, error: { code: 3, message: 'execution reverted' } }),
      'RPC_ERROR',
    ],
  ]
  it.each(answers)('that %s is at fault', async (_what, answer, code) => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    open.push({ close: () => new Promise(resolve => server.close(resolve)) })
    await once(server, 'listening')
    const { chainId, genesisHash } = chain.config()
    const known: Readonly<Record<string, unknown>> = {
      eth_chainId: `0x${chainId.toString(16)}`,
      eth_getBlockByNumber: { hash: genesisHash },
      eth_subscribe: '0x1',
    }
    server.on('connection', socket =>
      socket.on('message', data => {
        const call = JSON.parse((data as Buffer).toString()) as RpcCall
        const result = known[call.method]
        const text = result === undefined ? answer(call) : JSON.stringify({ id: call.id, result })
        if (text !== null) socket.send(text)
      }),
    )
    const { port } = server.address() as AddressInfo
    const limits = { ...LIMITS }
    const endpoint = create(`ws://127.0.0.1:${port}`, { limits })
    await endpoint.open(signal)
    if (code === 'ENDPOINT_TIMEOUT') limits.deadlineMs = SHORT_MS
    expect(await failureOf(endpoint.request('eth_blockNumber', [], signal))).toMatchObject({ code })
  })
})

/** One byte every 20 ms: progress that never ends. */
function drip(response: ServerResponse): void {
  response.writeHead(200)
  const timer = setInterval(() => response.write(' '), 20)
  response.once('close', () => clearInterval(timer))
}
