/** Overview: the health of the chains, the prices of the tokens, and the rate of records. */
import { type Live, useLive } from '../live.ts'
import { ErrorNote, Loading } from '../parts/note.tsx'
import { ChainCards } from './chainCards.tsx'
import { TokenTable } from './tokenTable.tsx'

export function OverviewPage({ live }: { readonly live: Live }) {
  const { chains, failure } = useLive(live)
  return (
    <>
      <h1 class="hidden">Overview</h1>
      <ErrorNote failure={failure} />
      {chains.size === 0 ? (
        failure === null && <Loading what="chains" />
      ) : (
        <>
          <ChainCards live={live} />
          <TokenTable live={live} />
        </>
      )}
    </>
  )
}
