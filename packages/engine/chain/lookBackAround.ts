/**
 * The part of the live state that a look-back uses: data that is not in the logs of its pools is assumed constant for
 * its whole window (R-history-7).
 */
import type { Stable, Token } from '../entities.ts'
import type { LoadedPool } from '../input.ts'
import type { State } from '../state.ts'
import { ms } from '../units.ts'

/** The part of the live state that a fold needs: which tokens are valued in which, and how. */
export type Surroundings = Pick<State, 'setup' | 'policyView' | 'tokens' | 'stables'>

/** Takes over the properties of the tokens of these pools, and the present values of stables and routing assets. */
export function takeOver(state: State, around: Surroundings, pools: readonly LoadedPool[]): void {
  const own = pools.flatMap(({ pool }) => [pool.token0, pool.token1])
  for (const token of [...state.tokens.keys(), ...own]) {
    const known = around.tokens.get(token)
    if (known !== undefined) state.tokens.set(token, asNew(known))
  }
  for (const [token, stable] of around.stables) state.stables.set(token, atPresent(stable))
}

/**
 * A token without its past. Its decimals, read just now, apply to the whole window, and so does its present value
 * until a pool of the window gives another.
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

/** A stable whose present answer applies to the whole window. */
const atPresent = (stable: Stable): Stable => ({
  ...stable,
  good: stable.lastGood === null ? [] : [{ answer: stable.lastGood, readMs: ms(0) }],
})
