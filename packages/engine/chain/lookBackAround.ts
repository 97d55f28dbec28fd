/**
 * What a look-back takes from the live state: what is not in the logs of its pools holds for its whole window as it is now
 * (R-history-7).
 */
import type { Stable, Token } from '../entities.ts'
import type { LoadedPool } from '../input.ts'
import type { State } from '../state.ts'
import { ms } from '../units.ts'

/** What the live state knows that a fold asks for: what is valued in what, and how. */
export type Surroundings = Pick<State, 'setup' | 'policyView' | 'tokens' | 'stables'>

/** What the tokens of these pools say of themselves, and what stables and routing assets are worth now. */
export function takeOver(state: State, around: Surroundings, pools: readonly LoadedPool[]): void {
  const own = pools.flatMap(({ pool }) => [pool.token0, pool.token1])
  for (const token of [...state.tokens.keys(), ...own]) {
    const known = around.tokens.get(token)
    if (known !== undefined) state.tokens.set(token, asNew(known))
  }
  for (const [token, stable] of around.stables) state.stables.set(token, atPresent(stable))
}

/**
 * Without what it has gone through so far. Its decimals, read just now, hold for the whole window, and it is worth what it is
 * worth now for as long as no pool of the window says.
 */
function asNew({ past, ...token }: Token): Token {
  const present = past?.open.at(-1)
  return {
    ...token,
    published: null,
    decimals: token.decimals && { ...token.decimals, block: { ...token.decimals.block, timeMs: ms(0) } },
    past: null,
    ...(present === undefined ? {} : { present }),
  }
}

/** Its present answer holds for the whole window. */
const atPresent = (stable: Stable): Stable => ({
  ...stable,
  good: stable.lastGood === null ? [] : [{ answer: stable.lastGood, readMs: ms(0) }],
})
