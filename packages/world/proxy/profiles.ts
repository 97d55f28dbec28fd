/**
 * Profiles of endpoints in real use, as rules for the fault proxy: a public node, a free plan, a flaky provider. The
 * numbers are limits published by providers, or behaviour seen on their endpoints.
 */
import type { Rule } from './rule.ts'

export type Profile = { readonly name: string; readonly about: string; readonly rules: readonly Rule[] }

const later = (ms: number | readonly [number, number]): Rule => ({ fault: { kind: 'delay', ms } })

/** The bucket holds two seconds' worth of calls, so a client can spend at once what it saved in a quiet moment. */
const atMost = (perSecond: number, headers: Readonly<Record<string, string>> = {}): Rule => ({
  beyond: { perSecond, burst: 2 * perSecond },
  fault: {
    kind: 'refuse',
    status: 429,
    headers,
    code: -32_005,
    message: `limit of ${perSecond} calls per second exceeded`,
  },
})

const logsOver = (most: number, code: number, message: string): Rule => ({
  method: 'eth_getLogs',
  fault: { kind: 'logRange', most, code, message },
})

/** A load balancer that sends this share of the calls to a lagging node. */
const behind = (share: number, blocks: number): Rule => ({
  chance: share,
  fault: { kind: 'behind', blocks },
})

const ofRequests = (chance: number, fault: Rule['fault']): Rule => ({ chance, isPerRequest: true, fault })

export const PROFILES: readonly Profile[] = [
  {
    name: 'public',
    about: '150 ms a call, 25 calls/s, getLogs over at most 1,000 blocks, no receipts by block',
    rules: [
      later(150),
      atMost(25, { 'retry-after': '1' }),
      {
        method: 'eth_getBlockReceipts',
        fault: {
          kind: 'error',
          code: -32_601,
          message: 'the method eth_getBlockReceipts does not exist/is not available',
        },
      },
      logsOver(1000, -32_000, 'block range is too large, at most 1000 blocks'),
    ],
  },
  {
    name: 'free',
    about:
      '300 ms a call, 10 calls/s with 429 and no Retry-After, getLogs over at most 10 blocks, half of the calls from a node 3 blocks behind',
    rules: [
      later(300),
      atMost(10),
      logsOver(10, -32_600, 'eth_getLogs is limited to a range of 10 blocks on this plan'),
      behind(0.5, 3),
    ],
  },
  {
    name: 'flaky',
    about:
      '20 to 800 ms a call, 5% of the calls lost, 5% refused with 502, a fifth from a node 2 blocks behind',
    rules: [
      later([20, 800]),
      ofRequests(0.04, { kind: 'hang', after: 'request' }),
      ofRequests(0.01, { kind: 'drop' }),
      ofRequests(0.05, {
        kind: 'refuse',
        status: 502,
        body: '<html><head><title>502 Bad Gateway</title></head></html>',
        code: -32_603,
        message: 'temporary internal error, please retry',
      }),
      behind(0.2, 2),
    ],
  },
]

/** Throws an error that lists the known profiles. */
export function profileOf(name: string): Profile {
  const found = PROFILES.find(profile => profile.name === name)
  if (found !== undefined) return found
  throw new Error(
    `no profile ${JSON.stringify(name)}; there are ${PROFILES.map(profile => profile.name).join(', ')}`,
  )
}
