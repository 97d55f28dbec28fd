/** Each profile, in front of a real node, matches its description. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Anvil, startAnvil } from '../anvil.ts'
import { connect } from '../client.ts'
import { type FaultProxy, startFaultProxy } from './faultProxy.ts'
import { type Profile, profileOf, PROFILES } from './profiles.ts'
import { Random } from '../random.ts'
import { type RpcAnswer, RuleBook } from './rule.ts'

const HEAD = 1200

let node: Anvil
let proxy: FaultProxy
beforeAll(async () => {
  node = await startAnvil({ chainId: 31_340 })
  await connect(node.url).mine({ blocks: HEAD })
})
afterAll(() => node.close())
afterEach(() => proxy.close())

/** Without delays, to be quick: tests read the delays from the rules. No time passes, so no limit earns calls back. */
const through = async (name: string, seed = 5): Promise<Profile> => {
  const profile = profileOf(name)
  const rules = profile.rules.filter(({ fault }) => fault.kind !== 'delay')
  proxy = await startFaultProxy({ url: node.url, seed, rules, nowMs: () => 0 })
  return profile
}

const delayOf = ({ rules }: Profile): unknown =>
  rules.flatMap(({ fault }) => (fault.kind === 'delay' ? [fault.ms] : []))

type Outcome = RpcAnswer & { readonly status: number; readonly retryAfter: string | null }

async function ask(method: string, ...params: readonly unknown[]): Promise<Outcome> {
  const response = await fetch(proxy.url, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const answer = (await response.json()) as RpcAnswer
  return { ...answer, status: response.status, retryAfter: response.headers.get('retry-after') }
}

const logs = (blocks: number) => ask('eth_getLogs', { fromBlock: '0x1', toBlock: `0x${blocks.toString(16)}` })

/** The first refusal among this many concurrent calls. */
async function refusalOf(calls: number): Promise<Outcome | undefined> {
  const outcomes = await Promise.all(Array.from({ length: calls }, () => ask('eth_chainId')))
  return outcomes.find(({ status }) => status !== 200)
}

describe('public', () => {
  it('is 150 ms away, has no receipts by block, and serves logs of 1,000 blocks', async () => {
    expect(delayOf(await through('public'))).toEqual([150])
    expect((await ask('eth_getBlockReceipts', 'latest')).error?.code).toBe(-32_601)
    expect((await logs(1000)).result).toEqual([])
    expect((await logs(1001)).error?.code).toBe(-32_000)
    expect(await refusalOf(40)).toBeUndefined()
    expect(await refusalOf(200)).toMatchObject({ status: 429, retryAfter: '1' })
  })
})

describe('free', () => {
  it('is 300 ms away, refuses without Retry-After, and serves logs of 10 blocks', async () => {
    expect(delayOf(await through('free'))).toEqual([300])
    expect((await logs(10)).result).toEqual([])
    expect((await logs(11)).error?.code).toBe(-32_600)
    expect(await refusalOf(15)).toBeUndefined()
    expect(await refusalOf(100)).toMatchObject({ status: 429, retryAfter: null })
  })

  it('answers now from its head, now from three blocks behind', async () => {
    await through('free')
    const heads = new Set<number>()
    for (let n = 0; n < 16; n++) heads.add(Number((await ask('eth_blockNumber')).result))
    expect([...heads].sort()).toEqual([HEAD - 3, HEAD])
  })
})

describe('flaky', () => {
  /** The kinds of faults that meet each of so many calls. */
  const faultsOf = (profile: Profile, seed: number, calls: number): string[] => {
    const book = new RuleBook(new Random(seed))
    for (const rule of profile.rules) book.add(rule)
    const call = { id: 1, method: 'eth_blockNumber', params: [] }
    return Array.from({ length: calls }, () =>
      (book.faultsFor([call])[0] ?? []).map(({ kind }) => kind).join(),
    )
  }

  it('loses 5% of the calls, refuses 5%, and is late with a fifth; the same ones under the same seed', async () => {
    const profile = await through('flaky')
    expect(delayOf(profile)).toEqual([[20, 800]])
    const met = faultsOf(profile, 21, 20_000)
    const share = (kinds: RegExp): number => met.filter(each => kinds.test(each)).length / met.length
    expect(share(/hang|drop/)).toBeCloseTo(0.05, 2)
    expect(share(/refuse/)).toBeCloseTo(0.05, 2)
    expect(share(/behind/)).toBeCloseTo(0.2, 1)
    expect(faultsOf(profile, 21, 20_000)).toEqual(met)
    expect(faultsOf(profile, 22, 20_000)).not.toEqual(met)
  })

  it('refuses with 502 and a page, as a gateway does', async () => {
    const profile = profileOf('flaky')
    const rules = profile.rules.flatMap(rule =>
      rule.fault.kind === 'refuse' ? [{ ...rule, chance: 1 }] : [],
    )
    proxy = await startFaultProxy({ url: node.url, rules })
    const response = await fetch(proxy.url, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
    })
    expect([response.status, await response.text()]).toEqual([502, expect.stringMatching(/^<html>/)])
  })
})

it('an unknown profile is refused with the names of the known ones', async () => {
  await through('public')
  expect(() => profileOf('fast')).toThrow('no profile "fast"; there are public, free, flaky')
  expect(PROFILES.every(({ about }) => !about.includes('\n'))).toBe(true)
})
