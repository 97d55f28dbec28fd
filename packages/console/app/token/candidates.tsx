/** For a token without a price: the candidates closest to one, the rule each failed, and what it would need. */
import type { UnpricedQuote } from '@assay/sdk'
import type { Live } from '../live.ts'
import { Card } from '../parts/card.tsx'
import { Failed, HopFacts, pathText } from './routeList.tsx'
import { RouteGraph } from './routeGraph.tsx'

type Props = { readonly live: Live; readonly chainId: number; readonly quote: UnpricedQuote }

/** Reasons that say something about the pools of the token. */
const LOOKED_AT: ReadonlySet<string> = new Set(['NO_ROUTE', 'NO_POOL'])

export function Candidates({ live, chainId, quote }: Props) {
  const { candidates, token } = quote
  // For other reasons, such as a paused chain, pools were not looked at.
  if (candidates.length === 0 && !LOOKED_AT.has(quote.reason)) return null
  if (candidates.length === 0)
    return (
      <Card name="Candidates">
        <p class="empty">
          No pool comes close to giving a price. It needs a pool of a listed factory with a stable or a
          routing asset.
        </p>
      </Card>
    )
  const routes = candidates
    .filter(({ hops }) => hops.length > 0)
    .map(({ hops, rule }) => ({ hops, selected: false, accepted: false, reason: rule }))
  return (
    <Card name="Candidates" beside={<span class="muted number">{candidates.length}</span>}>
      <p class="muted">The closest candidates, and what each of them lacks.</p>
      {routes.length > 0 && <RouteGraph live={live} chainId={chainId} token={token} routes={routes} />}
      {candidates.map((candidate, at) => (
        <details key={candidate.route_id} class="route" open={at === 0}>
          <summary>
            <span class="path">
              {candidate.hops.length === 0
                ? 'a pool that is not priced'
                : pathText(live, chainId, candidate.hops)}
            </span>
            <Failed failure={candidate} />
          </summary>
          {candidate.hops.map(hop => (
            <HopFacts key={hop.pool_id} live={live} chainId={chainId} hop={hop} />
          ))}
        </details>
      ))}
    </Card>
  )
}
