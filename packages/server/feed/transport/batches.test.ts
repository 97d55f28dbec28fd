/** Several calls in one request: matched by id in any order, and nothing is taken from a batch that is not as asked. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { systemClock } from '../../ops/clock.ts'
import { Secret } from '../../ops/secret.ts'
import { requestAll } from './batches.ts'
import { fetchBlock } from '../proof/block.ts'
import { Endpoint } from '../endpoints/endpoint.ts'
import type { FeedLog } from '../feedLog.ts'
import { closeAll, endpointsOf, follow, keep } from '../testing/following.ts'
import {
  EVERY_KIND,
  latest,
  type LocalChain,
  mineTransactions,
  startLocalChain,
} from '../testing/localChain.ts'
import { expectFinalChain } from '../testing/oracle.ts'

type Answer = { readonly id: unknown; readonly result?: unknown; readonly error?: object }
/** What becomes of the node's answer to a batch: another list, or a response of any status. */
type Spoil = (answers: readonly Answer[]) => unknown

const { signal } = new AbortController()
let chain: LocalChain
let server: Server
let url: string
let spoil: Spoil
let sizes: number[]
const lines: string[] = []
const log: FeedLog = (_level, message) => void lines.push(message)

beforeAll(async () => {
  chain = await startLocalChain()
  await mineTransactions(chain, EVERY_KIND)
  server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await chain.close()
})
beforeEach(() => {
  spoil = answers => answers
  sizes = []
  lines.length = 0
})
afterEach(closeAll)

