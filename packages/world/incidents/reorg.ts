/** The last blocks are replaced by the same number of others: their contents never happened. */
import type { Incident } from './incident.ts'

const DEEPEST = 64
const USUAL = 3

export const reorg: Incident = {
  name: 'reorg',
  about: `the last 1 to ${DEEPEST} blocks are replaced, ${USUAL} if no depth is given; what was published on them must be withdrawn`,
  async begin({ client, life, plan }, { depth = USUAL }) {
    if (!Number.isInteger(depth) || depth < 1 || depth > DEEPEST)
      throw new Error(`the depth of a reorg is ${depth}; expected a whole number from 1 to ${DEEPEST}`)
    try {
      await client.request({ method: 'anvil_reorg', params: [depth, []] } as never)
    } catch (cause) {
      const message = `chain ${plan.chainId} cannot go back ${depth} blocks: its node was restarted too recently; try fewer`
      throw new Error(message, { cause })
    }
    await life.keepTime()
    return { token: null, what: `the last ${depth} blocks were replaced by empty ones` }
  },
}
