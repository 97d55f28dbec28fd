/** Token: its price, its confidence and the limits of it, its history, and every number behind it. */
import {
  type CompactUnpriced,
  type PendingQuote,
  type PricedQuote,
  stateAt,
  type TokenQuote,
} from '@assay/sdk'
import { useEffect } from 'preact/hooks'
import { useAnswer, useNow, usePaced } from '../answer.ts'
import { changeText, count, counted, dateTime, duration, price, words } from '../format.ts'
import { type Live, useLive } from '../live.ts'
import { Answered } from '../parts/answered.tsx'
import { Card } from '../parts/card.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Facts } from '../parts/facts.tsx'
import { lazily } from '../parts/lazily.tsx'
import { Loading } from '../parts/note.tsx'
import { Score } from '../parts/score.tsx'
import { Candidates } from './candidates.tsx'
import { ConfidencePanel } from './confidence.tsx'
import { History } from './history.tsx'
import { RouteGraph } from './routeGraph.tsx'
import { RouteList } from './routeList.tsx'
import { SellPanel } from './sellPanel.tsx'
import { UNPRICED_WORDS } from './unpricedWords.ts'
import { VerifyPanel } from './verifyPanel.tsx'

/** Shown below everything else on the page. */
const Seller = lazily('sales', async () => (await import('./seller.tsx')).Seller)

type Props = { readonly live: Live; readonly chainId: number; readonly address: string }

/** A quote is large, so fetch it no more often than this, however fast records arrive. */
const REFRESH_MS = 2000

export function TokenPage({ live, chainId, address }: Props) {
  const held = useLive(live)
  const row = held.row(chainId, address)
  const sequence = usePaced(row?.price?.as_of.stream_sequence ?? 0, REFRESH_MS)
  const feedGone = live.feedGone(chainId)
  const answer = useAnswer(`${chainId}/${address}`, `${sequence} ${feedGone}`, signal =>
    live.client.quoteToken({ chain_id: chainId, token_address: address as `0x${string}` }, { signal }),
  )
  const { value, reload } = answer
  useRetry(value, reload)
  const now = useNow()
  // An older answer may have lost its feed or its evidence since.
  const state = value === null || value.state === 'PENDING' ? null : stateAt(value, now, feedGone)
  // Shown at once, with its name and its price: what came in above the rest would move it.
  const status = held.chains.get(chainId)?.status ?? 'resetting'
  const isListed = row !== undefined || status !== 'resetting' || held.failure !== null
  if (answer.failure === null && (value === null || !isListed)) return <Loading what="the token" />
  const rest = (
    <>
      {state?.state === 'PRICED' && value?.state === 'PRICED' && <Priced live={live} quote={value} />}
      {state?.state === 'PRICED' && value?.state === 'PRICED' && value.routes.length > 0 && (
        <>
          <Card name="Routes">
            <RouteGraph live={live} chainId={chainId} token={address} routes={value.routes} />
          </Card>
          <RouteList live={live} chainId={chainId} routes={value.routes} />
          <Seller live={live} chainId={chainId} address={address} />
        </>
      )}
      {value?.state === 'UNPRICED' && (
        <>
          <Candidates live={live} chainId={chainId} quote={value} />
          <SellPanel chainId={chainId} found={value.sellability} />
        </>
      )}
    </>
  )
  return (
    <>
      <header class="heading">
        <h1>{row?.token.symbol ?? 'Token'}</h1>
        <p class="muted">
          {row?.token.name ?? ''} on {live.chainName(chainId)}
          {row !== undefined && row.token.role !== 'TOKEN' && (
            <span class="role">{row.token.role.toLowerCase()}</span>
          )}
        </p>
        <Copyable text={address} what="token address" />
      </header>
      <Answered answer={answer} what="the quote">
        {quote =>
          quote.state === 'PENDING' ? (
            <Pending quote={quote} />
          ) : state?.state === 'UNPRICED' ? (
            <Unpriced live={live} chainId={chainId} state={state} />
          ) : (
            quote.state === 'PRICED' && <Headline quote={quote} />
          )
        }
      </Answered>
      {row === undefined ? (
        rest
      ) : (
        <History live={live} row={row}>
          {rest}
        </History>
      )}
    </>
  )
}

/** Fetches a pending quote again when the service says so. */
function useRetry(quote: TokenQuote | null, reload: () => void): void {
  useEffect(() => {
    if (quote?.state !== 'PENDING') return undefined
    const timer = setTimeout(reload, Math.max(500, quote.retry_after_ms))
    return () => clearTimeout(timer)
  }, [quote])
}

