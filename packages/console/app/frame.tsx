/** The frame of every page: navigation, search, the state of the connection, the theme, and log-out. */
import type { SessionInfo } from '@assay/sdk'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { chainName, words } from './format.ts'
import { type Live, type LiveChain, useLive } from './live.ts'
import { TroubledFeeds } from './parts/troubledFeeds.tsx'
import { hrefOf, type Place } from './place.ts'
import { Search } from './search.tsx'
import { applyTheme, readTheme, type Theme, THEMES } from './theme.ts'

type Props = {
  readonly live: Live
  readonly session: SessionInfo
  readonly place: Place
  readonly onLogOut: () => void
  readonly children: ComponentChildren
}

const TITLES: Readonly<Record<Place['page'], string>> = {
  overview: 'Overview',
  token: 'Token',
  pool: 'Pool',
  stream: 'Stream',
  operations: 'Operations',
  search: 'Search',
  unknown: 'Not found',
}

export function Frame({ live, session, place, onLogOut, children }: Props) {
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  const at = JSON.stringify(place)
  useEffect(() => {
    document.title = `${TITLES[place.page]} · Assay`
    // Announces a page change to screen readers; the browser announces the first page.
    if (!isFirst.current) {
      main.current?.focus()
      window.scrollTo(0, 0)
    }
    isFirst.current = false
  }, [at])
  const link = (page: 'overview' | 'stream' | 'operations') => (
    <a
      href={page === 'operations' ? hrefOf.operations() : hrefOf[page]}
      aria-current={place.page === page ? 'page' : undefined}
    >
      {TITLES[page]}
    </a>
  )
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={event => {
          event.preventDefault()
          main.current?.focus()
        }}
      >
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href="#/">
          <img src="./icon.svg" alt="" width="22" height="22" /> <span class="name">Assay</span>
        </a>
        <nav aria-label="Pages">
          {link('overview')}
          {link('stream')}
          {session.scopes.includes('admin') && link('operations')}
        </nav>
        <div class="feed">
          <Connection live={live} />
          <Unwell live={live} />
        </div>
        <Search live={live} />
        <ThemeSwitch />
        <button type="button" class="quiet" onClick={onLogOut}>
          Log out
        </button>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <TroubledFeeds live={live} place={place} />
        {children}
      </main>
    </>
  )
}

/** "Live" only while records of every chain arrive. */
function Connection({ live }: { readonly live: Live }) {
  const { chains, failure } = useLive(live)
  const states = [...chains.values()]
  const isSilent = ({ health }: LiveChain) => health?.reasons.includes('WORKER_SILENT') ?? false
  // A quiet chain stays in replay until its next record, but it is connected.
  const connected = states.filter(({ status }) => status === 'live' || status === 'replaying')
  const [kind, text] =
    states.length > 0 && connected.length === states.length
      ? connected.every(isSilent)
        ? ['bad', 'Silent']
        : ['ok', 'Live']
      : states.some(({ status }) => status === 'reconnecting' || status === 'failed') || failure !== null
        ? ['bad', 'Reconnecting']
        : ['busy', 'Connecting']
  return (
    <p class={`connection ${kind}`} role="status">
      <span class="dot" aria-hidden="true" />
      <span class="text">{text}</span>
    </p>
  )
}

/** One chain by name and state; for several, their number. It comes and goes below the connection, so nothing moves. */
function Unwell({ live }: { readonly live: Live }) {
  const chains = [...useLive(live).chains.values()].filter(
    ({ health }) => health !== null && health.status !== 'HEALTHY',
  )
  if (chains.length === 0) return null
  const said = chains.map(
    ({ chain, health }) => `${chainName(chain.name)} ${words(health?.status ?? '').toLowerCase()}`,
  )
  const isGone = chains.some(({ health }) => health?.status !== 'DEGRADED')
  return (
    <p class={`connection unwell ${isGone ? 'bad' : 'warn'}`} title={said.join(', ')} data-testid="unwell">
      <a href={hrefOf.overview}>{said.length === 1 ? said[0] : `${said.length} chains with problems`}</a>
    </p>
  )
}

function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(readTheme())
  return (
    <label class="theme">
      <span class="hidden">Theme</span>
      <select
        value={theme}
        onChange={event => {
          const chosen = event.currentTarget.value as Theme
          setTheme(chosen)
          applyTheme(chosen)
        }}
      >
        {THEMES.map(each => (
          <option key={each} value={each}>
            {each.charAt(0).toUpperCase() + each.slice(1)}
          </option>
        ))}
      </select>
    </label>
  )
}
