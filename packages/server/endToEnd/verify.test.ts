import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Difference, exact, type ExactValue, type PricedQuote, verify } from '@assay/sdk'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CHAIN_ID, planWith, token } from './testing/plan.ts'
import { chain, client, serveChain, service } from './testing/servedChain.ts'

/** A token of each kind of vote: several sources, an outlier, one wildly off, dust, and a hop to a hop. */
const WITH = {
  tokens: [
    token(0x61, 'FINCH', 3),
    token(0x62, 'GULL', 0.5, 6),
    token(0x63, 'HERON', 12, 9),
    token(0x64, 'IBIS', 7),
  ],
  pools: [
    { deployment: 'uniswap-v3', pair: ['USDC', 'WETH'], usd: 6_000_000, feePpm: 500 },
    { deployment: 'uniswap-v2', pair: ['USDC', 'FINCH'], usd: 800_000 },
    { deployment: 'v2-two', pair: ['USDT', 'FINCH'], usd: 700_000 },
    { deployment: 'uniswap-v3', pair: ['USDC', 'FINCH'], usd: 900_000, feePpm: 3000 },
    { deployment: 'v2-two', pair: ['WETH', 'FINCH'], usd: 60_000 },
    { deployment: 'uniswap-v2', pair: ['USDC', 'GULL'], usd: 800_000 },
    { deployment: 'v2-two', pair: ['USDC', 'GULL'], usd: 700_000 },
    { deployment: 'uniswap-v3', pair: ['WETH', 'GULL'], usd: 40_000, feePpm: 3000 },
    { deployment: 'uniswap-v2', pair: ['USDC', 'HERON'], usd: 900_000 },
    { deployment: 'v2-two', pair: ['USDC', 'HERON'], usd: 900_000 },
    { deployment: 'uniswap-v3', pair: ['USDC', 'HERON'], usd: 900_000, feePpm: 3000 },
    { deployment: 'uniswap-v2', pair: ['USDT', 'HERON'], usd: 9_000 },
    { deployment: 'v2-two', pair: ['USDT', 'HERON'], usd: 1_200_000 },
    { deployment: 'uniswap-v3', pair: ['USDT', 'IBIS'], usd: 400_000, feePpm: 3000 },
  ],
} as const

const v2 = (pair: string) => chain.pool('uniswap-v2', 'USDC', pair)
serveChain(planWith(WITH), async () => {
  await chain.run(
    chain.sellV2(v2('LARK'), 'LARK', 2_000),
    chain.sellV2(v2('GULL'), 'GULL', 60_000),
    chain.sellV2(chain.pool('v2-two', 'USDC', 'HERON'), 'HERON', 60_000),
    chain.sellV2(chain.pool('v2-two', 'USDT', 'HERON'), 'HERON', 3_600_000),
  )
  return {}
})
beforeAll(async () => {
  await service.untilTip(
    await chain.run(
      chain.sellV2(v2('FINCH'), 'FINCH', 900),
      chain.sellV3(chain.pool('uniswap-v3', 'USDT', 'IBIS'), 'IBIS', 700),
      chain.sellV2(v2('HERON'), 'USDC', 800),
      // So much at so low a fee that it was sold above the price it left behind.
      chain.sellV3(chain.pool('uniswap-v3', 'USDC', 'WETH'), 'WETH', 40_000),
    ),
  )
})
beforeEach(() => service.untilWell())

/** As a later server may write it: with one more field in every object. */
function withTomorrow<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withTomorrow) as Value
  const fields = Object.entries(value).map(([name, each]) => [name, withTomorrow(each)] as const)
  return { ...Object.fromEntries(fields), announced: { since: 'later' } } as Value
}

type Leaf = { readonly path: string; readonly value: unknown }

function leavesOf(value: unknown, path = ''): Leaf[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => leavesOf(each, `${path}[${index}]`))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, each]) =>
      leavesOf(each, path === '' ? name : `${path}.${name}`),
    )
  return [{ path, value }]
}

/** A confidence is the lowest of these. A stable has nothing beside two of them: raised they may change nothing, lowered they do. */
const LOWEST_OF = /^confidence\.components\.[a-z]+\.score$/

