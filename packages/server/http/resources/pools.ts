/** GET /v1/pools, one pool, and its recent events. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { EventRow, PoolRow } from '../../store/port.ts'
import { RequestError } from '../plumbing/apiError.ts'
import { charge, unitsOfRows } from '../plumbing/charge.ts'
import { type HttpContext, servedChain } from '../plumbing/context.ts'
import { openPage, sealPage } from '../plumbing/pageCursor.ts'
import { integerIn, Params, poolIn } from '../plumbing/params.ts'
import { malformed, pathOf, searchOf } from '../plumbing/request.ts'
import { asCommitted, readingOf } from '../views/stateAsShown.ts'
import { momentsOf, type PoolMoment } from '../views/poolReading.ts'
import { eventText, gapsText, poolText, snapshotText } from '../views/rows.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'feeds' | 'limit' | 'pageSecret' | 'store'>

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000
const MAX_BLOCK = Number.MAX_SAFE_INTEGER
const KINDS = ['SWAP', 'MINT', 'BURN', 'SYNC', 'INITIALIZE', 'CREATED', 'FEE', 'MODIFY', 'PROTOCOL_FEE']

export function registerPools(app: FastifyInstance, context: Needs): void {
  app.get('/v1/pools', async (request, reply) => {
    const params = new Params(searchOf(request), ['chain_id', 'token_address', 'limit', 'cursor'], malformed)
    const chainId = params.integer('chain_id', 0, MAX_BLOCK)
    if (chainId !== null) servedChain(context, chainId)
    const tokenAddress = params.address('token_address')
    if (tokenAddress !== null && chainId === null)
      throw new RequestError(
        400,
        'token_address needs chain_id: the same address may be another token elsewhere',
      )
    const limit = params.integer('limit', 1, MAX_LIMIT) ?? DEFAULT_LIMIT
    await charge(context, request, reply, unitsOfRows(limit))
    const query = `pools ${chainId ?? ''} ${tokenAddress ?? ''}`
    const cursor = params.text('cursor')
    const place = cursor === null ? null : openPage(context.pageSecret, query, cursor)
    const after = place === null ? null : { chainId: Number(place[0]), poolAddress: String(place[1]) }
    const { pools, snapshotSequence } = await context.store.readPools({ chainId, tokenAddress, after, limit })
    const moments = await momentsOf(context, pools)
    const nowMs = context.clock.nowMs()
    const last = pools.length < limit ? undefined : (pools.at(-1) as PoolRow)
    return {
      pools: pools.map((row, at) => snapshotText(row, asCommitted(nowMs), moments[at] as PoolMoment)),
      next_cursor:
        last === undefined ? null : sealPage(context.pageSecret, query, [last.chainId, last.poolAddress]),
      snapshot_sequence: snapshotSequence,
      feeds: (chainId === null ? [...context.chains.keys()] : [chainId]).map(each =>
        context.feeds.feed(each, nowMs),
      ),
    }
  })

  app.get('/v1/pools/:chain_id/:pool_address', async request => {
    new Params(searchOf(request), [], malformed)
    const row = await knownPool(context, request)
    const [moment] = await momentsOf(context, [row])
    return poolText(row, readingOf(context, row.chainId), moment as PoolMoment)
  })

  app.get('/v1/pools/:chain_id/:pool_address/events', async (request, reply) => {
    const params = new Params(
      searchOf(request),
      ['limit', 'cursor', 'kind', 'from_block', 'to_block'],
      malformed,
    )
    const { chainId, poolAddress } = await knownPool(context, request)
    const kind = params.text('kind')
    if (kind !== null && !KINDS.includes(kind))
      throw new RequestError(
        400,
        `kind is ${JSON.stringify(kind.slice(0, 40))}; expected one of ${KINDS.join(', ')}`,
      )
    const [fromBlock, toBlock] = [
      params.integer('from_block', 0, MAX_BLOCK),
      params.integer('to_block', 0, MAX_BLOCK),
    ]
    const limit = params.integer('limit', 1, MAX_LIMIT) ?? DEFAULT_LIMIT
    await charge(context, request, reply, unitsOfRows(limit))
    const query = `events ${chainId} ${poolAddress} ${kind ?? ''} ${fromBlock ?? ''} ${toBlock ?? ''}`
    const cursor = params.text('cursor')
    const place = cursor === null ? null : openPage(context.pageSecret, query, cursor)
    const before =
      place === null
        ? null
        : { blockNumber: Number(place[0]), logIndex: Number(place[1]), blockHash: String(place[2]) }
    const rows = await context.store.readEvents({
      chainId,
      poolAddress,
      kind,
      fromBlock,
      toBlock,
      before,
      limit,
    })
    const last = rows.length < limit ? undefined : (rows.at(-1) as EventRow)
    return {
      events: rows.map(eventText),
      next_cursor:
        last === undefined
          ? null
          : sealPage(context.pageSecret, query, [last.blockNumber, last.logIndex, last.blockHash]),
      ...(await gapsText(context.store, chainId)),
    }
  })
}

async function knownPool(
  context: Pick<HttpContext, 'chains' | 'store'>,
  request: FastifyRequest,
): Promise<PoolRow> {
  const chainId = integerIn('chain_id', pathOf(request, 'chain_id'), 0, MAX_BLOCK, malformed)
  const address = poolIn('pool_address', pathOf(request, 'pool_address'), malformed)
  servedChain(context, chainId)
  const row = await context.store.readPool(chainId, address)
  if (row === null)
    throw new RequestError(
      404,
      `pool ${address} is not known on chain ${chainId}; GET /v1/quote/pool looks it up`,
    )
  return row
}
