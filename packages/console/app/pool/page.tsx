/** Pool: its holdings, the evidence for its ratio, its depth, and its recent events. */
import type { Pool, PoolQuote } from '@assay/sdk'
import { useAnswer, useNow, usePaced } from '../answer.ts'
import { amount, count, dollars, duration, fee, price, shortDecimal, words } from '../format.ts'
import { type Live, useLive } from '../live.ts'
import { Answered } from '../parts/answered.tsx'
import { Caps } from '../parts/caps.tsx'
import { Card } from '../parts/card.tsx'
import { Copyable } from '../parts/copy.tsx'
import { EvidenceFacts } from '../parts/evidence.tsx'
import { Facts } from '../parts/facts.tsx'
import { Loading } from '../parts/note.tsx'
import { Score } from '../parts/score.tsx'
import { hrefOf } from '../place.ts'
import { Components } from '../token/routeList.tsx'
import { DepthCurve } from './depthCurve.tsx'
import { PoolEvents } from './events.tsx'
import { decimalsOf, symbolsOf } from './sides.ts'

type Props = { readonly live: Live; readonly chainId: number; readonly address: string }

/** The quote of a pool is computed on request, so fetch it no more often than this. */
const REFRESH_MS = 5000

export function PoolPage({ live, chainId, address }: Props) {
  const held = useLive(live)
  const chain = held.chains.get(chainId)
  const block = usePaced(chain?.block?.number ?? 0, REFRESH_MS)
  const at = { chain_id: chainId, pool_address: address as `0x${string}` }
  const answer = useAnswer(`${chainId}/${address}`, block, signal => live.client.quotePool(at, { signal }))
  const { value } = answer
  const symbols = value === null ? null : symbolsOf(live, value)
  // Shown at once, with the names of its tokens: what came in later would move the rest.
  const isListed = (chain?.status ?? 'resetting') !== 'resetting' || held.failure !== null
  if (answer.failure === null && (value === null || !isListed)) return <Loading what="the pool" />
  return (
    <>
      <header class="heading">
        <h1>{symbols === null ? 'Pool' : `${symbols[0]} / ${symbols[1]}`}</h1>
        <p class="muted">
          {value === null ? '' : `${value.deployment_id}, fee ${fee(value.fee_ppm)}, `}
          on {live.chainName(chainId)}
        </p>
        <Copyable text={address} what="pool address" />
      </header>
      <Answered answer={answer} what="the pool">
        {pool => (
          <>
            <Facets live={live} pool={pool} />
            <PoolEvents live={live} pool={pool} block={block} />
          </>
        )}
      </Answered>
    </>
  )
}

function Facets({ live, pool }: { readonly live: Live; readonly pool: PoolQuote }) {
  const { state } = pool
  return (
    <div class="columns">
      <div class="stack">
        <State live={live} pool={pool} />
        <PoolEvidence live={live} pool={pool} />
      </div>
      <div class="stack">
        <Card name="Depth">
          <DepthCurve steps={pool.depth_ladder} />
          {state?.depth !== undefined && state?.depth !== null && (
            <p class="small muted">
              Counted as {dollars(state.depth.effective_microusd)}: the least of now (
              {dollars(state.depth.current_microusd)}) and its average ({dollars(state.depth.ewma_microusd)}).
            </p>
          )}
        </Card>
        {state !== null && (
          <Card name="Confidence" beside={<Score score={state.score} />}>
            <Components components={state.components} />
            <h3>Caps</h3>
            <Caps caps={state.caps} score={state.score} />
          </Card>
        )}
      </div>
    </div>
  )
}

function State({ live, pool }: { readonly live: Live; readonly pool: PoolQuote }) {
  const now = useNow()
  const { state, prices, ratios, chain_id } = pool
  const [symbol0, symbol1] = symbolsOf(live, pool)
  const [decimals0, decimals1] = decimalsOf(live, pool)
  const [forward] = ratios
  return (
    <Card name="State">
      {state !== null && state.reason !== null && (
        <p>
          <span class="tag bad">{words(state.reason)}</span>{' '}
          <span class="muted">it is not used for any price</span>
        </p>
      )}
      <Facts
        facts={[
          ['Tokens', <Tokens key="tokens" chainId={chain_id} pool={pool} symbols={[symbol0, symbol1]} />],
          [`${symbol0} price`, prices.token0_usd === null ? 'unpriced' : price(prices.token0_usd)],
          [`${symbol1} price`, prices.token1_usd === null ? 'unpriced' : price(prices.token1_usd)],
          forward === undefined || forward.ratio === null
            ? null
            : [
                'Ratio',
                `1 ${live.symbol(chain_id, forward.from)} = ${shortDecimal(forward.ratio.display, 8)} ${live.symbol(chain_id, forward.to)}`,
              ],
          state?.reserves === undefined
            ? null
            : [
                'Holds',
                `${amount(state.reserves.reserve0, decimals0)} ${symbol0}, ${amount(state.reserves.reserve1, decimals1)} ${symbol1}`,
              ],
          state?.slot === undefined ? null : ['Tick', count(state.slot.tick)],
          state?.slot === undefined
            ? null
            : ['Liquidity', <Copyable key="l" text={state.slot.liquidity} what="liquidity" />],
          state?.slot === undefined
            ? null
            : [
                '√price × 2⁹⁶',
                <Copyable key="p" text={state.slot.sqrt_price_x96} what="square root price" />,
              ],
          state === null
            ? null
            : ['Verified', `block ${count(state.block_number)}, ${duration(now - state.verified_at_ms)} ago`],
          state === null
            ? null
            : [
                'Finality',
                <span key="f" class={`tag ${state.finality}`}>
                  {state.finality}
                </span>,
              ],
          ['Family', words(pool.family)],
        ]}
      />
      {state?.differences?.map(({ field, event, computed }) => (
        <p key={field} class="note bad">
          {field}: the chain said {event}, we computed {computed}
        </p>
      ))}
    </Card>
  )
}

type TokensProps = {
  readonly chainId: number
  readonly pool: Pool
  readonly symbols: readonly [string, string]
}

const Tokens = ({ chainId, pool, symbols }: TokensProps) => (
  <>
    <a href={hrefOf.token(chainId, pool.token0.token_address)}>{symbols[0]}</a>,{' '}
    <a href={hrefOf.token(chainId, pool.token1.token_address)}>{symbols[1]}</a>
  </>
)

function PoolEvidence({ live, pool }: { readonly live: Live; readonly pool: PoolQuote }) {
  const { state, chain_id } = pool
  const side = (address: string) => ({
    symbol: live.symbol(chain_id, address),
    decimals:
      (pool.token0.token_address === address ? pool.token0 : pool.token1).decimals ??
      live.row(chain_id, address)?.token.decimals,
  })
  return (
    <Card name="Evidence">
      {state === null || state.evidence === null ? (
        <p class="empty">There is no evidence of a sale.</p>
      ) : (
        <EvidenceFacts evidence={state.evidence} from={side(state.from)} to={side(state.to)} />
      )}
    </Card>
  )
}
