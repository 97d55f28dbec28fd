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
          <strong>{chainName(chain.name)}</strong> has no feed: {whyOf(health)}. Its tokens are without a
          price until it is back.
        </p>
      ))}
    </div>
  )
}

function whyOf({ status, reasons }: Health): string {
  if (reasons.includes('WORKER_SILENT')) return 'nothing has been heard of it for more than 30 seconds'
  return (reasons.length > 0 ? reasons : [status]).map(each => words(each).toLowerCase()).join(', ')
}
