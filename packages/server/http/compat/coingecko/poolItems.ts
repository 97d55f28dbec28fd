/** CoinGecko's on-chain pools: one, several, those of a token, and search results. */
import { exact } from '@assay/sdk'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RequestError } from '../../plumbing/apiError.ts'
import { charge } from '../../plumbing/charge.ts'
import type { HttpContext } from '../../plumbing/context.ts'
import { momentsOf, type PoolMoment } from '../../views/poolReading.ts'
import { pathOf, searchOf } from '../../plumbing/request.ts'
import type { PoolRow, TokenRow } from '../../../store/port.ts'
import { Absences } from '../absences.ts'
import { tokenAt, tokensIn } from '../addresses.ts'
import { changeSince, DAY_MS, type Figure, reserveOf, FIGURE_UNITS } from '../figures.ts'
import { chainNamed, nameOf, servedNames } from '../networks.ts'
import { knownPrices, type Found, type Token } from '../prices.ts'
import { toFixed } from '../rounding.ts'
import { PREFIX } from '../vendor.ts'
import { chainIn, type CoinGecko, listOf } from './asked.ts'
import { deepestOf } from './tokenItems.ts'

type Needs = Pick<HttpContext, 'chains' | 'store'>

/** Items on a page, as in its own answers. */
const PAGE = 20
const LONGEST_QUERY = 64
const PERCENT_PLACES = 3
const CHANGES_MS = { m5: 300_000, m15: 900_000, m30: 1_800_000, h1: 3_600_000, h6: 21_600_000, h24: DAY_MS }

export function registerPoolItems(app: FastifyInstance, vendor: CoinGecko): void {
  const { context } = vendor
  const base = `${PREFIX.coingecko}/onchain/networks/:network`

  app.get(`${base}/pools/:address`, async (request, reply) => {
    const row = await knownPool(context, request)
    await charge(context, request, reply, FIGURE_UNITS)
    const absences = new Absences()
    const [data] = await itemsOf(vendor, [row], absences)
    absences.tell(reply)
    return { data }
  })

  app.get(`${base}/pools/multi/*`, async (request, reply) => {
    const { config } = chainIn(context, request, 'network')
    await charge(context, request, reply, FIGURE_UNITS)
    const absences = new Absences()
    const rows: PoolRow[] = []
    for (const { name, token } of tokensIn(listOf(request), config.chainId, absences)) {
      const row = await context.store.readPool(config.chainId, token.tokenAddress)
      if (row === null) absences.note(name, 'POOL_UNKNOWN')
      else rows.push(row)
    }
    const data = await itemsOf(vendor, rows, absences)
    absences.tell(reply)
    return { data }
  })

  app.get(`${base}/tokens/:address/pools`, async (request, reply) => {
    const { config } = chainIn(context, request, 'network')
    const token = tokenAt(config.chainId, pathOf(request, 'address'))
    if (token === null) throw new RequestError(404, 'there is no token with that address')
    await charge(context, request, reply, FIGURE_UNITS)
    const absences = new Absences()
    const data = await itemsOf(vendor, pageOf(request, await deepestOf(context, token)), absences)
    absences.tell(reply)
    return { data }
  })

  app.get(`${PREFIX.coingecko}/onchain/search/pools`, async (request, reply) => {
    await charge(context, request, reply, FIGURE_UNITS)
    const absences = new Absences()
    const data = await itemsOf(vendor, pageOf(request, await found(context, request)), absences)
    absences.tell(reply)
    return { data }
  })
}

/** Finds pools by the address of a pool or a token, or by token symbols and names, deepest first. */
async function found(context: Needs, request: FastifyRequest): Promise<readonly PoolRow[]> {
  const search = searchOf(request)
  const query = (search.get('query') ?? '').trim()
  if (query === '' || query.length > LONGEST_QUERY)
    throw new RequestError(400, `query has ${query.length} characters; expected 1 to ${LONGEST_QUERY}`)
  const name = search.get('network')
  const chain = name === null ? null : chainNamed(context, 'network', name)
  if (name !== null && chain === null)
    throw new RequestError(404, `that network is not served; served are ${servedNames(context, 'network')}`)
  const isWanted = ({ chainId }: { readonly chainId: number }) =>
    chain === null ? context.chains.has(chainId) : chain.config.chainId === chainId
  const address = tokenAt(0, query)?.tokenAddress
  const { pools, tokens } =
    address === undefined
      ? { pools: [], tokens: await context.store.searchTokens(query, PAGE) }
      : await context.store.search(address)
  const rows = new Map<string, PoolRow>()
  for (const pool of pools) rows.set(`${pool.chainId}/${pool.poolAddress}`, pool)
  for (const { chainId, tokenAddress } of tokens.filter(isWanted))
    for (const pool of await deepestOf(context, {
      chainId,
      tokenAddress: tokenAddress as Token['tokenAddress'],
    }))
      rows.set(`${chainId}/${pool.poolAddress}`, pool)
  return [...rows.values()].filter(isWanted)
}

function pageOf(request: FastifyRequest, rows: readonly PoolRow[]): readonly PoolRow[] {
  const page = Number(/^[1-9]\d{0,2}$/.exec(searchOf(request).get('page') ?? '1')?.[0] ?? Number.NaN)
  if (Number.isNaN(page)) throw new RequestError(400, 'page must be a number from 1 to 999')
  return rows.slice((page - 1) * PAGE, page * PAGE)
}

