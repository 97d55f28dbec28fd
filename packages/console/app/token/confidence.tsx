/** Confidence as the minimum of its components, under its caps. The weakest one is named, not only drawn. */
import type { PricedQuote } from '@assay/sdk'
import { counted, words } from '../format.ts'
import type { Live } from '../live.ts'
import { Caps } from '../parts/caps.tsx'
import { Card } from '../parts/card.tsx'
import { Meter, Score } from '../parts/score.tsx'
import { hrefOf } from '../place.ts'
import { weakestLink } from './weakest.ts'

type Props = { readonly live: Live; readonly quote: PricedQuote }

export function ConfidencePanel({ live, quote }: Props) {
  const { confidence, chain_id } = quote
  const parts = Object.entries(confidence.components) as [string, { readonly score: number }][]
  const least = Math.min(...parts.map(([, { score }]) => score))
  // When all are the same, none is the weakest.
  const isWeakest = (score: number) => score === least && parts.some(([, part]) => part.score > least)
  const weakest = weakestLink(quote)
  return (
    <Card name="Confidence" beside={<Score score={confidence.score} label={confidence.label} />}>
      <table class="components">
        <caption class="hidden">Components; the score is the least of them and of the caps</caption>
        <tbody>
          {parts.map(([name, part]) => (
            <tr key={name} class={isWeakest(part.score) ? 'weakest' : ''}>
              <th scope="row">
                {words(name)}
                <span class="muted small">{detailOf(part)}</span>
              </th>
              <td>
                <Meter name={words(name)} score={part.score} />
              </td>
              <td class="right number">{part.score}</td>
              <td>{isWeakest(part.score) && <span class="tag warn">weakest</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {weakest !== null && (
        <p class="weakest-link">
          <strong>Weakest link:</strong> {words(weakest.component).toLowerCase()} ({weakest.score}) of{' '}
          <a href={hrefOf.pool(chain_id, weakest.hop.pool_address)}>
            {live.symbol(chain_id, weakest.hop.from)} / {live.symbol(chain_id, weakest.hop.to)}
          </a>{' '}
          at {weakest.hop.deployment_id}
        </p>
      )}
      <h3>Caps</h3>
      <Caps caps={confidence.caps} score={confidence.score} />
      <p class="small muted">A score is a measure of evidence. It is not a probability.</p>
    </Card>
  )
}

/** The inputs a component was computed from. */
function detailOf(part: Readonly<Record<string, unknown>>): string {
  const { sources, deployments, spread_bps, routes } = part as Readonly<
    Record<string, number | string | undefined>
  >
  if (sources !== undefined)
    return `${counted(Number(sources), 'source')}, ${counted(Number(deployments), 'deployment')}, spread ${Number(spread_bps).toFixed(1)} bps`
  return routes === undefined ? '' : counted(Number(routes), 'route')
}