/** As the node answers, but for receipts by block, which are refused, and for batches, which are spoiled. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat(await request.toArray())
  const asked = JSON.parse(body.toString()) as { readonly id: number; readonly method: string } | unknown[]
  const headers = { 'content-type': 'application/json' }
  if (!Array.isArray(asked) && asked.method === 'eth_getBlockReceipts') {
    response.end(JSON.stringify({ id: asked.id, error: { code: -32_601, message: 'no' } }))
    return
  }
  const answered: unknown = await (await fetch(chain.anvil.url, { method: 'POST', body, headers })).json()
  if (Array.isArray(asked)) sizes.push(asked.length)
  const said = Array.isArray(asked) ? spoil(answered as readonly Answer[]) : answered
  if (typeof said === 'number') response.writeHead(said).end('<html>no</html>')
  else response.end(typeof said === 'string' ? said : JSON.stringify(said))
}

function endpoint(): Endpoint {
  const { chainId, genesisHash } = chain.config()
  const identity = { chainId, genesisHash }
  return keep(new Endpoint({ name: 'own-node', url: new Secret(url), identity, clock: systemClock, log }))
}
const numbers = ['0x0', '0x1'].map(number => ({ method: 'eth_getBlockByNumber', params: [number, false] }))
const calls = [...numbers, { method: 'eth_chainId', params: [] }]

describe('a batch', () => {
  it('is answered in one request, each call counted', async () => {
    const node = endpoint()
    const outcomes = await requestAll(node, calls, signal)
    expect(outcomes).toMatchObject([
      { result: { number: '0x0' } },
      { result: { number: '0x1' } },
      { result: '0x7a69' },
    ])
    expect(sizes).toEqual([3])
    const sent = node.calls.kinds.filter(({ purpose }) => purpose !== 'identity')
    expect(sent.reduce((sum, each) => sum + each.calls, 0)).toBe(3)
    expect(node.calls.calls).toBe(3)
  })

  it('may be answered in any order', async () => {
    spoil = answers => answers.toReversed()
    expect(await requestAll(endpoint(), calls, signal)).toMatchObject([
      { result: { number: '0x0' } },
      { result: { number: '0x1' } },
      { result: '0x7a69' },
    ])
  })

  it('gives each call its own failure', async () => {
    spoil = ([first, ...rest]) => [
      { id: first?.id, error: { code: 3, message: 'execution reverted' } },
      ...rest,
    ]
    expect(await requestAll(endpoint(), calls, signal)).toMatchObject([
      { error: { code: 'RPC_ERROR', rpcCode: 3, endpoint: 'own-node' } },
      { result: { number: '0x1' } },
      { result: '0x7a69' },
    ])
  })

  it('holds no more than fifty calls', async () => {
    const many = Array.from({ length: 120 }, () => ({ method: 'eth_chainId', params: [] }))
    expect(await requestAll(endpoint(), many, signal)).toHaveLength(120)
    expect(sizes.sort((a, b) => a - b)).toEqual([20, 50, 50])
  })

  const faults: readonly (readonly [what: string, spoil: Spoil, message: RegExp])[] = [
    ['in part', answers => answers.slice(1), /a batch of 3 lacks the answer to call 1$/],
    [
      'with an id of another call',
      ([first, ...rest]) => [{ ...first, id: 9999 }, ...rest],
      /an id that is not in it/,
    ],
    ['with a null id', ([first, ...rest]) => [{ ...first, id: null }, ...rest], /an id that is not in it/],
    ['with the same id twice', ([first, , ...rest]) => [first, first, ...rest], /the same id twice/],
    ['with one answer more', answers => [...answers, answers[0]], /the same id twice/],
    ['with something that is no answer', ([, ...rest]) => ['x', ...rest], /no JSON-RPC object/],
    ['cut in the middle', answers => JSON.stringify(answers).slice(0, 200), /not JSON/],
    ['as one call', ([first]) => first, /other than a list/],
  ]
  it.each(faults)('that is answered %s is the endpoint’s fault as a whole', async (_, wrong, message) => {
    spoil = wrong
    const node = endpoint()
    await expect(requestAll(node, calls, signal)).rejects.toMatchObject({
      code: 'ANSWER_MALFORMED',
      endpoint: 'own-node',
      message: expect.stringMatching(message),
    })
    expect([node.status, node.isUsable]).toEqual(['FAILING', false])
  })

  const refusals: readonly (readonly [what: string, refusal: Spoil, said: string])[] = [
    [
      'an error',
      () => ({ id: null, error: { code: -32_600, message: 'batches are not supported' } }),
      '-32600',
    ],
    ['HTTP 400', () => 400, 'HTTP 400'],
    ['a page', () => '<html>no</html>', 'HTTP 200'],
  ]
  it.each(refusals)(
    'that is refused with %s is sent singly, now and from then on',
    async (_, refusal, said) => {
      spoil = refusal
      const node = endpoint()
      for (let n = 0; n < 3; n++)
        expect(await requestAll(node, calls, signal)).toMatchObject([{}, {}, { result: '0x7a69' }])
      expect(sizes).toEqual([3])
      expect(lines).toEqual([
        `endpoint own-node: a JSON-RPC batch refused (${said}); asking one call at a time`,
      ])
    },
  )
})

describe('receipts by transaction', () => {
  it('come in one batch and prove the block', async () => {
    const { hash } = await latest(chain)
    expect(await fetchBlock(endpoint(), hash, signal)).toMatchObject({
      proof: 'receipts',
      logs: { length: 9 },
    })
    expect(sizes).toEqual([EVERY_KIND.length])
  })

  it.each([
    ['in part', (answers: readonly Answer[]) => answers.slice(1)],
    [
      'out of order, each with another’s id',
      (answers: readonly Answer[]) => answers.map((each, at) => ({ ...each, id: answers.at(at - 1)?.id })),
    ],
    ['with a foreign id', ([first, ...rest]: readonly Answer[]) => [{ ...first, id: 77 }, ...rest]],
  ] as const)('answered %s are not applied, and the block comes from another endpoint', async (_, wrong) => {
    const consumer = await follow(chain, { config: { endpoints: endpointsOf(url, chain.anvil.url) } })
    await consumer.untilTip(await latest(chain))
    spoil = wrong
    sizes = []
    for (let n = 0; n < 20 && sizes.length === 0; n++) {
      await mineTransactions(chain, EVERY_KIND)
      await consumer.untilTip(await latest(chain))
    }
    expect(sizes).not.toEqual([])
    await expectFinalChain(consumer, chain)
    expect(consumer.of('reorg')).toEqual([])
  })
})