export async function knownPool(context: Needs, request: FastifyRequest): Promise<PoolRow> {
  const { config } = chainIn(context, request, 'network')
  const pool = tokenAt(config.chainId, pathOf(request, 'address'))
  const row = pool === null ? null : await context.store.readPool(config.chainId, pool.tokenAddress)
  if (row === null) throw new RequestError(404, 'no pool with that address is known')
  return row
}

type PoolState = {
  readonly from: string
  readonly to: string
  readonly marginal: { readonly numerator: string; readonly denominator: string } | null
}
/** X and Y of the pool's orientation: its base token, and the token it is quoted in. */
export function sidesOf({ chainId, state, token0, token1 }: PoolRow): {
  readonly base: Token
  readonly quote: Token
} {
  const { from, to } = state === null ? { from: token0, to: token1 } : (JSON.parse(state) as PoolState)
  const of = (address: string): Token => ({ chainId, tokenAddress: address as Token['tokenAddress'] })
  return { base: of(from), quote: of(to) }
}

async function itemsOf(vendor: CoinGecko, rows: readonly PoolRow[], absences: Absences): Promise<object[]> {
  const { context } = vendor
  const moments = await momentsOf(context, rows)
  const items: object[] = []
  for (const [at, row] of rows.entries())
    items.push(await itemOf(vendor, row, moments[at] as PoolMoment, absences))
  return items
}

async function itemOf(
  { context, volumes }: CoinGecko,
  row: PoolRow,
  moment: PoolMoment,
  absences: Absences,
): Promise<object> {
  const { base, quote } = sidesOf(row)
  const native = nativeOf(context, row.chainId)
  const [x, y, coin] = (await knownPrices(context, [base, quote, native])) as [Found, Found, Found]
  const note = (key: string, figure: Figure): string | null => {
    if (typeof figure !== 'string') return exact.format(figure)
    absences.note(`${row.poolAddress}.${key}`, figure)
    return null
  }
  const usd = (key: string, { price, ...side }: Found): string | null =>
    note(key, price === null ? ((side as { reason: string }).reason ?? 'UNKNOWN') : price.value)
  const inCoin = (side: Found): string | null =>
    side.price === null || coin.price === null ? null : exact.format(over(side.price.value, coin.price.value))
  const ratio = marginalOf(row)
  const changes: Record<string, string> = {}
  for (const [name, agoMs] of Object.entries(CHANGES_MS)) {
    const change = x.price === null ? '' : await changeSince(context, base, x.price, agoMs)
    if (typeof change !== 'string') changes[name] = toFixed(change, PERCENT_PLACES)
  }
  const isBase0 = base.tokenAddress === row.token0
  const decimals = {
    token0: (isBase0 ? x : y).row?.decimals ?? null,
    token1: (isBase0 ? y : x).row?.decimals ?? null,
  }
  const h24 = note('volume_usd', await volumes.ofPool(row, base))
  const network = nameOf(row.chainId, 'network')
  const fee = toFixed({ num: BigInt(row.feePpm), den: 10_000n }, 4).replace(/\.?0+$/, '')
  const name = `${labelOf(x.row, base)} / ${labelOf(y.row, quote)}`
  return {
    id: `${network}_${row.poolAddress}`,
    type: 'pool',
    attributes: {
      address: row.poolAddress,
      name: `${name} ${fee}%`,
      pool_name: name,
      pool_fee_percentage: fee,
      pool_created_at: null,
      base_token_price_usd: usd('base_token_price_usd', x),
      quote_token_price_usd: usd('quote_token_price_usd', y),
      base_token_price_native_currency: inCoin(x),
      quote_token_price_native_currency: inCoin(y),
      base_token_price_quote_token: ratio === null ? null : exact.format(ratio),
      quote_token_price_base_token: ratio === null ? null : exact.format({ num: ratio.den, den: ratio.num }),
      fdv_usd: null,
      market_cap_usd: null,
      locked_liquidity_percentage: null,
      price_change_percentage: changes,
      transactions: {},
      volume_usd: h24 === null ? {} : { h24 },
      reserve_in_usd: note('reserve_in_usd', reserveOf(context, row, decimals, moment)),
    },
    relationships: {
      base_token: { data: { id: `${network}_${base.tokenAddress}`, type: 'token' } },
      quote_token: { data: { id: `${network}_${quote.tokenAddress}`, type: 'token' } },
      dex: { data: { id: row.deploymentId, type: 'dex' } },
    },
  }
}

/** The token's own symbol, or else the start of its address. */
const labelOf = (row: TokenRow | null, { tokenAddress }: Token): string =>
  row?.symbol ?? tokenAddress.slice(0, 10)

const nativeOf = (context: Needs, chainId: number): Token => ({
  chainId,
  tokenAddress: context.chains.get(chainId)?.config.wrappedNative ?? '0x',
})

const over = (a: exact.Exact, b: exact.Exact): exact.Exact => ({ num: a.num * b.den, den: a.den * b.num })

function marginalOf({ state }: PoolRow): exact.Exact | null {
  if (state === null) return null
  const { marginal } = JSON.parse(state) as PoolState
  return marginal === null ? null : exact.from(marginal)
}
