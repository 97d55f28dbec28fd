/** What was known before a block of whether tokens can be sold, put back when the block is taken back. */
import type { State } from '../state.ts'
import type { Journal } from './undo.ts'

export function undoSellability(state: State, { sellability }: Journal): void {
  for (const [address, image] of sellability) {
    const token = state.tokens.get(address)
    if (token === undefined) continue
    if (image === null) delete token.sellability
    else token.sellability = image
    state.index.changed.add(`token/${address}`)
  }
}
