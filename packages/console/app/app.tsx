/** The whole console: log-in first, then a frame with the page that the address names. */
import { createClient, type SessionInfo, UnauthenticatedError } from '@assay/sdk'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { Frame } from './frame.tsx'
import { Live } from './live.ts'
import { LogIn } from './logIn.tsx'
import { OverviewPage } from './overview/page.tsx'
import { lazily } from './parts/lazily.tsx'
import { ErrorNote, Loading } from './parts/note.tsx'
import { usePlace } from './place.ts'
import { PoolPage } from './pool/page.tsx'
import { SearchPage } from './searchPage.tsx'
import { StreamPage } from './stream/page.tsx'
import { TokenPage } from './token/page.tsx'

/** Only for operators, who are few. */
const OperationsPage = lazily(
  'operations',
  async () => (await import('./operations/operations.tsx')).OperationsPage,
)

type State =
  | { readonly is: 'asking' }
  | { readonly is: 'out'; readonly remark: string | null }
  | { readonly is: 'in'; readonly session: SessionInfo }
  | { readonly is: 'unreachable'; readonly failure: Error }

/**
 * Whether this browser has logged in: without a session, requests are pointless. Scripts cannot see the cookie
 * itself.
 */
const MARK = 'assay-logged-in'

const client = createClient({ baseUrl: new URL('.', location.href).href })

export function App() {
  const [state, setState] = useState<State>({ is: 'asking' })
  const leave = (remark: string | null) => {
    localStorage.removeItem(MARK)
    setState({ is: 'out', remark })
  }
  const ask = () => {
    client.fetchSession().then(
      session => {
        localStorage.setItem(MARK, 'yes')
        setState({ is: 'in', session })
      },
      (failure: unknown) =>
        failure instanceof UnauthenticatedError
          ? leave(null)
          : setState({ is: 'unreachable', failure: failure as Error }),
    )
  }
  useEffect(() => (localStorage.getItem(MARK) === null ? leave(null) : ask()), [])
  const logOut = () => {
    client.endSession().then(
      () => leave(null),
      () => leave('The service did not answer; the session will expire.'),
    )
  }
  switch (state.is) {
    case 'asking':
      return <Loading what="the session" />
    case 'unreachable':
      return (
        <main class="alone">
          <ErrorNote failure={state.failure} onRetry={ask} />
        </main>
      )
    case 'out':
      return <LogIn remark={state.remark} onLoggedIn={ask} />
    case 'in':
      return (
        <LoggedIn
          session={state.session}
          onLogOut={logOut}
          onEnded={() => leave('The session has ended. Log in again to continue.')}
        />
      )
  }
}

type LoggedInProps = {
  readonly session: SessionInfo
  readonly onLogOut: () => void
  readonly onEnded: () => void
}

function LoggedIn({ session, onLogOut, onEnded }: LoggedInProps) {
  const place = usePlace()
  const live = useMemo(() => new Live(client, onEnded), [])
  useEffect(() => () => live.close(), [live])
  return (
    <Frame live={live} session={session} place={place} onLogOut={onLogOut}>
      {place.page === 'overview' ? (
        <OverviewPage live={live} />
      ) : place.page === 'token' ? (
        <TokenPage
          key={`${place.chainId}/${place.address}`}
          live={live}
          chainId={place.chainId}
          address={place.address}
        />
      ) : place.page === 'pool' ? (
        <PoolPage
          key={`${place.chainId}/${place.address}`}
          live={live}
          chainId={place.chainId}
          address={place.address}
        />
      ) : place.page === 'stream' ? (
        <StreamPage live={live} />
      ) : place.page === 'operations' ? (
        <OperationsPage live={live} session={session} tab={place.tab} />
      ) : place.page === 'search' ? (
        <SearchPage key={place.text} live={live} text={place.text} />
      ) : (
        <section class="card">
          <h1>No such page</h1>
          <p>
            <a href="#/">Back to the overview</a>
          </p>
        </section>
      )}
    </Frame>
  )
}
