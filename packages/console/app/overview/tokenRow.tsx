/** One token in the table. It is rendered again only when its price changes or a second has passed. */
import type { FeedGone } from '@assay/sdk'
import {
  changeText,
  clockTime,
  dollars,
  duration,
  price as priceText,
  shortAddress,
  words,
} from '../format.ts'
import { memo } from '../parts/memo.ts'
import { Score } from '../parts/score.tsx'
import { hrefOf } from '../place.ts'
import { priceAt, type Row } from '../row.ts'
import { PriceLine } from './priceLine.tsx'

type Props = {
  readonly at: number
  readonly row: Row
  readonly chain: string
  readonly feedGone: FeedGone | null
  readonly second: number
}

/** How long a change stays highlighted. */
const FRESH_MS = 1500
const RETRACTED_MS = 60_000

export const TokenRow = memo<Props>(({ at, row, chain, feedGone }) => {
  const now = Date.now()
  const { token, direction, changedAtMs, retraction, beside } = row
  const price = priceAt(row, now, feedGone)
  const isPriced = price?.state === 'PRICED'
  const isFresh = now - changedAtMs < FRESH_MS
  const moved = isFresh && direction !== 0 ? (direction > 0 ? 'up' : 'down') : ''
  const isRetracted = retraction !== null && now - retraction.atMs < RETRACTED_MS
  return (
    <tr aria-rowindex={at + 2} data-token={row.key} class={isPriced ? '' : 'dim'}>
      <td>
        <a href={hrefOf.token(token.chain_id, token.token_address)} title={token.token_address}>
          {token.symbol ?? shortAddress(token.token_address)}
        </a>
        {token.role !== 'TOKEN' && <span class="role">{token.role.toLowerCase()}</span>}
        <span class="narrow small muted">{chain}</span>
      </td>
      <td class="wide muted">{chain}</td>
      <td class={`right number ${moved}`} key={moved === '' ? 'still' : changedAtMs}>
        {isPriced ? <span title={price.price_usd.display}>{priceText(price.price_usd)}</span> : '–'}
      </td>
      <td class="right wide number">{isPriced && <Change bps={beside?.h1Bps ?? null} />}</td>
      <td class="wide">
        {beside !== null && (
          <PriceLine prices={beside.spark} about={`${token.symbol ?? 'token'}, last day`} />
        )}
      </td>
      <td class="right wide number muted">
        {beside?.depthMicrousd == null ? '–' : dollars(beside.depthMicrousd)}
      </td>
      <td>
        {isPriced ? (
          <Score score={price.confidence.score} label={price.confidence.label} />
        ) : (
          <span class="muted">{price === null ? 'Pending' : words(price.reason)}</span>
        )}
        {isRetracted && (
          <span class="tag bad aside" title={`a price was withdrawn at ${clockTime(retraction.atMs)}`}>
            {words(retraction.reason)}
          </span>
        )}
      </td>
      <td class="right wide number muted">{price === null ? '' : duration(now - price.evaluated_at_ms)}</td>
    </tr>
  )
})

function Change({ bps }: { readonly bps: number | null }) {
  if (bps === null) return <span class="muted">–</span>
  return <span class={bps > 0 ? 'up-text' : bps < 0 ? 'down-text' : 'muted'}>{changeText(bps)}</span>
}
