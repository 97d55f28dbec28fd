/** Every route in words and numbers, down to the block, the transaction and the amounts of each hop. */
import type { Hop, Route } from '@assay/sdk'
import { counted, dollars, fee, price, shortDecimal, words } from '../format.ts'
import type { Live } from '../live.ts'
import { Caps } from '../parts/caps.tsx'
import { Card } from '../parts/card.tsx'
import { EvidenceFacts } from '../parts/evidence.tsx'
import { Meter, Score } from '../parts/score.tsx'
import { hrefOf } from '../place.ts'

type Props = { readonly live: Live; readonly chainId: number; readonly routes: readonly Route[] }

export function RouteList({ live, chainId, routes }: Props) {
  const sorted = [...routes].sort(
    (a, b) =>
      Number(b.selected) - Number(a.selected) ||
      Number(b.accepted) - Number(a.accepted) ||
      Number(b.weight_microusd) - Number(a.weight_microusd),
  )
  return (
    <Card name="Evidence" beside={<span class="muted number">{counted(routes.length, 'route')}</span>}>
      <p class="route-grid heads" aria-hidden="true">
        <span>Route</span>
        <span class="right">Price</span>
        <span class="right">Weight</span>
        <span>Score</span>
        <span>In the price</span>
      </p>
      {sorted.map(route => (
        <details key={route.route_id} class={route.accepted ? 'route' : 'route dim'}>
          <summary class="route-grid">
            <span class="path">
              {pathText(live, chainId, route.hops)}{' '}
              <span class="muted small">
                {route.hops.map(({ deployment_id }) => deployment_id).join(', ')}
              </span>
            </span>
            <span class="right number">{route.price_usd === null ? '–' : price(route.price_usd)}</span>
            <span class="right number muted" title="weight in the median">
              {dollars(route.weight_microusd)}
            </span>
            <Score score={route.score} />
            <span>
              {route.selected ? (
                <span class="tag ok">selected</span>
              ) : route.accepted ? (
                <span class="muted small">accepted</span>
              ) : (
                <span class="tag bad">{words(route.reason ?? 'rejected')}</span>
              )}
            </span>
          </summary>
          {route.failure !== undefined && (
            <p>
              {words(route.failure.rule)}: had {measure(route.failure.actual ?? 'nothing')}, needs{' '}
              {measure(route.failure.required ?? 'more')}
            </p>
          )}
          {route.hops.map(hop => (
            <HopFacts key={hop.pool_id} live={live} chainId={chainId} hop={hop} />
          ))}
        </details>
      ))}
    </Card>
  )
}

export function pathText(live: Live, chainId: number, hops: readonly Hop[]): string {
  const [first] = hops
  if (first === undefined) return 'no pool'
  return [first.from, ...hops.map(({ to }) => to)].map(address => live.symbol(chainId, address)).join(' → ')
}

type HopProps = { readonly live: Live; readonly chainId: number; readonly hop: Hop }

export function HopFacts({ live, chainId, hop }: HopProps) {
  const [from, to] = [live.symbol(chainId, hop.from), live.symbol(chainId, hop.to)]
  return (
    <article class="hop">
      <h3>
        <a href={hrefOf.pool(chainId, hop.pool_address)}>
          {from} → {to}
        </a>{' '}
        <span class="muted">
          {hop.deployment_id}, fee {fee(hop.fee_ppm)}
        </span>{' '}
        <Score score={hop.score} />
      </h3>
      {hop.failure !== undefined && <Failed failure={hop.failure} />}
      {hop.ratio !== null && (
        <p class="number">
          1 {from} = {shortDecimal(hop.ratio.display, 8)} {to}
          {hop.depth !== null && (
            <span class="muted"> · {dollars(hop.depth.effective_microusd)} move it by 2%</span>
          )}
        </p>
      )}
      <div class="columns">
        {hop.evidence === null ? (
          <p class="muted">There is no evidence of a sale.</p>
        ) : (
          <EvidenceFacts
            evidence={hop.evidence}
            from={{ symbol: from, decimals: hop.from_decimals }}
            to={{ symbol: to, decimals: hop.to_decimals }}
          />
        )}
        <div>
          <Components components={hop.components} />
          <Caps caps={hop.caps} score={hop.score} />
        </div>
      </div>
    </article>
  )
}

/** Each rule measures in its own unit; money is shown as money. */
const measure = (text: string): string => {
  const microusd = /^(\d+) microusd$/.exec(text)?.[1]
  return microusd === undefined ? text : dollars(microusd)
}

type Failure = { readonly rule: string; readonly actual: string | null; readonly required: string | null }

export const Failed = ({ failure: { rule, actual, required } }: { readonly failure: Failure }) => (
  <p>
    <span class="tag bad">{words(rule)}</span>
    {actual !== null && (
      <>
        {' '}
        has <strong class="number">{measure(actual)}</strong>
      </>
    )}
    {required !== null && (
      <>
        , needs <strong class="number">{measure(required)}</strong>
      </>
    )}
  </p>
)

export function Components({ components }: { readonly components: Hop['components'] }) {
  const parts = Object.entries(components).flatMap(([name, part]) =>
    part === undefined ? [] : [{ name, score: part.score }],
  )
  const least = Math.min(...parts.map(({ score }) => score))
  return (
    <table class="components">
      <caption class="hidden">Components of the pool's score</caption>
      <tbody>
        {parts.map(({ name, score }) => (
          <tr key={name} class={score === least ? 'weakest' : ''}>
            <th scope="row">{words(name)}</th>
            <td>
              <Meter name={words(name)} score={score} />
            </td>
            <td class="right number">{score}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
