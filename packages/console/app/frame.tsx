/** What surrounds every page: where one can go, search, the state of the connection, the theme, the way out. */
import { isAddress, type SessionInfo } from '@assay/sdk'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Live, useLive } from './live.ts'
import { GoneFeeds } from './parts/goneFeeds.tsx'
import { hrefOf, type Place } from './place.ts'
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
    // Whoever listens to the page is told that it is another one; the first is announced by the browser.
    if (!isFirst.current) {
      main.current?.focus()
      window.scrollTo(0, 0)
    }
    isFirst.current = false
  }, [at])
  const link = (page: 'overview' | 'stream' | 'operations') => (
    <a href={hrefOf[page]} aria-current={place.page === page ? 'page' : undefined}>
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
          <img src="./icon.svg" alt="" width="22" height="22" /> Assay
        </a>
        <nav aria-label="Pages">
          {link('overview')}
          {link('stream')}
          {session.scopes.includes('admin') && link('operations')}
        </nav>
        <Search />
        <Connection live={live} />
        <ThemeSwitch />
        <button type="button" class="quiet" onClick={onLogOut}>
          Log out
        </button>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <GoneFeeds live={live} />
        {children}
      </main>
    </>
  )
}

/** An address is looked for on all chains at once; anything else is taken as part of a symbol. */
function Search() {
  const [text, setText] = useState('')
  return (
    <form
      role="search"
      class="search"
      onSubmit={event => {
        event.preventDefault()
        const wanted = text.trim()
        if (wanted === '') return
        location.hash = hrefOf.search(isAddress(wanted) ? wanted.toLowerCase() : wanted)
        setText('')
      }}
    >
      <input
        type="search"
        aria-label="Search by address or symbol, on all chains"
        placeholder="Address or symbol"
        spellcheck={false}
        value={text}
        onInput={event => setText(event.currentTarget.value)}
      />
    </form>
  )
}

/** One word for all chains; which of them is behind stands in the overview. */
function Connection({ live }: { readonly live: Live }) {
  const { chains, failure } = useLive(live)
  const states = [...chains.values()].map(({ status }) => status)
  // A quiet chain replays until its next record: it is connected all the same.
  const lives = states.filter(status => status === 'live' || status === 'replaying').length
  const [kind, text] =
    states.length > 0 && lives === states.length
      ? ['ok', 'Live']
      : states.some(status => status === 'reconnecting' || status === 'failed') || failure !== null
        ? ['bad', 'Reconnecting']
        : ['busy', 'Connecting']
  return (
    <p class={`connection ${kind}`} role="status">
      <span class="dot" aria-hidden="true" />
      {text}
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
