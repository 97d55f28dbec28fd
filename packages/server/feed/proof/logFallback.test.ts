/** What an endpoint refuses, in whatever words, is done in another manner at once, remembered, and tried again later. */
import { afterEach, describe, expect, it } from 'vitest'
import type { Fault } from '../../../world/proxy/rule.ts'
import { systemClock } from '../../ops/clock.ts'
import { Secret } from '../../ops/secret.ts'
import { fetchBlock } from './block.ts'
import { Endpoint } from '../endpoints/endpoint.ts'
import type { FeedLog } from '../feedLog.ts'
import { keep, proxiedChainOfFile } from '../testing/following.ts'
import { EVERY_KIND, latest, mineTransactions } from '../testing/localChain.ts'

const { signal } = new AbortController()
const RECEIPTS = 'eth_getBlockReceipts'
const RECEIPT = 'eth_getTransactionReceipt'

const { chain, proxy } = await proxiedChainOfFile()
await mineTransactions(chain, EVERY_KIND)
const block = await latest(chain)
const lines: string[] = []
const log: FeedLog = (_level, message) => void lines.push(message)
afterEach(() => {
  lines.length = 0
})

let laterMs = 0
const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + laterMs }

function endpointAt(url = proxy.url): Endpoint {
  const { chainId, genesisHash } = chain.config()
  const identity = { chainId, genesisHash }
  return keep(new Endpoint({ name: 'own-node', url: new Secret(url), identity, clock, log }))
}

const counted = (method: string): number => proxy.calls.filter(call => call.method === method).length

const HTML = '<!doctype html><html>Forbidden</html>'
const REFUSALS: readonly (readonly [what: string, fault: Fault, said: string])[] = [
  ['-32601', { kind: 'error', code: -32601, message: 'Method not found' }, '-32601'],
  ['-32600', { kind: 'error', code: -32600, message: 'Invalid request' }, '-32600'],
  ['-32004', { kind: 'error', code: -32004, message: 'Method not supported' }, '-32004'],
  ['-32053', { kind: 'error', code: -32053, message: 'API key is not allowed to access' }, '-32053'],
  ['-32603', { kind: 'error', code: -32603, message: 'das geht hier nicht' }, '-32603'],
  ['HTTP 403', { kind: 'status', status: 403 }, 'HTTP 403'],
  ['HTTP 405', { kind: 'status', status: 405, body: HTML }, 'HTTP 405'],
  ['HTTP 501', { kind: 'status', status: 501 }, 'HTTP 501'],
  ['a page of HTML', { kind: 'body', body: HTML }, 'HTTP 200'],
]

