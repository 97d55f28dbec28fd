/** The doctor on real nodes and on servers that are none: each finding has its key, what was received, and a fix. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  EVERY_KIND,
  type LocalChain,
  mine,
  mineTransactions,
  startLocalChain,
} from '../feed/testing/localChain.ts'
import { changing, pass, type Rule, startRpcProxy, without } from '../feed/testing/rpcProxy.ts'
import { type Clock, systemClock } from '../ops/clock.ts'
import type { ChainConfig, Config } from '../config/config.ts'
import { bareConfig } from '../config/testing/bareConfig.ts'
import type { Hex } from '../ops/hex.ts'
import { Secret } from '../ops/secret.ts'
import type { Check } from './check.ts'
import { diagnose, type Diagnosis } from './doctor.ts'
import { preflight } from './preflight.ts'

let one: LocalChain
let two: LocalChain
const closing: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  one = await startLocalChain({ chainId: 31_337, timestamp: nowS() - 60 })
  two = await startLocalChain({ chainId: 31_338, timestamp: nowS() - 61 })
  await mine(one, 40)
  await mine(two, 3)
})
afterAll(async () => {
  for (const close of closing) await close()
  await one.close()
  await two.close()
})

const nowS = () => Math.floor(Date.now() / 1000)

const configOf = (...chains: readonly ChainConfig[]): Config => bareConfig({ chains })

const at = (...urls: readonly string[]) => ({
  endpoints: urls.map((url, n) => ({ name: `node-${n + 1}`, url: new Secret(url) })),
})

/** Of the first chain's first endpoint, unless asked. */
const checkOf = (diagnosis: Diagnosis, name: Check['name'], endpoint = 0): Check | undefined =>
  diagnosis.chains[0]?.endpoints[endpoint]?.checks.find(check => check.name === name)

/** A clock set this long after the chain's head. */
async function clockAfter(ms: number): Promise<Clock> {
  const { timestamp } = await one.rpc<{ timestamp: Hex }>('eth_getBlockByNumber', 'latest', false)
  return { ...systemClock, nowMs: () => Number(timestamp) * 1000 + ms }
}

