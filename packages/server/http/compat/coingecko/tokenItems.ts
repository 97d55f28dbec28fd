/** CoinGecko's on-chain tokens: `/onchain/networks/{network}/tokens/{address}` and several at once. */
import { exact } from '@assay/sdk'
import type { FastifyInstance } from 'fastify'
import type { HttpContext } from '../../plumbing/context.ts'
import { RequestError } from '../../plumbing/apiError.ts'
import { charge } from '../../plumbing/charge.ts'
import { momentsOf, type PoolMoment } from '../../views/poolReading.ts'
import { pathOf } from '../../plumbing/request.ts'
import type { PoolRow } from '../../../store/port.ts'
import { Absences } from '../absences.ts'
import { type Named, tokenAt, tokensIn } from '../addresses.ts'
import { type Decimals, type Figure, reserveOf, FIGURE_UNITS } from '../figures.ts'
import { nameOf } from '../networks.ts'
import { currentPrices, type Found, type Token } from '../prices.ts'
import { poolsOf, sumOf } from '../tradedPools.ts'
import { PREFIX } from '../vendor.ts'
import { chainIn, type CoinGecko, listOf } from './asked.ts'

/** As many as in its own answers. */
const TOP_POOLS = 3

export function registerTokenItems(app: FastifyInstance, { context, volumes }: CoinGecko): void {
  const itemOf = async (
    { name, token }: Named,
    { row, ...found }: Found,
    absences: Absences,
  ): Promise<object> => {
    const note = (key: string, figure: Figure): string | null => {
      if (typeof figure !== 'string') return exact.format(figure)
      absences.note(`${name}.${key}`, figure)
      return null
    }
    const h24 = note('volume_usd', await volumes.ofToken(token))
    if (found.price === null) absences.note(name, found.reason)
    const network = nameOf(token.chainId, 'network')
    return {
      id: `${network}_${token.tokenAddress}`,
      type: 'token',
      attributes: {
        address: token.tokenAddress,
        name: row?.name ?? null,
        symbol: row?.symbol ?? null,
        decimals: row?.decimals ?? null,
        image_url: null,
        coingecko_coin_id: null,
        total_supply: null,
        normalized_total_supply: null,
        price_usd: found.price === null ? null : exact.format(found.price.value),
        fdv_usd: null,
        total_reserve_in_usd: note('total_reserve_in_usd', await totalReserve(context, token)),
        volume_usd: h24 === null ? {} : { h24 },
        market_cap_usd: null,
      },
      relationships: {
        top_pools: {
          data: (await deepestOf(context, token))
            .slice(0, TOP_POOLS)
            .map(({ poolAddress }) => ({ id: `${network}_${poolAddress}`, type: 'pool' })),
        },
      },
    }
  }

  app.get(`${PREFIX.coingecko}/onchain/networks/:network/tokens/:address`, async (request, reply) => {
    const { config } = chainIn(context, request, 'network')
    const token = tokenAt(config.chainId, pathOf(request, 'address'))
    if (token === null) throw new RequestError(404, 'there is no token with that address')
    await charge(context, request, reply, FIGURE_UNITS)
    const absences = new Absences()
    const [found] = await currentPrices(context, request, reply, [token])
    if (found === undefined || (found.price === null && found.reason === 'TOKEN_UNKNOWN'))
      throw new RequestError(404, `there is no token at ${token.tokenAddress}`)
    const data = await itemOf({ name: token.tokenAddress, token }, found, absences)
    absences.tell(reply)
    return { data }
  })

  app.get(`${PREFIX.coingecko}/onchain/networks/:network/tokens/multi/*`, async (request, reply) => {
    const { config } = chainIn(context, request, 'network')
    await charge(context, request, reply, FIGURE_UNITS)
    const absences = new Absences()
    const named = tokensIn(listOf(request), config.chainId, absences)
    const found = await currentPrices(
      context,
      request,
      reply,
      named.map(({ token }) => token),
    )
    const data: object[] = []
    for (const [at, each] of named.entries()) {
      const known = found[at]
      // A token that is unknown so far is absent until it is priced.
      if (known?.row == null) absences.note(each.name, known?.price === null ? known.reason : 'UNKNOWN')
      else data.push(await itemOf(each, known, absences))
    }
    absences.tell(reply)
    return { data }
  })
}

/** Both sides of all pools of the token, if every pool reports its balances. */
export async function totalReserve(context: CoinGecko['context'], token: Token): Promise<Figure> {
  const pools = await poolsOf(context, token)
  if (pools === null) return 'TOO_MANY_POOLS'
  if (pools.length === 0) return 'NO_POOL'
  const [moments, decimals] = [await momentsOf(context, pools), await decimalsOf(context, pools)]
  const reserves = pools.map((row, at) =>
    reserveOf(context, row, decimals[at] as Decimals, moments[at] as PoolMoment),
  )
  const known = reserves.filter(each => typeof each !== 'string')
  return known.length < reserves.length
    ? (reserves.find(each => typeof each === 'string') as string)
    : sumOf(known)
}

export async function decimalsOf(
  { store }: Pick<HttpContext, 'store'>,
  pools: readonly PoolRow[],
): Promise<readonly Decimals[]> {
  const rows = await store.readTokensOf(
    pools.flatMap(({ chainId, token0, token1 }) => [
      { chainId, tokenAddress: token0 },
      { chainId, tokenAddress: token1 },
    ]),
  )
  return pools.map((_, at) => ({
    token0: rows[2 * at]?.decimals ?? null,
    token1: rows[2 * at + 1]?.decimals ?? null,
  }))
}

/** The pools of a token, ordered by their weight in its price. */
export async function deepestOf(
  context: Pick<HttpContext, 'store'>,
  token: Token,
): Promise<readonly PoolRow[]> {
  const pools = await poolsOf(context, token)
  return (pools ?? []).toSorted(
    (a, b) => Number(depthOf(b) - depthOf(a) > 0n) - Number(depthOf(b) - depthOf(a) < 0n),
  )
}

function depthOf({ state }: PoolRow): bigint {
  if (state === null) return 0n
  const { depth } = JSON.parse(state) as { readonly depth?: { readonly effective_microusd: string } | null }
  return BigInt(depth?.effective_microusd ?? '0')
}
