/**
 * Builds the pool events of a block (R-http-5). The store adds finality; values with a column of their own are not
 * repeated in the body.
 */
import type { Address, Input } from '@assay/engine'
import type { PoolEventDraft } from '../store/port.ts'

type Block = Extract<Input, { kind: 'block' }>['block']
type Event = Block['events'][number]

/** Events of known pools only; the creation of a pool we do not track is left out. */
export function poolEventDrafts(block: Block, knows: (pool: Address) => boolean): PoolEventDraft[] {
  const { number: blockNumber, hash: blockHash, timeMs, proof } = block
  return (
    block.events
      .filter(({ pool }) => knows(pool))
      // One log of a manager may give both a creation and a first price; a reader gets one event per log.
      .filter(({ logIndex }, at, own) => own[at + 1]?.logIndex !== logIndex)
      .map(({ pool, event, transactionHash, logIndex }) => ({
        poolAddress: pool,
        kind: event.kind,
        blockNumber,
        blockHash,
        logIndex,
        // Built by hand: it contains only numbers, hex and names of ours, which need no escaping.
        body: `{"block_time_ms":${timeMs},"transaction_hash":"${transactionHash}","proof":"${proof}"${amountsOf(event)}}`,
      }))
  )
}

/** Each amount with a comma before it. */
function amountsOf(event: Event['event']): string {
  let text = ''
  for (const [name, value] of Object.entries(event)) {
    if (typeof value === 'bigint') text += `${keyOf(name)}"${value}"`
    else if (typeof value === 'number') text += `${keyOf(name)}${value}`
  }
  return text
}

/** There are few names, and every event needs one. */
const KEYS = new Map<string, string>()

function keyOf(name: string): string {
  let key = KEYS.get(name)
  if (key === undefined) {
    key = `,"${snakeCase(name)}":`
    KEYS.set(name, key)
  }
  return key
}

/** amount0In → amount0_in, sqrtPriceX96 → sqrt_price_x96. */
const snakeCase = (name: string): string =>
  name.replace(/([a-z0-9])([A-Z])/g, (_, before: string, after: string) => `${before}_${after.toLowerCase()}`)
