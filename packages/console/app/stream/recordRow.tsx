/** One record of the stream as a line: its subject and its content. */
import { type Envelope, fromId, type PoolState, type SwapEvent } from '@assay/sdk'
import { clockTime, count, price, shortAddress, shortDecimal, words } from '../format.ts'
import type { Live } from '../live.ts'
import { memo } from '../parts/memo.ts'
import { Score } from '../parts/score.tsx'
import { tell, tradeIn } from '../parts/trade.ts'
import { hrefOf } from '../place.ts'

type Props = { readonly live: Live; readonly record: Envelope }

/** Each type of record in a word. */
export const NAMES: Readonly<Record<Envelope['type'], string>> = {
  PRICE_UPSERT: 'Price',
  PRICE_RETRACT: 'Withdrawal',
  SWAP_OBSERVED: 'Swap',
  FEED_HEALTH: 'Health',
}

const KINDS: Readonly<Record<Envelope['type'], string>> = {
  PRICE_UPSERT: 'ok',
  PRICE_RETRACT: 'bad',
  SWAP_OBSERVED: 'busy',
  FEED_HEALTH: 'busy',
}

export const RecordRow = memo<Props>(({ live, record }) => (
  <tr data-type={record.type}>
    <td class="right wide number muted">{record.stream_sequence}</td>
    <td class="number muted">{clockTime(timeOf(record))}</td>
    <td>
      <span class={`tag ${KINDS[record.type] ?? ''}`} title={record.type}>
        {NAMES[record.type] ?? words(record.type)}
      </span>
    </td>
    <td>{aboutOf(live, record)}</td>
    <td class="number">{saidIn(live, record)}</td>
    <td class="right wide number">{worthIn(live, record)}</td>
    <td class="right wide number muted">{blockOf(record)}</td>
  </tr>
))

function aboutOf(live: Live, { type, payload, routing }: Envelope) {
  const { chain_id } = routing
  if (type === 'FEED_HEALTH') return live.chainName(chain_id)
  if ('token_id' in payload) {
    const address = `0x${payload.token_id.slice(26)}`
    return <a href={hrefOf.token(chain_id, address)}>{live.symbol(chain_id, address)}</a>
  }
  if (!('pool_id' in payload)) return ''
  const address = fromId(payload.pool_id)
  const sides = routing.token_ids.map(id => live.symbol(chain_id, `0x${id.slice(26)}`)).join(' / ')
  return <a href={hrefOf.pool(chain_id, address)}>{sides === '' ? shortAddress(address) : `${sides} pool`}</a>
}

function saidIn(live: Live, record: Envelope) {
  const { type, payload, routing } = record
  switch (type) {
    case 'FEED_HEALTH':
      return `${words(payload.status)}${payload.reasons.length === 0 ? '' : `: ${payload.reasons.map(words).join(', ')}`}`
    case 'SWAP_OBSERVED': {
      const { side, amounts } = toldOf(live, record)
      return (
        <>
          {side} {amounts}
          {payload.finality === 'orphaned' && <span class="tag bad aside">orphaned</span>}
        </>
      )
    }
    case 'PRICE_RETRACT':
      return (
        <>
          {words(payload.reason)}{' '}
          <span class="muted">
            withdraws{' '}
            {payload.retracted.stream_sequence === null
              ? 'a record no longer retained'
              : `record ${payload.retracted.stream_sequence}`}
          </span>
        </>
      )
    case 'PRICE_UPSERT':
      if (payload.scope === 'pool')
        return (
          <>
            {payload.reason === null ? ratioOf(live, routing.chain_id, payload) : words(payload.reason)}{' '}
            <Score score={payload.score} />
          </>
        )
      return payload.state === 'PRICED' ? (
        <>
          {price(payload.price_usd)} <Score score={payload.confidence.score} />
        </>
      ) : (
        words(payload.reason)
      )
    default:
      return ''
  }
}

const ratioOf = (live: Live, chainId: number, { from, to, marginal }: PoolState): string =>
  marginal === null
    ? ''
    : `1 ${live.symbol(chainId, from)} = ${shortDecimal(marginal.display)} ${live.symbol(chainId, to)}`

/** A pool's two tokens are ordered by address: the lower one is token 0. */
function toldOf(live: Live, { routing, payload }: Envelope) {
  const addresses = [...routing.token_ids].sort().map(id => `0x${id.slice(26)}`)
  const [token0 = '', token1 = ''] = addresses
  const { chain_id } = routing
  return tell(
    tradeIn(payload as SwapEvent),
    [live.row(chain_id, token0), live.row(chain_id, token1)],
    [live.symbol(chain_id, token0), live.symbol(chain_id, token1)],
  )
}

const worthIn = (live: Live, record: Envelope): string =>
  record.type === 'SWAP_OBSERVED' ? (toldOf(live, record).worth ?? '–') : ''

function timeOf({ type, payload }: Envelope): number {
  if (type === 'FEED_HEALTH') return payload.updated_at_ms
  if (type === 'SWAP_OBSERVED') return payload.block_time_ms
  const state = type === 'PRICE_RETRACT' ? payload.current : payload
  if (state === null) return 0
  return 'evaluated_at_ms' in state ? state.evaluated_at_ms : state.block_time_ms
}

function blockOf({ type, payload }: Envelope): string {
  if (type === 'FEED_HEALTH') return payload.processed === null ? '' : count(payload.processed.block_number)
  if (type === 'SWAP_OBSERVED') return count(payload.block_number)
  const state = type === 'PRICE_RETRACT' ? payload.current : payload
  if (state === null) return ''
  return count('as_of' in state ? state.as_of.block_number : state.block_number)
}
