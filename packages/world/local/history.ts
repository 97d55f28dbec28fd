/**
 * The past of a new chain: trades of the last 40 minutes in blocks with their own times, so that look-backs of half
 * an hour or five minutes find data.
 */
import type { Client } from '../client.ts'
import { type SeededChain, setAnswer } from './seeding.ts'
import type { Traders } from './traders.ts'

export const HISTORY_S = 2400
/** From genesis to the first trade, one second for each block of the seeding. */
export const LEAD_S = 600
/** Trades are sparse at first, and dense in the last minutes, which price medians cover. */
const SPARSE_S = 120
const DENSE_S = 12
/**
 * Seconds between empty blocks among sparse trades. A new service begins 64 blocks below the head: if that were more
 * than 35 minutes ago, it would take the past for a long stop and start again at the head.
 */
const EMPTY_S = 40
const RECENT_S = 372
/** Pools that only their creation log reveals are created from here on: a new service walks these blocks. */
const LATE_S = 240

/** Ends with a block at `untilS`. */
export async function makeHistory(
  client: Client,
  chain: SeededChain,
  traders: Traders,
  untilS: number,
  late: readonly (() => Promise<void>)[] = [],
): Promise<void> {
  const due = [...late]
  await client.removeBlockTimestampInterval()
  for (let agoS = HISTORY_S; agoS > 0; agoS -= agoS > RECENT_S ? EMPTY_S : DENSE_S) {
    await client.setNextBlockTimestamp({ timestamp: BigInt(untilS - agoS) })
    const isTraded = agoS <= RECENT_S || (HISTORY_S - agoS) % SPARSE_S === 0
    // A round without a trade also leaves an empty block.
    if (!isTraded || !(await traders.round(true))) await client.mine({ blocks: 1 })
    if (agoS > LATE_S) continue
    // Each block is one second after the previous one, whatever the node's clock says.
    await client.setBlockTimestampInterval({ interval: 1 })
    await due.shift()?.()
    await client.removeBlockTimestampInterval()
  }
  // Each answer is a block: with the node's clock, its time would depend on the duration of the previous one.
  const feeds = Object.values(chain.feeds)
  for (const [at, feed] of feeds.entries()) {
    const atS = untilS - (feeds.length - 1 - at)
    await client.setNextBlockTimestamp({ timestamp: BigInt(atS) })
    await setAnswer(client, feed, 1, atS)
  }
}
