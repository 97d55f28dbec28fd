/** One card per chain: health, head, present and past delay, and the rate of the stream next to them. */
import { chainName, count, counted, duration, words } from '../format.ts'
import { type Live, type LiveChain, useLive } from '../live.ts'
import { Sparkline } from '../parts/sparkline.tsx'
import { HealthTag } from '../parts/status.tsx'

const LAG_SLOTS = 60
const RATE_SLOTS = 31

export function ChainCards({ live }: { readonly live: Live }) {
  const { chains, rate, rates } = useLive(live)
  return (
    <section aria-label="Chains" class="chains">
      {[...chains.values()].map(held => (
        <ChainCard key={held.chain.chain_id} held={held} />
      ))}
      <article class="card chain" aria-label="Stream">
        <h2>Stream</h2>
        <p class="big number">
          {rate.toFixed(1)} <span class="unit">records/s</span>
        </p>
        <Sparkline
          values={rates.slice(0, -1)}
          slots={RATE_SLOTS}
          about="records per second, the last half minute"
        />
        <p class="small muted">all chains, last 30 s</p>
      </article>
    </section>
  )
}

function ChainCard({ held }: { readonly held: LiveChain }) {
  const { chain, health, block, lags, status, reason } = held
  const head = block?.number ?? health?.processed?.block_number
  const lag = lags.at(-1)
  const lagBlocks = health?.lag_blocks ?? null
  return (
    <article class="card chain" aria-label={chainName(chain.name)} data-chain={chain.chain_id}>
      <h2>{chainName(chain.name)}</h2>
      <p class="big number">
        {head === undefined ? '–' : count(head)} <span class="unit">block</span>
      </p>
      <div class="row">
        <Sparkline
          values={lags}
          slots={LAG_SLOTS}
          about={`age of the newest block, the last minute; now ${lag === undefined ? 'unknown' : duration(lag)}`}
        />
        <HealthTag health={health} />
      </div>
      <p class="small muted">
        {status !== 'live' && status !== 'replaying' ? (
          `${words(status)}${reason === null ? '' : `: ${reason}`}`
        ) : (health?.reasons.length ?? 0) > 0 ? (
          health?.reasons.map(words).join(', ')
        ) : (
          <>
            {lag === undefined ? 'age unknown' : `${duration(lag)} old`}
            {lagBlocks !== null && lagBlocks > 0 && `, ${lagBlocks} behind`}
            <br />
            {counted(held.tokens, 'token')}
          </>
        )}
      </p>
    </article>
  )
}