/** Another value of the same kind. */
function other(value: unknown, path = ''): unknown {
  if (LOWEST_OF.test(path)) return 0
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  if (typeof value !== 'string') return 1
  if (/^[0-9]+$/.test(value)) return (BigInt(value) + 1n).toString()
  if (/^[0-9.]+$/.test(value)) return `${value}1`
  if (value.startsWith('0x')) return value.slice(0, -1) + (value.endsWith('0') ? '1' : '0')
  return `${value}X`
}

function tampered<Quote>(quote: Quote, path: string, value: unknown): Quote {
  const copy = structuredClone(quote) as Record<string, unknown>
  const keys = path.replaceAll(/\[([0-9]+)\]/g, '.$1').split('.')
  const last = keys.pop() as string
  let at = copy
  for (const key of keys) at = at[key] as Record<string, unknown>
  at[last] = value
  return copy as Quote
}

/** Told by a difference: itself, what holds it, or what it was computed from. */
const isNamed = (path: string, differences: readonly Difference[]): boolean =>
  differences.some(difference =>
    [difference.path, ...difference.from].some(
      each => path === each || path.startsWith(`${each}.`) || path.startsWith(`${each}[`),
    ),
  )

const patternOf = (path: string): string => path.replaceAll(/\[[0-9]+\]/g, '[]')

/** Fields that nothing else in the quote repeats: the chain has some of them, the past the rest. */
const SAID_ONCE = [
  /(^|\.)as_of\.(block_hash|block_number|block_time_ms|stream_sequence)$/,
  /(^|\.)(change|last_trade_ms|source)$/,
  /^(chain_id|evaluated_at_ms)$/, // of a stable: a token's are checked
  /\.agreement\.(deployments|sources|spread_bps|retained_weight_bps)$/, // within a band
  /\.temporal\.covered_ms$/, // within a band
  /\.past\.(kind|read_at_ms|is_proven|times|traded_by_ms)$/, // where no cap follows from it
  /(^|\.)sellability\.(reason|pool_id|block_number|block_hash|checked_at_ms|method|revert)$/,
  /(^|\.)sellability\.(buy|transfer|sell)_tax_bps$/, // within a band
  /(^|\.)sellability\.(path\[\]\.(pool_id|family|fee_ppm)|sizes\[\])$/, // what to run again, which the chain answers
  /\.backing\.(balance0|balance1|against0|against1|read_at_ms|excess_since_ms)$/, // within a band
  /(^|\.)own_past\.covered_ms$/, // within a band
  /(^|\.)own_past\.reference_usd\.(numerator|denominator)$/, // within the digits of its display and of the deviation
  /\.(deployment_id|fee_ppm|quiet_since_ms|jump_since_ms)$/,
  /\.depth\.(down|up|ewma)_microusd$/, // of v3, and of an average
  /\.evidence\.(block_hash|block_number|observed_at_ms|kind|log_index|transaction_hash)$/,
  /\.slot\.liquidity$/,
  /\.stable\.updated_at_ms$/,
  /\.failure\.(actual|required)$/, // words beside the rule
]

async function quoteOf(symbol: string): Promise<PricedQuote> {
  const quote = await client.quoteToken({ chain_id: CHAIN_ID, token_address: chain.token(symbol) })
  if (quote.state !== 'PRICED') throw new Error(`${symbol} is ${quote.state}`)
  return quote
}

