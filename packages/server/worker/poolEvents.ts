/** Pool events of a block as the wire shows them (contract §3); finality is the store's to keep. */
import { type Address, idOf, type Input } from '@assay/engine'
import type { PoolEventDraft } from '../store/port.ts'

type Block = Extract<Input, { kind: 'block' }>['block']
type Event = Block['events'][number]

/** Events of pools that are known; a creation nobody wanted is not an event of ours. */
export function poolEventDrafts(
  chainId: number,
  block: Block,
  knows: (pool: Address) => boolean,
): PoolEventDraft[] {
  return block.events
    .filter(event => knows(event.pool))
    .map(event => ({
      poolAddress: event.pool,
      kind: event.event.kind,
      blockNumber: block.number,
      blockHash: block.hash,
      logIndex: event.logIndex,
      body: JSON.stringify({
        chain_id: chainId,
        pool_id: idOf(event.pool),
        kind: event.event.kind,
        block_number: block.number,
        block_hash: block.hash,
        block_time_ms: block.timeMs,
        transaction_hash: event.transactionHash,
        log_index: event.logIndex,
        proof: block.proof,
        ...amountsOf(event.event),
      }),
    }))
}

function amountsOf(event: Event['event']): Record<string, string | number> {
  const fields: Record<string, string | number> = {}
  for (const [name, value] of Object.entries(event)) {
    if (typeof value === 'bigint') fields[fieldOf(name)] = value.toString()
    else if (typeof value === 'number') fields[fieldOf(name)] = value
  }
  return fields
}

/** The names are few, and asked for with every event. */
const FIELDS = new Map<string, string>()

function fieldOf(name: string): string {
  let field = FIELDS.get(name)
  if (field === undefined) {
    field = snakeCase(name)
    FIELDS.set(name, field)
  }
  return field
}

/** amount0In → amount0_in, sqrtPriceX96 → sqrt_price_x96. */
const snakeCase = (name: string): string =>
  name.replace(/([a-z0-9])([A-Z])/g, (_, before: string, after: string) => `${before}_${after.toLowerCase()}`)
