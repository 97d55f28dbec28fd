/** Block production stops until it is resumed. */
import type { Incident } from './incident.ts'

export const chainHalt: Incident = {
  name: 'chain-halt',
  about:
    'no more blocks until it is ended; health must say so, and prices must be withdrawn before they are stale',
  async begin({ life, plan }) {
    if (life.isHalted) throw new Error(`chain ${plan.chainId} is halted already; end it first`)
    await life.halt()
    return { token: null, what: `chain ${plan.chainId} makes no more blocks` }
  },
  async end({ life, plan }) {
    await life.resume()
    return { token: null, what: `chain ${plan.chainId} makes blocks again` }
  },
}