async function server(answer: (...given: Parameters<RequestListener>) => unknown): Promise<string> {
  const http = createServer((request, response) => void answer(request, response))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  closing.push(async () => {
    http.closeAllConnections()
    http.close()
    await once(http, 'close')
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}

async function proxied(rule: Rule): Promise<string> {
  const proxy = await startRpcProxy(one.anvil.url, rule)
  closing.push(() => proxy.close())
  return proxy.url
}

const JSON_TYPE = { 'content-type': 'application/json' }

function refuse(response: ServerResponse, status: number): 'handled' {
  response.writeHead(status).end('<html>no</html>')
  return 'handled'
}

const diagnoseUrl = async (url: string) =>
  diagnose(configOf(one.config(at(url))), { clock: await clockAfter(1000) })

const LARGEST = /^the largest had \d+ KiB \(eth_\w+\); the limit is 256 MiB \(rpc\.max_answer_mib\)$/

test('a good node is reported with what it can do, over HTTP and over WebSocket', async () => {
  await mine(one)
  const diagnosis = await diagnose(configOf(one.config(at(one.anvil.url, one.anvil.wsUrl))), {
    clock: await clockAfter(1000),
  })
  expect(diagnosis.healthy).toBe(true)
  const values = Object.fromEntries(
    diagnosis.chains[0]?.endpoints[0]?.checks.map(({ name, value }) => [name, value]) ?? [],
  )
  expect(values).toMatchObject({
    chain_id: '31337',
    genesis: one.config().genesisHash,
    head: expect.stringMatching(/^block \d+, \d+ s old$/),
    finality: expect.stringMatching(/^finalized \d+ blocks back, safe \d+ blocks back$/),
    receipts: expect.stringMatching(/^0 of block \d+$/),
    proof: expect.stringMatching(/^headers give their hash/),
    logs: 'ranges of 10 blocks and perhaps more',
    state: 'calls at a block hash',
    archive: 'state of every block',
    heads: 'polled (HTTP)',
    latency: expect.stringMatching(/ ms$/),
    batches: 'taken',
    rate: expect.stringMatching(/^about 13 calls a second; this endpoint answered 30 at /),
    answers: expect.stringMatching(LARGEST),
  })
  expect(checkOf(diagnosis, 'answers', 1)?.value).toMatch(LARGEST)
  expect(checkOf(diagnosis, 'heads', 1)?.value).toBe('pushed')
  expect(checkOf(diagnosis, 'batches', 1)?.value).toBe('not needed (WebSocket)')
  expect(diagnosis.warnings.join()).toContain('node-1, node-2 share one backend')
})

test('a node of another chain fails with both ids', async () => {
  const diagnosis = await diagnose(configOf(one.config(at(two.anvil.url))))
  expect(diagnosis.healthy).toBe(false)
  expect(checkOf(diagnosis, 'chain_id')).toEqual({
    name: 'chain_id',
    status: 'fail',
    value: 'it serves chain 31338, not 31337',
    fix: 'use a node of chain 31337',
  })
})

test('O2: endpoints of two chains in each other’s place are named as swapped, and the start is refused', async () => {
  const config = configOf(one.config(at(two.anvil.url)), two.config(at(one.anvil.url)))
  const diagnosis = await diagnose(config)
  expect(checkOf(diagnosis, 'chain_id')?.fix).toBe(
    'that is the chain of chains[1]: are the endpoints of the two swapped?',
  )
  const refusal = await preflight(config).catch((error: unknown) => (error as Error).message)
  expect(refusal).toContain('chains[0].endpoints[0].url (node-1): it serves chain 31338, not 31337')
  expect(refusal).toContain('chains[1].endpoints[0].url (node-1): it serves chain 31337, not 31338')
})

test('the same id with another first block fails by its genesis', async () => {
  const genesisHash: Hex = `0x${'ab'.repeat(32)}`
  const diagnosis = await diagnose(configOf(one.config({ ...at(one.anvil.url), genesisHash })))
  expect(checkOf(diagnosis, 'genesis')).toMatchObject({
    status: 'fail',
    value: one.config().genesisHash,
    fix: expect.stringContaining(genesisHash),
  })
})

test('a page of HTML is no node, with status 200 or another', async () => {
  const page: RequestListener = (_, response) => response.end('<html>Welcome</html>')
  const fine = await diagnoseUrl(`${await server(page)}/key-hunter2`)
  expect(checkOf(fine, 'connection')).toMatchObject({
    status: 'fail',
    value: 'answered with something that is not JSON',
    fix: expect.stringContaining('JSON-RPC URL'),
  })
  const missing = await diagnoseUrl(
    await server((_, response) => {
      response.statusCode = 404
      response.end('<html>Not found</html>')
    }),
  )
  expect(checkOf(missing, 'connection')).toMatchObject({
    status: 'fail',
    value: expect.stringContaining('HTTP status 404'),
    fix: 'check the path and the key in the URL',
  })
  expect(JSON.stringify([fine, missing])).not.toMatch(/hunter2|127\.0\.0\.1/)
})

test('a refused connection and a silent node are distinguished', async () => {
  const free = await server(() => undefined)
  await closing.pop()?.()
  const gone = await diagnoseUrl(free)
  expect(checkOf(gone, 'connection')).toMatchObject({
    status: 'fail',
    fix: expect.stringContaining('is the node up'),
  })
  const silent = await diagnose(configOf(one.config(at(await server(() => undefined)))), { deadlineMs: 200 })
  expect(checkOf(silent, 'connection')?.value).toContain('no complete response after 200 ms')
})

test('without getLogs it follows but cannot back-fill; without receipts as well it is unusable', async () => {
  const noLogs = await diagnoseUrl(await proxied(without('eth_getLogs')))
  expect(noLogs.healthy).toBe(true)
  expect(checkOf(noLogs, 'logs')).toMatchObject({
    status: 'warn',
    fix: expect.stringContaining('not back-fill'),
  })
  await mineTransactions(one, EVERY_KIND)
  const nothing = without('eth_getLogs', 'eth_getBlockReceipts', 'eth_getTransactionReceipt')
  const neither = await diagnoseUrl(await proxied(nothing))
  expect(neither.healthy).toBe(false)
  expect(checkOf(neither, 'receipts')).toMatchObject({
    status: 'fail',
    value: 'it serves neither receipts nor logs of a block',
  })
})

const REFUSALS: readonly (readonly [said: string, answer: (response: ServerResponse) => ReturnType<Rule>])[] =
  [
    ['-32600', () => ({ error: { code: -32_600, message: 'Invalid request' } })],
    ['-32601', () => ({ error: { code: -32_601, message: 'Method not found' } })],
    ['-32004', () => ({ error: { code: -32_004, message: 'Method not supported' } })],
    ['-32053', () => ({ error: { code: -32_053, message: 'not in your plan' } })],
    ['HTTP 403', response => refuse(response, 403)],
    ['HTTP 405', response => refuse(response, 405)],
  ]

test.each(REFUSALS)(
  'receipts by block refused with %s are read one by one, as the service does',
  async (said, answer) => {
    await mineTransactions(one, EVERY_KIND)
    const url = await proxied((call, fetchAnswer, response) =>
      call.method === 'eth_getBlockReceipts' ? answer(response) : fetchAnswer(),
    )
    const diagnosis = await diagnoseUrl(url)
    expect(diagnosis.healthy).toBe(true)
    expect(checkOf(diagnosis, 'receipts')).toMatchObject({
      status: 'warn',
      value: `one by one: eth_getBlockReceipts refused (${said})`,
    })
    expect(checkOf(diagnosis, 'proof')).toMatchObject({
      status: 'ok',
      value: 'headers give their hash, receipts give the root',
    })
  },
)

test('the largest response is reported, with the key to raise when it is near the limit or beyond', async () => {
  await mineTransactions(one, [...EVERY_KIND, ...EVERY_KIND, ...EVERY_KIND])
  const receipts = await one.rpc<object[]>('eth_getBlockReceipts', 'latest')
  const bytes = JSON.stringify(receipts).length
  const limitedTo = async (mostBytes: number) => {
    const chain = { ...one.config(at(one.anvil.url)), maxAnswerMib: mostBytes / (1024 * 1024) }
    const diagnosis = await diagnose(configOf(chain), { clock: await clockAfter(1000) })
    expect(diagnosis.healthy).toBe(true)
    return diagnosis
  }
  expect(checkOf(await limitedTo(bytes * 3), 'answers')?.status).toBe('ok')
  expect(checkOf(await limitedTo(bytes * 1.5), 'answers')).toMatchObject({
    status: 'warn',
    value: expect.stringMatching(/^the largest had \d+ KiB \(eth_getBlockReceipts\); the limit is \d+ KiB/),
    fix: expect.stringContaining('raise rpc.max_answer_mib'),
  })
  const beyond = await limitedTo(bytes / 2)
  expect(checkOf(beyond, 'answers')).toMatchObject({
    status: 'warn',
    value: expect.stringMatching(/^eth_getBlockReceipts gave more than the limit of \d+ KiB/),
  })
  expect(checkOf(beyond, 'receipts')?.value).toMatch(
    /^one by one: eth_getBlockReceipts refused for the size of block \d+$/,
  )
})

test('a chain whose headers are configured as opaque is read by those rules, as the service does', async () => {
  await mineTransactions(one, EVERY_KIND)
  const foreign = { extraData: '0x77' }
  const url = await proxied(async (call, fetchAnswer) => {
    const answer = await fetchAnswer()
    return call.method.startsWith('eth_getBlockBy') && answer.result !== null
      ? { result: { ...(answer.result as object), ...foreign } }
      : answer
  })
  const receiptsOf = async (proof?: ChainConfig['proof']) => {
    const chain = { ...one.config(at(url)), proof }
    return checkOf(await diagnose(configOf(chain), { clock: await clockAfter(1000) }), 'receipts')
  }
  expect(await receiptsOf()).toMatchObject({ status: 'fail' })
  expect(await receiptsOf({ header: 'opaque', receipts: 'standard' })).toMatchObject({ status: 'ok' })
})

test('an endpoint without batches, and without eth_call at a hash, is reported by name and not by URL', async () => {
  const url = await proxied((call, fetchAnswer) => {
    const [, at] = call.params
    return call.method === 'eth_call' && typeof at === 'object'
      ? { error: { code: -32_602, message: 'invalid argument 1: hex string expected' } }
      : fetchAnswer()
  })
  const plain = await server(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const isBatch = body.toString().startsWith('[')
    const error = { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'no batches' } }
    response.end(
      isBatch
        ? JSON.stringify(error)
        : await (await fetch(url, { method: 'POST', body, headers: JSON_TYPE })).text(),
    )
  })
  const diagnosis = await diagnoseUrl(plain)
  expect(checkOf(diagnosis, 'batches')?.value).toBe('a JSON-RPC batch refused (-32600); one call at a time')
  expect(checkOf(diagnosis, 'state')).toMatchObject({
    status: 'warn',
    value: 'by block number: eth_call with blockHash refused (-32602)',
    fix: expect.stringContaining('three more calls'),
  })
})

