/** Names every chain whose feed is gone or degraded, with the reason and the effect on its prices. */
import { type Health, toGone } from '@assay/sdk'
import { chainName, words } from '../format.ts'
import { type Live, type LiveChain, useLive } from '../live.ts'
import type { Place } from '../place.ts'

type Props = { readonly live: Live; readonly place: Place }

export function TroubledFeeds({ live, place }: Props) {
  const chains = [...useLive(live).chains.values()]
  const gone = chains.filter(({ health }) => health !== null && toGone(health.status) !== null)
  const degraded = chains.filter(
    ({ chain, health }) => health?.status === 'DEGRADED' && isAbout(place, chain.chain_id),
  )
  return (
    <>
      {gone.length > 0 && (
        <div class="note bad" role="status" data-testid="gone-feeds">
          {gone.map(held => (
            <p key={held.chain.chain_id}>
              <Name held={held} /> has no feed: {reasonsOf(held.health)}. Its tokens are without a price until
              it is back.
            </p>
          ))}
        </div>
      )}
      {degraded.length > 0 && (
        <div class="note warn" role="status" data-testid="degraded-feeds">
          {degraded.map(held => (
            <p key={held.chain.chain_id}>
              <Name held={held} /> is degraded: {reasonsOf(held.health)}. Its prices remain, with a confidence
              of at most 3.
            </p>
          ))}
        </div>
      )}
    </>
  )
}

const Name = ({ held }: { readonly held: LiveChain }) => <strong>{chainName(held.chain.name)}</strong>

/** The overview has a card per chain that shows this already; a page about one chain would not show it otherwise. */
const isAbout = (place: Place, chainId: number): boolean =>
  (place.page === 'token' || place.page === 'pool') && place.chainId === chainId

const REASONS: Readonly<Record<string, string>> = {
  HALTED: 'it was reorganised below a finalized block and waits for an operator',
  PAUSED: 'an operator paused it',
  WORKER_SILENT: 'it has been silent for more than 30 seconds',
  NO_ENDPOINT: 'no node of the right chain answers',
  NO_VERIFIED_HEAD: 'no node has returned a verifiable block',
  REBASED: 'it was started again at the head after a long stop',
  BEHIND: 'blocks are known that have not been processed',
  BLOCK_REFUSED: 'every node refuses a block',
  HEAD_OLD: 'its newest block is old',
  CHAIN_STALLED: 'its nodes agree that no new blocks are produced',
  HEAD_UNCONFIRMED: 'only one node knows its newest block',
  NO_PROOF: 'its blocks cannot be proven complete with these nodes',
  FINALITY_STALLED: 'no block has become final for half an hour',
  CLOCK: 'the clock of this service and that of its blocks disagree',
  FINALITY_BY_DEPTH: 'its nodes do not report finality, so depth decides',
}

export function reasonsOf(health: Health | null): string {
  if (health === null) return 'it has not reported yet'
  const { status, reasons } = health
  // Silence makes the other reasons irrelevant.
  const shown = reasons.includes('WORKER_SILENT') ? ['WORKER_SILENT'] : reasons
  if (shown.length === 0) return words(status).toLowerCase()
  return shown.map(each => REASONS[each] ?? words(each).toLowerCase()).join('; ')
}
