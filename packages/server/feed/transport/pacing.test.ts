/** An endpoint that accepts so many calls a second, and refuses more without saying for how long. */
import { describe, expect, it } from 'vitest'
import type { Rule } from '../../../world/proxy/rule.ts'
import { systemClock } from '../../ops/clock.ts'
import { Secret } from '../../ops/secret.ts'
import { Endpoint } from '../endpoints/endpoint.ts'
import { keep, proxiedChainOfFile } from '../testing/following.ts'

const { signal } = new AbortController()
const PER_SECOND = 20
const { chain, proxy } = await proxiedChainOfFile()

function endpointAt(url: string): Endpoint {
  const { chainId, genesisHash } = chain.config()
  const identity = { chainId, genesisHash }
  return keep(
    new Endpoint({ name: 'node', url: new Secret(url), identity, clock: systemClock, log: () => {} }),
  )
}

/** Counts as providers do: so many within any second. */
function limiter(refusal: 'HTTP 429' | '-32005'): { readonly rule: Rule; readonly refused: () => number } {
  const taken: number[] = []
  let refused = 0
  const rule: Rule = {
    fault: {
      kind: 'handle',
      handle: (_, fetchAnswer, response) => {
        const nowMs = performance.now()
        while (taken.length > 0 && nowMs - (taken[0] as number) > 1000) taken.shift()
        if (taken.length < PER_SECOND) {
          taken.push(nowMs)
          return fetchAnswer()
        }
        refused++
        if (refusal === '-32005') return { error: { code: -32005, message: 'limit exceeded' } }
        response?.writeHead(429).end()
        return 'handled'
      },
    },
  }
  return { rule, refused: () => refused }
}

describe.each(['HTTP 429', '-32005'] as const)('refused with %s', refusal => {
  it('calls run at a sustainable rate: every call is answered, few are refused', async () => {
    const endpoint = endpointAt(proxy.url)
    await endpoint.open(signal)
    const { rule, refused } = limiter(refusal)
    proxy.add(rule)
    const wanted = 120
    let answered = 0
    // As a chain asks: some at once, more when those are done.
    const worker = async (): Promise<void> => {
      while (answered < wanted) {
        await endpoint.request('eth_blockNumber', [], signal)
        answered++
      }
    }
    await Promise.all(Array.from({ length: 8 }, worker))
    expect(answered).toBeGreaterThanOrEqual(wanted)
    expect(refused()).toBeGreaterThan(0)
    // The pace is found within some seconds, and then kept.
    expect(refused()).toBeLessThan(wanted / 4)
    expect([endpoint.status, endpoint.isUsable]).toEqual(['OK', true])
  })

  it('a block does not wait for earlier calls', async () => {
    const endpoint = endpointAt(proxy.url)
    await endpoint.open(signal)
    const { rule } = limiter(refusal)
    proxy.add(rule)
    const states = Array.from({ length: 80 }, () => endpoint.request('eth_chainId', [], signal, 'history'))
    let done = 0
    for (const each of states) void each.then(() => done++)
    await expect.poll(() => done, { timeout: 30_000 }).toBeGreaterThan(0)
    await endpoint.request('eth_getBlockByNumber', ['latest', false], signal)
    expect(done).toBeLessThan(80)
    await Promise.all(states)
  })
})

it('an endpoint that refuses everything for seconds is left alone', async () => {
  const endpoint = endpointAt(proxy.url)
  await endpoint.open(signal)
  proxy.add({ fault: { kind: 'status', status: 429 } })
  for (let n = 0; n < 12 && endpoint.isUsable; n++)
    await expect(endpoint.request('eth_blockNumber', [], signal)).rejects.toMatchObject({
      code: 'ENDPOINT_LIMITED',
    })
  expect([endpoint.status, endpoint.isUsable]).toEqual(['FAILING', false])
})
