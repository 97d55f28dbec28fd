/**
 * DefiLlama's `/block/{chain}/{timestamp}`: the last block at or before a moment that our log names. Its records name
 * their block, and there is a health record every 15 seconds; without a block close to the moment there is no answer.
 */
import type { FastifyInstance } from 'fastify'
import { RequestError } from '../../plumbing/apiError.ts'
import type { HttpContext, ServedChain } from '../../plumbing/context.ts'
import { pathOf } from '../../plumbing/request.ts'
import { chainNamed, servedNames } from '../networks.ts'
import { PREFIX } from '../vendor.ts'
import { momentIn } from './span.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'store'>

/** A block further from the moment is not a useful answer. */
const NEAR_MS = 60_000
/** The log is read forwards from a minute before: records per page, and pages at most. */
const [PAGE, PAGES] = [1000, 10]

type Block = { readonly number: number; readonly timeMs: number }

export function registerBlocks(app: FastifyInstance, context: Needs): void {
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
  context: Pick<HttpContext, 'store'>,
  { config }: ServedChain,
  atMs: number,
): Promise<Block | null> {
  const { store } = context
  // A moment in whole seconds includes its second: a block within that second is not after it.
  const lastMs = atMs + 999
  let position = (await lastRecordBefore(context, config, atMs - NEAR_MS)) ?? 0
  const blocks: Block[] = []
  for (let page = 0; page < PAGES; page++) {
    const records = await store.readLog(position, PAGE, config.chainId)
    for (const { sequence, envelope, timeMs } of records) {
      position = sequence
      const block = blockIn((JSON.parse(envelope) as { payload: Payload }).payload)
      // Records written long after the moment belong to later blocks.
      if (timeMs > lastMs + NEAR_MS && (block?.timeMs ?? 0) > lastMs) return lastOf(blocks, lastMs)
      if (block === null) continue
      // An orphaned branch contains numbers that its replacement contains again.
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

/** The last record evaluated by then, among tokens that every chain has. */
async function lastRecordBefore(
  { store }: Pick<HttpContext, 'store'>,
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

/** The block of a record; an orphaned event has none. */
function blockIn(payload: Payload): Block | null {
  if (payload.finality === 'orphaned') return null
  // A pool's record names the block that last changed the pool, which may be long ago.
  const event = payload.kind === undefined ? undefined : payload
  for (const named of [payload.current?.as_of, payload.as_of, payload.processed, event]) {
    const { block_number: number, block_time_ms: timeMs } = named ?? {}
    if (number !== undefined && timeMs !== undefined) return { number, timeMs }
  }
  return null
}
