/**
 * Malformed requests by the ten thousand against a running service: each is answered below 500 in a described shape,
 * nothing crashes, and memory stays where it was. `npm run test:fuzz` sends more of them.
 */
import { Agent, request as send } from 'node:http'
import { connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { beforeAll, expect, it } from 'vitest'
import { CHAIN_ID, planWith } from '../testing/plan.ts'
import { chain, serveChain, service } from '../testing/servedChain.ts'
import { DescribedApi } from './describedApi.ts'
import { seedOfRun } from '../../../world/seed.ts'

const REQUESTS = Number(process.env['ASSAY_FUZZ_REQUESTS'] ?? 20_000)
const SEED = seedOfRun()
const SOCKETS = 16
/** Of a heap that held some thousand requests before: what a leak of a few hundred bytes each would exceed. */
const MAX_GROWTH = 24 * 2 ** 20
const WARM_UP = 0.3
/** A run of minutes reports its progress. */
const PROGRESS = 10_000

let templates: [method: string, path: string][]
serveChain(planWith(), { tokens: ['MOTH'] })
beforeAll(async () => {
  const { document } = await DescribedApi.of(service)
  templates = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method): [string, string] => [method.toUpperCase(), path]),
  )
})

/** mulberry32 */
function randomFrom(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (n: number) => Math.floor(next() * n)
  return {
    below,
    chance: (share: number) => next() < share,
    of: <T>(list: readonly T[]): T => list[below(list.length)] as T,
  }
}
type Random = ReturnType<typeof randomFrom>

const NUMBERS = [
  '-1',
  '0',
  '1',
  '1e309',
  '1e3',
  '٣',
  '0x1',
  '9007199254740993',
  '1.5',
  'NaN',
  '',
  ' ',
  'null',
  '99999999999999999999',
]
const TEXTS = [
  '',
  'a',
  '\0',
  '"',
  '{}',
  '[]',
  '../..',
  '%',
  '%zz',
  'é',
  '\u{1f600}',
  "' OR 1=1",
  '<script>',
  '__proto__',
  'constructor',
  'x'.repeat(300),
]
const NAMES = [
  'limit',
  'cursor',
  'chain_id',
  'token_address',
  'kind',
  'from_block',
  'max_hops',
  'deadline_ms',
  'min_depth_usd',
  'exclude_pools',
  'at_ms',
  'interval',
  'from_ms',
  'to_ms',
  'snapshot_sequence',
  'address',
  '__proto__',
  'toString',
  'x[]',
]
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND']
const TYPES = [
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'APPLICATION/JSON; charset=x',
  '',
  'application/json, text/html',
  '*/*',
]

/** Never an address that is one but ours: those would be looked for on the chain. */
function segment(random: Random, name: string): string {
  if (random.chance(0.25)) return encodeURIComponent(random.of(TEXTS))
  if (name === 'chain_id') return random.chance(0.6) ? `${CHAIN_ID}` : encodeURIComponent(random.of(NUMBERS))
  if (name.endsWith('address'))
    return random.of([chain.token('MOTH'), '0x', '0x12', `0x${'g'.repeat(40)}`, `0x${'a'.repeat(41)}`])
  return random.of(['x', 'p'.padEnd(33, '0'), ...TEXTS.map(encodeURIComponent)])
}

function pathOf(random: Random, template: string): string {
  if (random.chance(0.05))
    return `/${Array.from({ length: random.below(6) }, () => encodeURIComponent(random.of(TEXTS))).join('/')}`
  const path = template.replace(/\{([a-z_]+)\}/g, (_, name: string) => segment(random, name))
  const count = random.below(4)
  const query = Array.from({ length: count }, () => {
    const value = random.chance(0.5) ? random.of(NUMBERS) : random.of(TEXTS)
    return `${encodeURIComponent(random.of(NAMES))}=${encodeURIComponent(value)}`
  })
  // What would end a key, pause the chain or ask its node is left to tests that mean it.
  const isGuarded = /^\/v1\/(admin|session|quote\/pool)/.test(path) || random.chance(0.2)
  const all = isGuarded ? [...query, 'no_such=1'] : query
  return all.length === 0 ? path : `${path}?${all.join('&')}`
}

function bodyOf(random: Random): string | null {
  if (random.chance(0.6)) return null
  const value = (depth: number): unknown =>
    random.of<() => unknown>([
      () => random.of(NUMBERS),
      () => random.of(TEXTS),
      () => random.below(2 ** 31) - 2 ** 30,
      () => null,
      () => (depth > 3 ? [] : Array.from({ length: random.below(5) }, () => value(depth + 1))),
      () =>
        depth > 3
          ? {}
          : Object.fromEntries(
              Array.from({ length: random.below(4) }, () => [
                random.of(['tokens', 'chain_id', 'token_address', 'min_score', 'scopes', 'x']),
                value(depth + 1),
              ]),
            ),
    ])()
  const text = JSON.stringify(value(0)) ?? ''
  return random.chance(0.3) ? text.slice(0, random.below(text.length + 1)) : text
}

