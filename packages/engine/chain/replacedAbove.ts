/** Readings of a block below the tip: values from the blocks above it take precedence. */
import type { State } from '../state.ts'
import type { Address, BlockRef } from './block.ts'

/** Whether a block above this one already brought another value. */
export function isReplacedAbove(
  state: State,
  { number }: BlockRef,
  kind: 'stables' | 'decimals' | 'sellability',
  address: Address,
): boolean {
  return state.journals.some(journal => journal.block.number > number && journal[kind].has(address))
}
