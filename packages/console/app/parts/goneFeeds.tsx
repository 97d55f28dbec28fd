/** Names every chain whose feed is gone: why, and that its tokens have no price until it is back. */
import { type Health, toGone } from '@assay/sdk'
import { chainName, words } from '../format.ts'
import { type Live, useLive } from '../live.ts'

export function GoneFeeds({ live }: { readonly live: Live }) {
  const gone = [...useLive(live).chains.values()].flatMap(({ chain, health }) =>
    health === null || toGone(health.status) === null ? [] : [{ chain, health }],
  )
  if (gone.length === 0) return null
  return (
    <div class="note bad" role="status" data-testid="gone-feeds">
      {gone.map(({ chain, health }) => (
        <p key={chain.chain_id}>
          <strong>{chainName(chain.name)}</strong> has no feed: {whyOf(health)}. Its tokens are shown without
          a price until it is back.
        </p>
      ))}
    </div>
  )
}

function whyOf({ status, reasons }: Health): string {
  if (reasons.length > 0) return reasons.map(each => WHY[each] ?? words(each).toLowerCase()).join(', ')
  return status === 'GAP' ? 'blocks are missing' : 'the chain cannot be followed'
}

/** Reasons of a feed that carries no price, in words. */
const WHY: Readonly<Record<string, string>> = {
  HALTED: 'a block that was final has been reorganised away',
  PAUSED: 'an operator has paused it',
  WORKER_SILENT: 'nothing has been heard of it for more than 30 seconds',
  NO_ENDPOINT: 'none of its endpoints can be used',
  NO_VERIFIED_HEAD: 'no block could be verified for too long',
  BEHIND: 'it is too many blocks behind',
  BLOCK_REFUSED: 'every endpoint gives a block that cannot be verified',
}