/** The main facts: the price, its confidence, its change and its age. */
function Headline({ quote }: { readonly quote: PricedQuote }) {
  const now = useNow()
  const { price_usd, confidence, as_of, change } = quote
  return (
    <section class="card headline" aria-label="Price">
      <p class="price number" data-testid="price">
        {price(price_usd)}
      </p>
      <Score score={confidence.score} label={confidence.label} />
      {change === null ? (
        <p class="muted">no price from an hour ago to compare with</p>
      ) : (
        <p class="number">
          <Change name="1 h" value={change.h1_bps} /> <Change name="24 h" value={change.h24_bps} />
        </p>
      )}
      <p class="muted">
        block {count(as_of.block_number)}, {duration(now - as_of.block_time_ms)} old
      </p>
    </section>
  )
}

function Change({ name, value }: { readonly name: string; readonly value: number | null }) {
  if (value === null) return null
  return (
    <span class="moved">
      <span class="muted">{name}</span>{' '}
      <span class={value > 0 ? 'up-text' : value < 0 ? 'down-text' : 'muted'}>{changeText(value)}</span>
    </span>
  )
}

function Priced({ live, quote }: { readonly live: Live; readonly quote: PricedQuote }) {
  const now = useNow()
  const { price_usd, as_of, support, expires_at_ms, last_trade_ms } = quote
  return (
    <div class="columns">
      <div class="stack">
        <Card name="Details">
          <Facts
            facts={[
              [
                'Exact',
                <Exact key="exact" numerator={price_usd.numerator} denominator={price_usd.denominator} />,
              ],
              ['18 digits', <Copyable key="display" text={price_usd.display} what="price" />],
              support === null
                ? null
                : [
                    'Accepted range',
                    <span key="range" class="number">
                      {price(support.low)} – {price(support.high)}{' '}
                      <span class="muted">
                        {counted(support.accepted, 'route')} accepted, {support.rejected} rejected
                      </span>
                    </span>,
                  ],
              [
                'Ends in',
                `${live.symbol(quote.chain_id, quote.stable.token_address)} at ${price(quote.stable.usd)} (${words(quote.stable.status)})`,
              ],
              ['Block', `${count(as_of.block_number)}, ${duration(now - as_of.block_time_ms)} old`],
              ['Last trade', last_trade_ms === null ? 'none seen' : `${duration(now - last_trade_ms)} ago`],
              ['Valid until', expires_at_ms === null ? 'the next record' : dateTime(expires_at_ms)],
              [
                'Policy',
                <Copyable
                  key="policy"
                  text={quote.policy_version}
                  shown={quote.policy_version.slice(0, 9)}
                  what="policy version"
                />,
              ],
            ]}
          />
        </Card>
        <SellPanel chainId={quote.chain_id} found={quote.sellability} />
      </div>
      <div class="stack">
        <ConfidencePanel live={live} quote={quote} />
        <VerifyPanel key={`${quote.chain_id}/${quote.token}`} live={live} quote={quote} />
      </div>
    </div>
  )
}

/** Numbers of hundreds of digits: their first digits, and all of them on demand. */
function Exact({ numerator, denominator }: { readonly numerator: string; readonly denominator: string }) {
  const text = `${numerator}/${denominator}`
  return text.length <= 40 ? (
    <Copyable text={text} what="exact price" />
  ) : (
    <details class="exact">
      <summary>
        a fraction of {numerator.length} over {denominator.length} digits
      </summary>
      <code class="wrap">
        {numerator} / {denominator}
      </code>{' '}
      <Copyable text={text} shown="" what="exact price" />
    </details>
  )
}

type UnpricedProps = { readonly live: Live; readonly chainId: number; readonly state: CompactUnpriced }

function Unpriced({ live, chainId, state }: UnpricedProps) {
  const now = useNow()
  const last = state.last_priced ?? null
  return (
    <Card name="Price">
      <p class="price dim">Unpriced</p>
      <p>
        <span class="tag bad">{words(state.reason)}</span>{' '}
        <span class="muted">{REASONS[state.reason] ?? ''}</span>
      </p>
      <Facts
        facts={[
          [
            'Evaluated',
            `${duration(now - state.evaluated_at_ms)} ago, at block ${count(state.as_of.block_number)}`,
          ],
          last === null
            ? null
            : ['Was', `${price(last.price_usd)} at score ${last.score}, ${duration(now - last.at_ms)} ago`],
          ['Chain', words(live.chains.get(chainId)?.health?.status ?? 'unknown')],
        ]}
      />
    </Card>
  )
}

/** A later service may send a reason that has no text here. */
const REASONS: Readonly<Record<string, string>> = UNPRICED_WORDS

const Pending = ({ quote }: { readonly quote: PendingQuote }) => (
  <Card name="Price">
    <p class="price dim">Pending</p>
    <p class="muted" role="status">
      {quote.stage === 'DISCOVERY' ? 'Looking for its pools.' : 'Its pools are being evaluated.'} This page
      asks again by itself.
    </p>
  </Card>
)
