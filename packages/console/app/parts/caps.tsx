/** Caps in force, the tightest first: what would have to change for a better score. */
import { words } from '../format.ts'

type Cap = { readonly code: string; readonly cap: number }

/** What each cap means, in the words of docs/CONCEPTS.md. */
const ABOUT: Readonly<Record<string, string>> = {
  SINGLE_POOL_PAIR: 'only one pool trades this pair',
  SINGLE_SOURCE: 'one pool carries the whole price',
  SINGLE_DEPLOYMENT: 'all sources are of one deployment',
  NO_INDEPENDENT_CONSENSUS: 'sources do not agree independently',
  DISSENT: 'a pool outside the vote says quite another price',
  INSUFFICIENT_HISTORY: 'not watched long enough to compare with the past',
  NO_RECENT_TRADE: 'no trade for a long time',
  MAGNITUDE_JUMP: 'it just moved by orders of magnitude',
  PRICE_JUMP: 'far from what its own pools said over the last hour',
  STABLE_DEPEG: 'the stable is away from its peg',
  STABLE_STALE: "the stable's feed is old",
  STABLE_NOMINAL: 'the stable is taken at one dollar without a feed',
  STABLE_SUSPENDED: 'the stable is suspended',
  STABLE_DISPUTED: "pools contradict the stable's feed",
  ANCHOR_DISPUTED: 'the asset it goes through is away from its own feed',
  COVERAGE_UNKNOWN: 'how much of its liquidity is seen is not known',
}

type Props = { readonly caps: readonly Cap[]; readonly score: number }

export function Caps({ caps, score }: Props) {
  if (caps.length === 0) return <p class="muted">No cap is in force.</p>
  return (
    <ul class="caps">
      {[...caps]
        .sort((a, b) => a.cap - b.cap || a.code.localeCompare(b.code))
        .map(({ code, cap }) => (
          <li key={code} class={cap <= score ? 'binding' : ''}>
            <span class="cap">at most {cap}</span>
            <strong>{words(code)}</strong>
            <span class="muted">{ABOUT[code] ?? ''}</span>
            {cap <= score && <span class="tag warn">holds the score</span>}
          </li>
        ))}
    </ul>
  )
}
