/** A stable's price feed is no longer updated; its last answer remains and ages. */
import type { Incident } from './incident.ts'
import { stableFor } from './scene.ts'

export const feedFreeze: Incident = {
  name: 'feed-freeze',
  about: "a stable's price feed is no longer updated; past its heartbeat it must cost confidence",
  async begin(chain, aim) {
    const { symbol } = stableFor(chain, aim)
    chain.life.freeze(symbol)
    return { token: symbol, what: `the feed of ${symbol} is no longer updated` }
  },
  async end(chain, aim) {
    const { symbol } = stableFor(chain, aim)
    await chain.life.thaw(symbol)
    return { token: symbol, what: `the feed of ${symbol} is updated again` }
  },
}
