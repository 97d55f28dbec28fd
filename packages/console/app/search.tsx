/**
 * The search of the header: an address is looked up on all chains, and text suggests tokens while it is typed. `/`
 * focuses it.
 */
import { isAddress } from '@assay/sdk'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { price, shortAddress, words } from './format.ts'
import type { Live } from './live.ts'
import { hrefOf } from './place.ts'
import { priceAt, type Row } from './row.ts'

const SUGGESTED = 8

export function Search({ live }: { readonly live: Live }) {
  const [text, setText] = useState('')
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState(-1)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const lead = (event: KeyboardEvent) => {
      const { target } = event
      const isTyping =
        target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      input.current?.focus()
    }
    document.addEventListener('keydown', lead)
    return () => document.removeEventListener('keydown', lead)
  }, [])
  const found = useMemo(() => suggestions(live, text), [live, text, live.structure])
  const isShown = isOpen && found.length > 0
  const goTo = (href: string) => {
    location.hash = href
    setText('')
    setOpen(false)
    setChosen(-1)
  }
  const submit = () => {
    const wanted = text.trim()
    const row = isShown ? found[chosen] : undefined
    if (row !== undefined) goTo(hrefOf.token(row.token.chain_id, row.token.token_address))
    else if (wanted !== '') goTo(hrefOf.search(isAddress(wanted) ? wanted.toLowerCase() : wanted))
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setOpen(false)
    if (!isShown || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return
    event.preventDefault()
    // The position before the first suggestion is the text itself.
    const places = found.length + 1
    setChosen(at => ((at + 1 + (event.key === 'ArrowDown' ? 1 : places - 1)) % places) - 1)
  }
  return (
    <form
      role="search"
      class="search"
      onSubmit={event => {
        event.preventDefault()
        submit()
      }}
    >
      <input
        ref={input}
        type="search"
        role="combobox"
        list={undefined}
        aria-label="Search by address or symbol, on all chains"
        aria-keyshortcuts="/"
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls="suggestions"
        aria-activedescendant={isShown && chosen >= 0 ? `suggestion-${chosen}` : undefined}
        autocomplete="off"
        placeholder="Search: address or symbol   /"
        spellcheck={false}
        value={text}
        onInput={event => {
          setText(event.currentTarget.value)
          setOpen(true)
          setChosen(-1)
        }}
        onKeyDown={onKey}
        onBlur={() => setOpen(false)}
      />
      <ul id="suggestions" role="listbox" aria-label="Tokens" hidden={!isShown}>
        {found.map((row, at) => (
          <li
            key={row.key}
            id={`suggestion-${at}`}
            role="option"
            aria-selected={at === chosen}
            // Runs before the input loses focus and the list closes.
            onMouseDown={event => {
              event.preventDefault()
              goTo(hrefOf.token(row.token.chain_id, row.token.token_address))
            }}
          >
            <strong>{row.token.symbol ?? shortAddress(row.token.token_address)}</strong>{' '}
            <span class="muted">{live.chainName(row.token.chain_id)}</span>
            <span class="number">{worth(live, row)}</span>
          </li>
        ))}
      </ul>
    </form>
  )
}

/**
 * Tokens whose symbol begins with the text first, then those whose symbol contains it; among equals the deepest
 * first.
 */
function suggestions(live: Live, text: string): readonly Row[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return []
  const ranked = [...live.rows.values()].flatMap(row => {
    const { symbol, name, token_address } = row.token
    const own = (symbol ?? '').toLowerCase()
    const rank =
      own === wanted
        ? 0
        : own.startsWith(wanted) || token_address.startsWith(wanted)
          ? 1
          : own.includes(wanted) || (name ?? '').toLowerCase().includes(wanted)
            ? 2
            : null
    return rank === null ? [] : [{ row, rank, depth: Number(row.beside?.depthMicrousd ?? 0) }]
  })
  ranked.sort((a, b) => a.rank - b.rank || b.depth - a.depth)
  return ranked.slice(0, SUGGESTED).map(({ row }) => row)
}

function worth(live: Live, row: Row): string {
  const state = priceAt(row, Date.now(), live.feedGone(row.token.chain_id))
  if (state === null) return 'Pending'
  return state.state === 'PRICED' ? price(state.price_usd) : words(state.reason)
}
