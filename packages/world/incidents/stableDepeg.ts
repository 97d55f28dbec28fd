/** A stable loses its peg: its feed reports it, and traders agree. */
import type { Incident } from './incident.ts'
import { stableFor } from './scene.ts'

const USD = 0.9

export const stableDepeg: Incident = {
  name: 'stable-depeg',
  about: `a stable's feed and market fall to ${USD} dollars; prices that rest on it alone must be withdrawn`,
  async begin(chain, aim) {
    const { symbol } = stableFor(chain, aim)
    chain.traders.setFair(symbol, USD)
    await chain.life.answer(symbol, USD)
    return { token: symbol, what: `${symbol} is worth ${USD} dollars` }
  },
  async end(chain, aim) {
    const { symbol } = stableFor(chain, aim)
    chain.traders.setFair(symbol, 1)
    await chain.life.answer(symbol, 1)
    return { token: symbol, what: `${symbol} is worth a dollar again` }
  },
}
