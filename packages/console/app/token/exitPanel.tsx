/**
 * The proceeds of a sale: sales of growing size by exact simulation over the accepted routes, as a curve and a table.
 */
import type { Exit } from '@assay/sdk'
import { useAnswer } from '../answer.ts'
import { count, counted, dollars, price } from '../format.ts'
import type { Live } from '../live.ts'
import { ErrorNote, Loading } from '../parts/note.tsx'
import { ExitCurve } from './exitCurve.tsx'

const SIZES_USD = '100,300,1000,3000,10000,30000,100000,300000'

type Props = { readonly live: Live; readonly chainId: number; readonly address: string }

export function ExitPanel({ live, chainId, address }: Props) {
  const { value, failure, isLoading, reload } = useAnswer(`${chainId}/${address}`, 0, signal =>
    live.client.fetchExit(
      { chain_id: chainId, token_address: address as `0x${string}`, usd: SIZES_USD },
      { signal },
    ),
  )
  return (
    <section class="card" aria-label="Exit">
      <header class="tools">
        <h2>What a seller would get</h2>
        {value !== null && 'sales' in value && (
          <span class="muted small">at block {count(value.as_of.block_number)}</span>
        )}
        <button type="button" class="small" disabled={isLoading} onClick={reload}>
          Compute again
        </button>
      </header>
      <ErrorNote failure={failure} onRetry={reload} />
      {value === null ? (
        failure === null && <Loading what="sales" />
      ) : 'sales' in value ? (
        <Sales exit={value} />
      ) : (
        <p class="empty">The token is not evaluated yet.</p>
      )}
    </section>
  )
}

function Sales({ exit }: { readonly exit: Exit }) {
  const { sales, largest } = exit
  return (
    <>
      <ExitCurve exit={exit} />
      <div class="scroll" tabIndex={0} role="region" aria-label="Sales">
        <table>
          <caption class="hidden">Sales by size, after fees</caption>
          <thead>
            <tr>
              {['Sale of', 'Pays', 'On average', 'From the price', 'Through'].map((name, at) => (
                <th key={name} scope="col" class={at > 0 && at < 4 ? 'right' : ''}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sales.map(sale => (
              <tr key={sale.asked_microusd ?? sale.amount} class={sale.reason === null ? '' : 'dim'}>
                <th scope="row" class="number">
                  {sale.asked_microusd === null ? sale.amount : dollars(sale.asked_microusd)}
                </th>
                <td class="right number">
                  {sale.proceeds_microusd === null ? '–' : dollars(sale.proceeds_microusd)}
                </td>
                <td class="right number">
                  {sale.average_price_usd === null ? '–' : price(sale.average_price_usd)}
                </td>
                <td class="right number">{sale.distance_bps === null ? '–' : percent(sale.distance_bps)}</td>
                <td class="muted">{through(sale)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="small muted">
        The largest sale within 1% of the price is {worth(largest.bps_100)}, within 5%{' '}
        {worth(largest.bps_500)}. After fees; every pool is used once.
      </p>
    </>
  )
}

type Sale = Exit['sales'][number]

const through = ({ reason, swaps, split }: Sale): string =>
  reason === 'LIQUIDITY_EXCEEDED'
    ? 'more than the accepted routes can absorb'
    : reason === 'TOO_SMALL'
      ? 'nothing would be paid'
      : `${counted(swaps.length, 'pool')}, ${counted(split.length, 'route')}`

const worth = (largest: Exit['largest']['bps_100']): string =>
  largest === null ? 'less than a dollar' : dollars(largest.worth_microusd)

/** Basis points with their fraction, as percent. */
const percent = (bps: string): string => {
  const value = Number(bps) / 100
  return `${value > 0 ? '+' : value < 0 ? '−' : ''}${Math.abs(value).toFixed(2)}%`
}
