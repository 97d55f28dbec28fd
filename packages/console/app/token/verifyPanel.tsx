/**
 * "Verify in your browser": recomputes the quote on this page from its own evidence with the SDK's
 * `verifyOffline`. The rules are loaded on first use, so that a page that only shows prices does not wait for
 * them.
 */
import type { PricedQuote, Verification } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { count } from '../format.ts'
import type { Live } from '../live.ts'
import { ErrorNote } from '../parts/note.tsx'

/** More would hide the first: one wrong number makes the numbers derived from it differ too. */
const MAX_SHOWN = 20

type Outcome =
  | { readonly kind: 'idle' | 'busy' }
  | { readonly kind: 'failed'; readonly failure: Error }
  | {
      readonly kind: 'done'
      readonly quote: PricedQuote
      readonly verification: Verification
      readonly tookMs: number
    }

export function VerifyPanel({ live, quote }: { readonly live: Live; readonly quote: PricedQuote }) {
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'idle' })
  const run = async () => {
    setOutcome({ kind: 'busy' })
    try {
      const [{ verifyOffline }, policy] = await Promise.all([
        import('./verify.ts'),
        live.client.fetchPolicy(quote.policy_version),
      ])
      const startedAt = performance.now()
      const verification = verifyOffline(quote, { policy })
      setOutcome({ kind: 'done', quote, verification, tookMs: performance.now() - startedAt })
    } catch (failure) {
      setOutcome({ kind: 'failed', failure: failure instanceof Error ? failure : new Error(String(failure)) })
    }
  }
  return (
    <section class="card verify" aria-label="Verification">
      <h2>Verification</h2>
      <button type="button" disabled={outcome.kind === 'busy'} onClick={() => void run()}>
        {outcome.kind === 'busy' ? 'Verifying …' : 'Verify in your browser'}
      </button>
      <div aria-live="polite">
        {outcome.kind === 'idle' && (
          <p class="small muted">
            Recomputes the price, its weights, the vote, scores and caps from the evidence below, on this
            machine.
          </p>
        )}
        {outcome.kind === 'failed' && <ErrorNote failure={outcome.failure} onRetry={() => void run()} />}
        {outcome.kind === 'done' &&
          (outcome.verification.verified ? <Verified {...outcome} /> : <Differing {...outcome} />)}
      </div>
    </section>
  )
}

type Done = Omit<Extract<Outcome, { kind: 'done' }>, 'kind'>

const Verified = ({ quote, verification, tookMs }: Done) => (
  <div class="note ok">
    <p>
      <strong>It verifies.</strong> {count(verification.checks)} numbers follow from the evidence of block{' '}
      {count(quote.as_of.block_number)}, recomputed in {tookMs.toFixed(0)} ms.
    </p>
    <p class="small muted">{checkedIn(quote)}</p>
    <p class="small muted">
      To compare with the chain itself, use a node of your own: <code>assay verify --rpc URL</code>.
    </p>
  </div>
)

/** The subjects of the compared numbers. */
function checkedIn({ routes, routing_assets, price_usd, confidence }: PricedQuote): string {
  const hops = routes.reduce((sum, route) => sum + route.hops.length, 0)
  const parts = [
    `the price ${price_usd.display}`,
    `the score ${confidence.score} with its components and caps`,
    routes.length === 1 ? 'one route with its weight' : `${routes.length} routes with their weights`,
    `${hops === 1 ? 'one hop' : `${hops} hops`} with amounts, depth and scores`,
    ...(routing_assets.length === 0
      ? []
      : [
          `the same of ${routing_assets.length === 1 ? 'one routing asset' : `${routing_assets.length} routing assets`}`,
        ]),
  ]
  return `Checked: ${parts.join(', ')}.`
}

const Differing = ({ quote, verification }: Done) => (
  <div class="note bad" role="alert">
    <p>
      <strong>It does not verify.</strong> {count(verification.differences.length)} of{' '}
      {count(verification.checks)} numbers of block {count(quote.as_of.block_number)} do not follow from the
      others:
    </p>
    <ul class="differences">
      {verification.differences.slice(0, MAX_SHOWN).map(({ path, found, expected, from }) => (
        <li key={`${path} ${JSON.stringify(expected)}`}>
          <code>{path}</code> is {JSON.stringify(found)}, and should be {JSON.stringify(expected)}
          {from.length > 0 && <span class="small muted"> (from {from.slice(0, 6).join(', ')})</span>}
        </li>
      ))}
    </ul>
    {verification.differences.length > MAX_SHOWN && (
      <p class="small muted">… and {count(verification.differences.length - MAX_SHOWN)} more</p>
    )}
  </div>
)
