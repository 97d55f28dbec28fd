/** Pool events of a block (R-http-5); the store keeps finality, and values that have a column are not repeated. */
import type { Address, Input } from '@assay/engine'
import type { PoolEventDraft } from '../store/port.ts'

type Block = Extract<Input, { kind: 'block' }>['block']
type Event = Block['events'][number]

/** Events of pools that are known; a creation nobody wanted is not an event of ours. */
export function poolEventDrafts(block: Block, knows: (pool: Address) => boolean): PoolEventDraft[] {
  const { number: blockNumber, hash: blockHash, timeMs, proof } = block
  return (
    block.events
      .filter(({ pool }) => knows(pool))
      // One log of a manager may say that a pool was made and at which price; a log is one event to the reader.
      .filter(({ logIndex }, at, own) => own[at + 1]?.logIndex !== logIndex)
      .map(({ pool, event, transactionHash, logIndex }) => ({
        poolAddress: pool,
        kind: event.kind,
        blockNumber,
        blockHash,
        logIndex,
        // By hand: numbers, hex and names of ours, in which nothing is to be escaped.
        body: `{"block_time_ms":${timeMs},"transaction_hash":"${transactionHash}","proof":"${proof}"${amountsOf(event)}}`,
      }))
  )
}

/** Each with a comma before it. */
function amountsOf(event: Event['event']): string {
  let text = ''
  for (const [name, value] of Object.entries(event)) {
    if (typeof value === 'bigint') text += `${keyOf(name)}"${value}"`
    else if (typeof value === 'number') text += `${keyOf(name)}${value}`
  }
  return text
}

/** The names are few, and asked for with every event. */
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