test('what a chain needs is shown beside what the endpoint sustained', async () => {
  let left = 1
  const url = await proxied((call, fetchAnswer, response) => {
    if (call.method !== 'eth_blockNumber' || isPing(call) || left-- > 0) return fetchAnswer()
    return refuse(response, 429)
  })
  // The pings of the latency and of the batch come before the burst.
  let pings = 7
  const isPing = (_call: unknown) => pings-- > 0
  const config = configOf(one.config({ ...at(url), blockTimeMs: 1000 }))
  const diagnosis = await diagnose(config, { clock: await clockAfter(1000) })
  expect(checkOf(diagnosis, 'rate')).toMatchObject({
    status: 'warn',
    value: expect.stringMatching(/^about 2\.7 calls a second; this endpoint refused at 1 \(.*HTTP 429/),
    fix: expect.stringContaining('higher limit'),
  })
  expect(checkOf(await diagnoseUrl(one.anvil.url), 'rate')).toMatchObject({
    status: 'ok',
    value: expect.stringMatching(/^about 13 calls a second; this endpoint answered 30 at \d/),
  })
})

test('the range of getLogs is found whatever the refusal says', async () => {
  const url = await proxied((call, fetchAnswer) => {
    const [filter] = call.params as [{ fromBlock: string; toBlock: string }]
    return call.method === 'eth_getLogs' && Number(filter.toBlock) - Number(filter.fromBlock) + 1 > 5
      ? { error: { code: -32_614, message: 'so viel geht nicht' } }
      : fetchAnswer()
  })
  expect(checkOf(await diagnoseUrl(url), 'logs')?.value).toBe('ranges of 1 blocks')
})

test('a pruned node shows how far back its state goes, and a lagging one how old its head is', async () => {
  const pruned = await proxied((call, fetchAnswer) =>
    call.method === 'eth_getBalance'
      ? { error: { code: -32_000, message: 'missing trie node' } }
      : fetchAnswer(),
  )
  expect(checkOf(await diagnoseUrl(pruned), 'archive')?.value).toMatch(
    /^state of fewer than the last \d+ blocks$/,
  )
  const config = configOf(one.config(at(one.anvil.url)))
  expect(checkOf(await diagnose(config, { clock: await clockAfter(60_000) }), 'head')?.status).toBe('warn')
  const stuck = await diagnose(config, { clock: await clockAfter(600_000) })
  expect(checkOf(stuck, 'head')).toMatchObject({
    status: 'fail',
    fix: expect.stringContaining('still syncing'),
  })
  expect(stuck.healthy).toBe(false)
})

test('a chain without a finality tag gets the advice to set a depth', async () => {
  const url = await proxied((call, fetchAnswer) =>
    call.params[0] === 'finalized' || call.params[0] === 'safe'
      ? { error: { code: -39_001, message: 'unknown block' } }
      : fetchAnswer(),
  )
  expect(checkOf(await diagnoseUrl(url), 'finality')).toMatchObject({
    status: 'warn',
    fix: expect.stringContaining('depth: N'),
  })
})

test('a factory without code, and every other such address, is reported at once with its key', async () => {
  const nowhere: Hex = `0x${'77'.repeat(20)}`
  const config = configOf(
    one.config({
      ...at(one.anvil.url),
      deployments: [
        {
          deploymentId: 'v2',
          family: 'amm_v2',
          factoryAddress: nowhere,
          deploymentBlock: 0,
          initCodeHash: null,
          fee: { numerator: 997, denominator: 1000 },
        },
      ],
      routingAssets: [nowhere],
    }),
  )
  const { healthy, chains } = await diagnose(config)
  expect(healthy).toBe(false)
  expect(chains[0]?.faults).toEqual([
    `chains[0].deployments[0].factory_address: there is no code at ${nowhere} on chain 31337; check the address, or remove the entry`,
    `chains[0].routing_assets[0]: there is no code at ${nowhere} on chain 31337; check the address, or remove the entry`,
  ])
  await expect(preflight(config)).rejects.toThrow('deployments[0].factory_address')
})

test('an unreachable node does not stop the start: it is a warning', async () => {
  const free = await server(() => undefined)
  await closing.pop()?.()
  const warnings = await preflight(configOf(one.config(at(free, one.anvil.url))))
  expect(warnings.filter(each => !each.includes('one backend'))).toEqual([
    expect.stringMatching(/^chains\[0\]\.endpoints\[0\]\.url \(node-1\): .*is the node up/),
  ])
})

test('a chain whose one endpoint cannot prove a block is reported at the start, which continues', async () => {
  await mineTransactions(one, EVERY_KIND)
  const url = await proxied(
    changing<readonly object[]>('eth_getBlockReceipts', receipts =>
      receipts.map(receipt => ({ ...receipt, cumulativeGasUsed: '0x1' })),
    ),
  )
  expect(await preflight(configOf(one.config(at(url))))).toEqual([
    expect.stringMatching(
      /^chains\[0\]\.endpoints\[0\]\.url \(node-1\): .*add this to .*: proof: \{ header: standard, receipts: none \}; and add an endpoint/,
    ),
  ])
  expect(await preflight(configOf(one.config(at(one.anvil.url))))).toEqual([])
  expect(
    await preflight(configOf(one.config({ ...at(url), proof: { header: 'standard', receipts: 'none' } }))),
  ).toEqual([expect.stringMatching(/^chains\[0\]\.proof: .*DEGRADED \(NO_PROOF\)/)])
})

test('every endpoint gets every check: one fault does not hide another', async () => {
  const good = await proxied(pass)
  const diagnosis = await diagnose(configOf(one.config(at(two.anvil.url, good, two.anvil.wsUrl))), {
    clock: await clockAfter(1000),
  })
  expect(diagnosis.chains[0]?.endpoints.map(({ status }) => status)).toEqual(['fail', 'ok', 'fail'])
})

test('the command prints JSON and exits with 1 when an endpoint fails', async () => {
  const command = fileURLToPath(new URL('../../cli/assay.ts', import.meta.url))
  const child = spawn(process.execPath, [command, 'doctor', '--json'], {
    env: { ...process.env, ASSAY_RPC_1: one.anvil.url },
  })
  let said = ''
  child.stdout.on('data', (part: Buffer) => {
    said += String(part)
  })
  expect((await once(child, 'exit'))[0]).toBe(1)
  const { healthy, chains } = JSON.parse(said) as Diagnosis
  expect(healthy).toBe(false)
  expect(chains[0]?.endpoints[0]?.checks[0]).toMatchObject({
    name: 'chain_id',
    value: 'it serves chain 31337, not 1',
  })
})