describe('a true quote', () => {
  it('verifies, whatever its routes, from its own evidence and against the chain', async () => {
    const { tokens } = await client.fetchTokens({ chain_id: CHAIN_ID })
    const reasons = new Set<string | null>()
    const kinds = new Set<string | undefined>()
    for (const { symbol, token_address } of tokens) {
      const quote = await client.quoteToken({ chain_id: CHAIN_ID, token_address })
      if (quote.state !== 'PRICED') throw new Error(`${symbol} is ${quote.state}`)
      const policy = await client.fetchPolicy(quote.policy_version)
      expect((await verify(quote, { policy })).differences, symbol ?? '').toEqual([])
      const { verified, differences, checks } = await verify(quote, { policy, rpc: chain.world.url })
      expect(differences, symbol ?? '').toEqual([])
      expect(verified).toBe(true)
      expect(checks).toBeGreaterThan(15)
      for (const { reason, hops } of quote.routes) {
        reasons.add(reason)
        for (const hop of hops) kinds.add(`${hop.family} ${hop.evidence?.kind}`)
      }
    }
    const [hop] = (await quoteOf('WETH')).routes.flatMap(({ hops }) =>
      hops.filter(each => each.fee_ppm === 500),
    )
    expect(hop?.evidence?.kind).toBe('OBSERVED_SWAP')
    const [sold, left] = [exact.from(hop?.ratio as ExactValue), exact.from(hop?.marginal as ExactValue)]
    expect(exact.compare(sold, left)).toBe(1)
    // The plan has one of each: otherwise this test proves less than it seems to.
    expect([...reasons].sort()).toEqual(['IMMATERIAL', 'OUTLIER', 'VALUE_IMBALANCE', null].sort())
    expect([...kinds].sort()).toEqual([
      'amm_v2 OBSERVED_SWAP',
      'amm_v2 SIMULATED_SWAP',
      'amm_v3 OBSERVED_SWAP',
      'amm_v3 SIMULATED_SWAP',
    ])
  })

  it('verifies when it was computed on demand, and when it was narrowed', async () => {
    const wanted = { chain_id: CHAIN_ID, token_address: chain.token('FINCH') }
    for (const narrowing of [{ max_age_ms: 0 }, { max_hops: 1 }, { min_depth_usd: 4000 }]) {
      const quote = await client.quoteToken({ ...wanted, ...narrowing })
      expect([quote.state, 'source' in quote && quote.source]).toEqual(['PRICED', 'COMPUTED'])
      expect((await verify(quote)).differences).toEqual([])
    }
  })

  it('R-wire-6: verifies with unknown future fields in every part of it', async () => {
    const quote = await quoteOf('FINCH')
    expect(JSON.stringify(withTomorrow(quote)).match(/announced/g)?.length).toBeGreaterThan(100)
    const { verified, differences } = await verify(withTomorrow(quote), { rpc: chain.world.url })
    expect({ verified, differences }).toEqual({ verified: true, differences: [] })
  })

  it('is not judged by another policy', async () => {
    const { differences } = await verify(await quoteOf('LARK'), { policy: { max_hops: 2 } })
    expect(differences.map(each => each.path)).toEqual(['policy_version'])
  })

  it('cannot be made out of a pending one', async () => {
    const pending = {
      state: 'PENDING',
      chain_id: CHAIN_ID,
      token: chain.token('LARK'),
      stage: 'DISCOVERY',
      retry_after_ms: 1000,
    } as const
    await expect(verify(pending)).rejects.toThrow('PENDING')
  })
})

