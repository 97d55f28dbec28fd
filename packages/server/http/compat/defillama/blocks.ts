/**
 * DefiLlama's `/block/{chain}/{timestamp}`: the last block at or before a moment that our log names. Its records name the
 * block they are of, and a health record does every 15 seconds; where none is near, there is no answer.
 */
import type { FastifyInstance } from 'fastify'
import { RequestError } from '../../plumbing/apiError.ts'
import type { HttpContext, ServedChain } from '../../plumbing/context.ts'
import { pathOf } from '../../plumbing/request.ts'
import { chainNamed, servedNames } from '../networks.ts'
import { PREFIX } from '../vendor.ts'
import { momentIn } from './span.ts'

/** A block further from the moment than this says little about it. */
const NEAR_MS = 60_000
/** The log is read forwards from a minute before, so much at a time and in all. */
const [PAGE, PAGES] = [1000, 10]

type Block = { readonly number: number; readonly timeMs: number }

export function registerBlocks(app: FastifyInstance, context: HttpContext): void {
  app.get(`${PREFIX.defillama}/block/:chain/:timestamp`, async request => {
    const name = pathOf(request, 'chain')
    const chain = chainNamed(context, 'llama', name)
    if (chain === null)
      throw new RequestError(
        404,
        `chain ${JSON.stringify(name.slice(0, 40))} is not served; served are ${servedNames(context, 'llama')}`,
      )
    const atMs = momentIn(pathOf(request, 'timestamp'), 'timestamp') as number
    const block = atMs > context.clock.nowMs() ? null : await blockAt(context, chain, atMs)
    if (block === null) throw new RequestError(404, 'the log has no block within a minute before that time')
    return { height: block.number, timestamp: Math.floor(block.timeMs / 1000) }
  })
}

export async function blockAt(
  context: HttpContext,
  { config }: ServedChain,
  atMs: number,
): Promise<Block | null> {
  const { store } = context
  // A moment named in whole seconds is over with its second: a block of that second is not after it.
  const lastMs = atMs + 999
  let position = (await lastRecordBefore(context, config, atMs - NEAR_MS)) ?? 0
  const blocks: Block[] = []
  for (let page = 0; page < PAGES; page++) {
    const records = await store.readLog(position, PAGE, config.chainId)
    for (const { sequence, envelope, timeMs } of records) {
      position = sequence
      const block = blockIn((JSON.parse(envelope) as { payload: Payload }).payload)
      // What was written long after the moment is of later blocks.
      if (timeMs > lastMs + NEAR_MS && (block?.timeMs ?? 0) > lastMs) return lastOf(blocks, lastMs)
      if (block === null) continue
      // A branch that was left names numbers that its successor names again.
      while ((blocks.at(-1)?.number ?? -1) >= block.number) blocks.pop()
      blocks.push(block)
    }
    if (records.length < PAGE) return lastOf(blocks, lastMs)
  }
  return null
}

function lastOf(blocks: readonly Block[], lastMs: number): Block | null {
  const block = blocks.findLast(({ timeMs }) => timeMs <= lastMs)
  return block === undefined || lastMs - block.timeMs > NEAR_MS ? null : block
}

/** Of the tokens that every chain has, the last record evaluated by then. */
async function lastRecordBefore(
  { store }: HttpContext,
  { chainId, stables, routingAssets }: ServedChain['config'],
  ms: number,
): Promise<number | null> {
  const tokens = [...stables.map(({ tokenAddress }) => tokenAddress), ...routingAssets]
  const rows = await Promise.all(tokens.map(token => store.readTokenAt(chainId, token, { ms })))
  const sequences = rows.flatMap(row => (row === null ? [] : [row.sequence]))
  return sequences.length === 0 ? null : Math.max(...sequences)
}

type Named = { readonly block_number?: number; readonly block_time_ms?: number }
type Payload = Named & {
  readonly as_of?: Named
  readonly processed?: Named | null
  readonly current?: { readonly as_of?: Named }
  readonly finality?: string
  readonly kind?: string
}

/** The block that a record is of; an orphaned event is of none. */
function blockIn(payload: Payload): Block | null {
  if (payload.finality === 'orphaned') return null
  // A pool's record names the block that last changed the pool, which may be long past.
  const event = payload.kind === undefined ? undefined : payload
  for (const named of [payload.current?.as_of, payload.as_of, payload.processed, event]) {
    const { block_number: number, block_time_ms: timeMs } = named ?? {}
    if (number !== undefined && timeMs !== undefined) return { number, timeMs }
  }
  return null
}
