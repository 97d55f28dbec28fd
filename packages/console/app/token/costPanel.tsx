/** The cost of faking the price: computed only on request, because it is a search. */
import type { Cost } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { useAnswer } from '../answer.ts'
import { count, counted, dollars, duration, price } from '../format.ts'
import type { Live } from '../live.ts'
import { ErrorNote, Loading } from '../parts/note.tsx'

type Props = { readonly live: Live; readonly chainId: number; readonly address: string }

export function CostPanel(props: Props) {
  const [isAsked, setAsked] = useState(false)
  return (
    <section class="card" aria-label="Cost to move">
      <h2>What it would cost to move this price</h2>
      {isAsked ? (
        <Answer {...props} />
      ) : (
        <>
          <p class="muted">
            The cheapest plan found that makes this service publish another price at a score of at least 4.
          </p>
          <p>
            <button type="button" onClick={() => setAsked(true)}>
              Compute
            </button>
          </p>
        </>
      )}
    </section>
  )
}

function Answer({ live, chainId, address }: Props) {
  const { value, failure, reload } = useAnswer(`${chainId}/${address}`, 0, signal =>
    live.client.fetchCost({ chain_id: chainId, token_address: address as `0x${string}` }, { signal }),
  )
  return (
    <>
      <ErrorNote failure={failure} onRetry={reload} />
      {value === null ? (
        failure === null && <Loading what="plans" />
      ) : 'moves' in value ? (
        <Moves cost={value} />
      ) : (
        <p class="empty">The token is not evaluated yet.</p>
      )}
    </>
  )
}

const HEADS = [
  'Move',
  'Published',
  'Score',
  'Goes in',
  'Loss if nobody trades',
  'Lost to arbitrage',
  'Held for',
  'Pools',
]

const Moves = ({ cost }: { readonly cost: Cost }) => (
  <>
    <div class="scroll" tabIndex={0} role="region" aria-label="Moves">
      <table>
        <caption class="hidden">Moves of the price and what the cheapest plan found costs</caption>
        <thead>
          <tr>
            {HEADS.map((name, at) => (
              <th key={name} scope="col" class={at === 0 ? '' : 'right'}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cost.moves.map(move => (
            <Move key={`${move.direction}${move.bps}`} move={move} />
          ))}
        </tbody>
      </table>
    </div>
    <p class="small muted">
      At block {count(cost.as_of.block_number)}. {cost.note}
    </p>
  </>
)

function Move({ move }: { readonly move: Cost['moves'][number] }) {
  const name = `${move.direction === 'UP' ? '+' : '−'}${move.bps / 100}%`
  if (move.reason !== null)
    return (
      <tr class="dim">
        <th scope="row">{name}</th>
        <td colSpan={HEADS.length - 1}>
          {move.reason === 'LOW_SCORE' ? 'the present score is too low' : 'no plan was found'}
        </td>
      </tr>
    )
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="right number">{move.price_usd === null ? '–' : price(move.price_usd)}</td>
      <td class="right number">{move.score ?? '–'}</td>
      <td class="right number">{money(move.capital_usd)}</td>
      <td class="right number">{money(move.loss_usd_quiet)}</td>
      <td class="right number">
        {move.arbitraged_reason === 'NOT_BELIEVED' ? 'never believed' : money(move.loss_usd_arbitraged)}
      </td>
      <td class="right number">
        {move.hold_ms === null
          ? '–'
          : move.hold_ms === 0
            ? 'at once'
            : `${duration(move.hold_ms)}, ${counted(move.hold_blocks ?? 0, 'block')}`}
      </td>
      <td class="right number">{count(move.plan.length)}</td>
    </tr>
  )
}

const money = (usd: string | null): string =>
  usd === null ? '–' : dollars(String(Math.round(Number(usd) * 1e6)))
