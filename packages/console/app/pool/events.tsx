/** The last events of a pool, each with its block, its finality and the proof of its completeness. */
import type { PoolEvent, PoolQuote } from '@assay/sdk'
import { useAnswer } from '../answer.ts'
import { amount, clockTime, count, shortHash, words } from '../format.ts'
import type { Live } from '../live.ts'
import { Answered } from '../parts/answered.tsx'
import { WideCard } from '../parts/card.tsx'
import { Table } from '../parts/table.tsx'
import { tradeIn } from '../parts/trade.ts'
import { decimalsOf, symbolsOf } from './sides.ts'

type Props = { readonly live: Live; readonly pool: PoolQuote; readonly block: number }

const SHOWN = 50

export function PoolEvents({ live, pool, block }: Props) {
  const { chain_id, pool_address } = pool
  const answer = useAnswer(`${chain_id}/${pool_address}`, block, signal =>
    live.client.fetchPoolEvents({ chain_id, pool_address, limit: SHOWN }, { signal }),
  )
  return (
    <WideCard name="Events">
      <Answered answer={answer} what="events">
        {({ events }) =>
          events.length === 0 ? (
            <p class="empty">Nothing has happened here since the service started to follow the pool.</p>
          ) : (
            <Table
              about="Recent events"
              columns={['Kind', 'Amounts', ['Block', 'right'], 'Time', 'Transaction', 'Finality', 'Proof']}
            >
              {events.map(event => (
                <tr
                  key={`${event.block_hash}${event.log_index}`}
                  class={event.finality === 'orphaned' ? 'orphan' : ''}
                >
                  <td>{words(event.kind)}</td>
                  <td class="number">{amountsOf(live, pool, event)}</td>
                  <td class="right number">{count(event.block_number)}</td>
                  <td class="number">{clockTime(event.block_time_ms)}</td>
                  <td>
                    <code title={event.transaction_hash}>{shortHash(event.transaction_hash)}</code>
                  </td>
                  <td>
                    <span class={`tag ${event.finality}`}>{event.finality}</span>
                  </td>
                  <td class="muted">{event.proof}</td>
                </tr>
              ))}
            </Table>
          )
        }
      </Answered>
    </WideCard>
  )
}

function amountsOf(live: Live, pool: PoolQuote, event: PoolEvent): string {
  const [symbol0, symbol1] = symbolsOf(live, pool)
  const [decimals0, decimals1] = decimalsOf(live, pool)
  const text = (units0: string, units1: string) =>
    `${amount(units0, decimals0)} ${symbol0}, ${amount(units1, decimals1)} ${symbol1}`
  if (event.kind === 'SWAP') {
    const { sold, unitsIn, unitsOut } = tradeIn(event)
    const [given, taken] = [
      [decimals0, symbol0],
      [decimals1, symbol1],
    ].map(
      ([decimals, symbol], at) =>
        `${amount(at === sold ? unitsIn : unitsOut, decimals as number | null)} ${symbol}`,
    )
    return sold === 0 ? `${given} → ${taken}` : `${taken} → ${given}`
  }
  if ('amount0' in event) return text(event.amount0, event.amount1)
  if ('reserve0' in event) return text(event.reserve0, event.reserve1)
  return 'tick' in event ? `at tick ${event.tick}` : ''
}