describe('receipts by block', () => {
  it.each(REFUSALS)('refused with %s are read by transaction, and requested once', async (_, fault, said) => {
    proxy.add({ method: RECEIPTS, fault })
    const endpoint = endpointAt()
    proxy.calls.length = 0
    for (let n = 0; n < 4; n++)
      expect(await fetchBlock(endpoint, block.hash, signal)).toMatchObject({
        proof: 'receipts',
        logs: { length: 9 },
      })
    expect(counted(RECEIPTS)).toBe(1)
    expect(counted(RECEIPT)).toBe(4 * EVERY_KIND.length)
    expect(lines).toEqual([
      `endpoint own-node: eth_getBlockReceipts refused (${said}); falling back to receipts by transaction`,
    ])
    expect([endpoint.status, endpoint.isUsable]).toEqual(['OK', true])
    expect(endpoint.abilities.lackings).toEqual([`eth_getBlockReceipts refused (${said})`])
  })

  it('refused for their size are requested again with the next block', async () => {
    const endpoint = endpointAt()
    const error = { kind: 'error', code: -32000, message: 'response size should not greater than 10485760' }
    proxy.add({ method: RECEIPTS, nth: 1, fault: error as Fault })
    proxy.calls.length = 0
    for (let n = 0; n < 3; n++)
      expect(await fetchBlock(endpoint, block.hash, signal)).toMatchObject({ proof: 'receipts' })
    expect([counted(RECEIPTS), counted(RECEIPT)]).toEqual([3, EVERY_KIND.length])
    expect(endpoint.abilities.lackings).toEqual([])
  })

  it('refused for their size every time count as missing after the third', async () => {
    const endpoint = endpointAt()
    proxy.add({ method: RECEIPTS, fault: { kind: 'error', code: -32000, message: 'response size exceeded' } })
    proxy.calls.length = 0
    for (let n = 0; n < 6; n++)
      expect(await fetchBlock(endpoint, block.hash, signal)).toMatchObject({ proof: 'receipts' })
    expect(counted(RECEIPTS)).toBe(3)
  })

  it('are retried after ten minutes, then after twice as long, and used when they are back', async () => {
    const endpoint = endpointAt()
    const rule = proxy.add({ method: RECEIPTS, fault: { kind: 'error', code: -32601, message: 'no' } })
    const asked = async (): Promise<number> => {
      const before = counted(RECEIPTS)
      await fetchBlock(endpoint, block.hash, signal)
      return counted(RECEIPTS) - before
    }
    expect([await asked(), await asked()]).toEqual([1, 0])
    laterMs += 601_000
    expect([await asked(), await asked()]).toEqual([1, 0])
    laterMs += 601_000
    expect(await asked()).toBe(0)
    laterMs += 601_000
    rule.remove()
    expect([await asked(), await asked()]).toEqual([1, 1])
    expect(lines.at(-1)).toBe('endpoint own-node: eth_getBlockReceipts works again')
    expect(endpoint.abilities.lackings).toEqual([])
  })

  it('that are truncated are requested in parts the next time', async () => {
    const endpoint = endpointAt()
    proxy.add({ method: RECEIPTS, fault: { kind: 'truncate', share: 0.5 } })
    await expect(fetchBlock(endpoint, block.hash, signal)).rejects.toMatchObject({
      code: 'ENDPOINT_UNREACHABLE',
      endpoint: 'own-node',
    })
    expect(await fetchBlock(endpoint, block.hash, signal)).toMatchObject({ proof: 'receipts' })
    expect(endpoint.abilities.lackings).toEqual([])
  })

  it.each([
    ['HTTP 503', { kind: 'status', status: 503 }],
    ['a cut connection', { kind: 'drop' }],
  ] as const)('that failed with %s do not count as missing', async (_, fault) => {
    const endpoint = endpointAt()
    const rule = proxy.add({ method: RECEIPTS, fault })
    await expect(fetchBlock(endpoint, block.hash, signal)).rejects.toMatchObject({ endpoint: 'own-node' })
    rule.remove()
    expect(endpoint.abilities.lackings).toEqual([])
  })

  it('that are refused along with every other call do not count as missing', async () => {
    const endpoint = endpointAt()
    await endpoint.open(signal)
    proxy.add({ fault: { kind: 'status', status: 403 } })
    const asked = endpoint.request(RECEIPTS, [block.hash], signal)
    await expect(asked).rejects.toMatchObject({ code: 'ENDPOINT_STATUS', endpoint: 'own-node' })
    expect([endpoint.status, endpoint.isUsable]).toEqual(['FAILING', false])
  })

  it('of a block that the node does not have yet are not refused, even if it answers with an error', async () => {
    const endpoint = endpointAt()
    proxy.add({
      method: RECEIPTS,
      nth: 1,
      fault: { kind: 'error', code: -32000, message: 'header not found' },
    })
    expect(await fetchBlock(endpoint, block.hash, signal)).toMatchObject({ proof: 'receipts' })
    expect([endpoint.abilities.lackings, lines]).toEqual([[], []])
  })
})

describe('without receipts', () => {
  const refuse = (...methods: readonly string[]): void => {
    proxy.add({ method: methods, fault: { kind: 'error', code: -32600, message: 'no' } })
  }

  it('logs are read by block hash, without proof', async () => {
    refuse(RECEIPTS, RECEIPT)
    const endpoint = endpointAt()
    proxy.calls.length = 0
    for (let n = 0; n < 3; n++)
      expect(await fetchBlock(endpoint, block.hash, signal)).toMatchObject({
        proof: 'none',
        logs: { length: 9 },
      })
    expect(counted(RECEIPTS)).toBe(1)
    expect(counted('eth_getLogs')).toBe(3)
  })

  it('and without logs by hash they are read by number, and must be of the requested block', async () => {
    refuse(RECEIPTS, RECEIPT)
    proxy.add({
      method: 'eth_getLogs',
      params: ([filter]) => Object.hasOwn(filter as object, 'blockHash'),
      fault: { kind: 'error', code: -32602, message: 'invalid argument 0' },
    })
    const endpoint = endpointAt()
    for (let n = 0; n < 2; n++)
      expect(await fetchBlock(endpoint, block.hash, signal)).toMatchObject({
        proof: 'none',
        logs: { length: 9 },
      })
    expect(lines.at(-1)).toBe(
      'endpoint own-node: eth_getLogs with blockHash refused (-32602); falling back to logs by block range',
    )
    proxy.add({
      method: 'eth_getLogs',
      fault: {
        kind: 'change',
        change: logs => (logs as object[]).map(each => ({ ...each, blockHash: `0x${'77'.repeat(32)}` })),
      },
    })
    await expect(fetchBlock(endpoint, block.hash, signal)).rejects.toMatchObject({
      code: 'BLOCK_REFUSED',
      endpoint: 'own-node',
    })
  })

  it('and without logs the endpoint is reported to have neither', async () => {
    refuse(RECEIPTS, RECEIPT, 'eth_getLogs')
    await expect(fetchBlock(endpointAt(), block.hash, signal)).rejects.toMatchObject({
      code: 'METHOD_MISSING',
      message: 'endpoint own-node: it serves neither receipts nor logs of a block',
    })
  })
})