type Sent = { readonly what: string; readonly status: number; readonly text: string }

function sendOne(random: Random, keys: readonly string[], agent: Agent): Promise<Sent> {
  const [method, template] = random.of(templates)
  const used = random.chance(0.15) ? random.of(METHODS) : method
  const path = pathOf(random, template)
  const body = used === 'GET' || used === 'HEAD' ? null : bodyOf(random)
  const headers: Record<string, string> = { authorization: `Bearer ${random.of(keys)}` }
  if (random.chance(0.5)) headers['content-type'] = random.of(TYPES)
  if (random.chance(0.1)) headers['content-encoding'] = random.of(['gzip', 'br', 'identity', 'x'])
  if (random.chance(0.1)) headers['if-none-match'] = random.of(['*', '"', 'W/', '""', ',,,'])
  if (random.chance(0.1))
    headers['x-forwarded-for'] = random.of(['1.2.3.4', '::1', 'x, y', ',', 'é'].slice(0, 4))
  if (random.chance(0.05)) headers['cookie'] = random.of(['assay_session=x', '=', ';;;', 'assay_session'])
  if (body !== null) headers['content-length'] = `${Buffer.byteLength(body)}`
  const what = `${used} ${path} ${JSON.stringify(headers)} ${body ?? ''}`
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.url)
    const request = send({ agent, hostname, port, method: used, path, headers }, response => {
      response.setEncoding('utf8')
      let text = ''
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ what, status: response.statusCode ?? 0, text }))
      response.on('error', reject)
    })
    request.on('error', failure => reject(new Error(`${what}: ${failure.message}`)))
    request.end(body ?? undefined)
  })
}

/** Bytes that hardly are a request; what matters is that the next one is answered. */
function sendBytes(random: Random): Promise<string> {
  const { hostname, port } = new URL(service.url)
  const line = random.of([
    'GET / HTTP/1.1',
    'GET',
    'GET / HTTP/9.9',
    `${'A'.repeat(200)} / HTTP/1.1`,
    'GET /\0 HTTP/1.1',
    'POST /v1/session HTTP/1.1\r\nContent-Length: -1',
    'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz',
    'GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2',
  ])
  return new Promise(resolve => {
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.setEncoding('latin1')
    socket.on('data', (part: string) => {
      text += part
      socket.destroy()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(text))
    socket.write(`${line}\r\n${random.chance(0.5) ? 'Host: x\r\n' : ''}\r\n`)
    socket.end()
  })
}

function heapAfterGc(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}

it(`${REQUESTS} malformed requests: no crash, nothing above 499, memory flat`, async () => {
  const random = randomFrom(SEED)
  const limits = { units: 1e9, windowMs: 1000, burst: 1e9, streamConnections: 1, enrolmentsPerDay: 0 }
  const keys = [await service.key(['read', 'stream'], 'fuzz'), await service.key(['admin', 'read'], 'fuzz')]
  await service.store.writeLimits('fuzz', JSON.stringify(limits))
  service.service.access.forget('fuzz')
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS })
  const seen = new Map<number, number>()
  let sent = 0
  let warm: number | null = null
  const worker = async () => {
    while (sent < REQUESTS) {
      sent += 1
      if (sent % PROGRESS === 0) console.error(`${sent} of ${REQUESTS} sent, seed ${SEED}`)
      if (random.chance(0.01)) {
        expect(await sendBytes(random), `seed ${SEED}`).not.toMatch(/^HTTP\/1\.1 5/)
        continue
      }
      const { what, status, text } = await sendOne(random, keys, agent)
      seen.set(status, (seen.get(status) ?? 0) + 1)
      if (status >= 500 || status < 200) expect.fail(`seed ${SEED}: ${what} → ${status} ${text}`)
      if (/node_modules|\.ts:\d/.test(text) && !what.includes('docs'))
        expect.fail(`seed ${SEED}: ${what} shows a stack: ${text}`)
      if (warm === null && sent > REQUESTS * WARM_UP) warm = heapAfterGc()
    }
  }
  await Promise.all(Array.from({ length: SOCKETS }, worker))
  agent.destroy()
  const grown = heapAfterGc() - (warm ?? 0)
  console.error(
    `answered: ${[...seen].map(([status, count]) => `${count} × ${status}`).join(', ')}; heap +${grown} bytes since request ${REQUESTS * WARM_UP}`,
  )
  expect(grown, `seed ${SEED}: the heap grew by ${grown} bytes`).toBeLessThan(MAX_GROWTH)
  expect(
    [...seen.keys()].toSorted((a, b) => a - b),
    `seed ${SEED}`,
  ).toEqual(expect.arrayContaining([400, 403, 404, 405]))
  expect(service.faults).toEqual([])
})