describe('a quote with one number changed', () => {
  it('does not verify, and the number is named, for every number that others follow from', async () => {
    const caught = new Set<string>()
    for (const symbol of ['FINCH', 'HERON', 'LARK', 'USDC']) {
      const quote = await quoteOf(symbol)
      for (const { path, value } of leavesOf(quote)) {
        const { verified, differences } = await verify(tampered(quote, path, other(value, path)))
        const pattern = patternOf(path)
        if (verified)
          expect(
            SAID_ONCE.some(each => each.test(pattern)),
            `${symbol} ${path} passes`,
          ).toBe(true)
        else {
          expect(isNamed(path, differences), `${symbol} ${path}: ${JSON.stringify(differences[0])}`).toBe(
            true,
          )
          caught.add(pattern)
        }
      }
    }
    expect(caught.size).toBeGreaterThan(100)
  })

  it('does not verify against the chain where only the chain can tell', async () => {
    const tell = (path: string) =>
      /^as_of\.(block_|stream_sequence)/.test(path)
        ? !path.includes('sequence')
        : /^routes\[[0-9]+\]\.hops\[0\]\.(evidence\.|slot\.|reserves\.|fee_ppm|from|to|pool_address|depth\.(up|down))/.test(
            path,
          ) && !path.endsWith('.kind')
    const caught = new Set<string>()
    for (const symbol of ['IBIS', 'MOTH', 'FINCH']) {
      const quote = await quoteOf(symbol)
      for (const { path, value } of leavesOf(quote).filter(leaf => tell(leaf.path))) {
        const forged = tampered(quote, path, other(value))
        const { verified, differences } = await verify(forged, { rpc: chain.world.url })
        expect([path, verified]).toEqual([path, false])
        expect(isNamed(path, differences), `${path}: ${JSON.stringify(differences[0])}`).toBe(true)
        caught.add(patternOf(path))
      }
    }
    for (const field of [
      'amount_in',
      'amount_out',
      'block_hash',
      'block_number',
      'transaction_hash',
      'log_index',
    ])
      expect(caught).toContain(`routes[].hops[].evidence.${field}`)
    expect(caught.size).toBeGreaterThan(18)
  })

  it('does not verify when a pool claims another deployment, or a sale is older than claimed', async () => {
    const quote = await quoteOf('FINCH')
    const one = structuredClone(quote) as unknown as { routes: { hops: { deployment_id: string }[] }[] }
    for (const { hops } of one.routes) for (const hop of hops) hop.deployment_id = 'all-the-same'
    const { differences } = await verify(one as never, { rpc: chain.world.url })
    expect(differences.some(({ path }) => path.endsWith('.deployment_id'))).toBe(true)
  })

  it('reports what it could not check when the node does not answer, and never that it is wrong', async () => {
    const down = () => Promise.reject(new TypeError('no route to host'))
    for (const rpc of [down, 'http://127.0.0.1:1']) {
      const { verified, differences, unchecked } = await verify(await quoteOf('LARK'), { rpc })
      expect([verified, differences]).toEqual([false, []])
      expect(unchecked.length).toBeGreaterThan(5)
    }
  })

  it('with a field missing or of another type is reported, and crashes nothing', async () => {
    const quote = await quoteOf('LARK')
    for (const { path } of leavesOf(quote))
      for (const value of [undefined, {}, -1, '1e9'])
        await expect(verify(tampered(quote, path, value)), path).resolves.toHaveProperty('checks')
    for (const field of ['routes', 'routing_assets', 'confidence', 'support', 'stable', 'as_of'])
      for (const value of [undefined, null, 'x', 7, [null], [{}]]) {
        const forged = tampered(quote, field, value)
        await expect(verify(forged, { rpc: chain.world.url }), field).resolves.toMatchObject({
          verified: false,
        })
      }
  })
})

describe('assay verify', () => {
  const ASSAY = fileURLToPath(new URL('../../cli/assay.ts', import.meta.url))
  const run = async (url: string, symbol: string, ...more: readonly string[]) => {
    const args = ['verify', String(CHAIN_ID), chain.token(symbol), '--url', url, '--key', await service.key()]
    return new Promise<{ code: number; text: string }>(resolve =>
      execFile(process.execPath, [ASSAY, ...args, ...more], (error, out) =>
        resolve({ code: error === null ? 0 : Number(error.code), text: out }),
      ),
    )
  }

  it('reports that a quote verifies, with a node of your own too', async () => {
    const { code, text } = await run(service.url, 'LARK', '--rpc', chain.world.url)
    expect(text).toMatch(
      /^[0-9.]+ USD, confidence [0-9]+: verified, [0-9]+ numbers from its own evidence and your node/,
    )
    expect(code).toBe(0)
  })

  it('exits with 1 and names the number when a service gives another price than its evidence', async () => {
    const liar = createServer((request, response) => {
      void fetch(`${service.url}${request.url}`, {
        headers: { authorization: request.headers.authorization ?? '' },
      }).then(async answer => {
        const text = await answer.text()
        response.setHeader('content-type', 'application/json')
        response.end(text.replace('"amount_out":"', '"amount_out":"9'))
      })
    }).listen(0)
    const url = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`
    const { code, text } = await run(url, 'LARK', '--json')
    liar.close()
    expect(code).toBe(1)
    const { verified, differences } = JSON.parse(text) as { verified: boolean; differences: Difference[] }
    expect(verified).toBe(false)
    expect(differences.flatMap(({ path, from }) => [path, ...from]).join()).toContain('evidence.amount_out')
  })
})
