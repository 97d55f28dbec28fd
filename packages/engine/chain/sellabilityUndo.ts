/** Restores what was known about selling tokens before a block, when that block is undone. */
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
