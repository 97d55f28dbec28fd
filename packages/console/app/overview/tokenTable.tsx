/** All tokens of all chains, live. Values are sorted once a second; only visible rows are rendered. */
import type { CompactState } from '@assay/sdk'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useNow } from '../answer.ts'
import { count } from '../format.ts'
import { type Live, useLive } from '../live.ts'
import { WideCard } from '../parts/card.tsx'
import { ChainChoice } from '../parts/chainChoice.tsx'
import { WindowedTable } from '../parts/windowed.tsx'
import { keepSettings, settingsIn } from '../place.ts'
import { priceAt, type Row } from '../row.ts'
import { TokenRow } from './tokenRow.tsx'

const COLUMNS = [
  { id: 'token', name: 'Token', className: 'token' },
  { id: 'chain', name: 'Chain', className: 'chain-name wide' },
  { id: 'price', name: 'Price, USD', className: 'price-now right' },
  { id: 'change', name: '1 h', className: 'change right wide' },
  { id: 'day', name: 'Last day', className: 'day wide' },
  { id: 'depth', name: '2% depth', className: 'deep right wide' },
  { id: 'score', name: 'Confidence', className: 'confidence' },
  { id: 'age', name: 'Age', className: 'age right wide' },
] as const
type Column = (typeof COLUMNS)[number]['id']
type Sorting = { readonly by: Column; readonly isDown: boolean }

export function TokenTable({ live }: { readonly live: Live }) {
  useLive(live)
  const now = useNow()
  const [settings] = useState(() => settingsIn(location.hash))
  const [sorting, setSorting] = useState<Sorting>(() => sortingIn(settings))
  const [text, setText] = useState(settings.get('filter') ?? '')
  const [chainId, setChainId] = useState<number | null>(Number(settings.get('chain')) || null)
  useEffect(
    () =>
      keepSettings({
        sort: sorting.by === 'chain' && !sorting.isDown ? null : `${sorting.isDown ? '-' : ''}${sorting.by}`,
        filter: text === '' ? null : text,
        chain: chainId === null ? null : String(chainId),
      }),
    [sorting, text, chainId],
  )

  // Sorting by name is stable; by any other column, rows are sorted once a second.
  const isStill = sorting.by === 'token' || sorting.by === 'chain'
  const keys = useMemo(
    () => ordered(live, sorting, text, chainId, now),
    [live.structure, sorting, text, chainId, isStill ? 0 : now],
  )

  return (
    <WideCard
      name="Tokens"
      beside={<span class="muted number">{count(keys.length)}</span>}
      tools={
        <>
          <input
            type="search"
            aria-label="Filter tokens by symbol, name or address"
            placeholder="Filter"
            value={text}
            onInput={event => setText(event.currentTarget.value)}
          />
          <ChainChoice live={live} about="Chain" chosen={chainId} onChoose={setChainId} none="All chains" />
        </>
      }
    >
      {keys.length === 0 ? (
        <p class="empty" role="status">
          {live.rows.size === 0 ? 'No token is known yet.' : 'No token matches.'}
        </p>
      ) : (
        <WindowedTable
          about="Live prices"
          count={keys.length}
          columns={COLUMNS.length}
          head={
            <tr>
              {COLUMNS.map(column => (
                <Head key={column.id} column={column} sorting={sorting} onSort={setSorting} />
              ))}
            </tr>
          }
          row={at => {
            const key = keys[at] as string
            const row = live.rows.get(key)
            if (row === undefined) return null
            return (
              <TokenRow
                key={key}
                at={at}
                row={row}
                chain={live.chainName(row.token.chain_id)}
                feedGone={live.feedGone(row.token.chain_id)}
                second={Math.floor(now / 1000)}
              />
            )
          }}
        />
      )}
    </WideCard>
  )
}

type HeadProps = {
  readonly column: (typeof COLUMNS)[number]
  readonly sorting: Sorting
  readonly onSort: (sorting: Sorting) => void
}

function Head({ column: { id, name, className }, sorting, onSort }: HeadProps) {
  const isOwn = sorting.by === id
  if (id === 'day')
    return (
      <th scope="col" class={className}>
        {name}
      </th>
    )
  return (
    <th
      scope="col"
      class={className}
      aria-sort={isOwn ? (sorting.isDown ? 'descending' : 'ascending') : 'none'}
    >
      <button type="button" class="sort" onClick={() => onSort({ by: id, isDown: isOwn && !sorting.isDown })}>
        {name}
        <span aria-hidden="true">{isOwn ? (sorting.isDown ? ' ↓' : ' ↑') : ''}</span>
      </button>
    </th>
  )
}

function ordered(
  live: Live,
  { by, isDown }: Sorting,
  text: string,
  chainId: number | null,
  now: number,
): string[] {
  const wanted = text.trim().toLowerCase()
  const rows = [...live.rows.values()].filter(
    ({ token }) =>
      (chainId === null || token.chain_id === chainId) && (wanted === '' || matches(token, wanted)),
  )
  const places = new Map([...live.chains.keys()].map((id, at) => [id, at]))
  const chainOf = (row: Row) => places.get(row.token.chain_id) ?? 0
  const nameOf = (row: Row) => row.token.symbol ?? row.token.token_address
  const valueOf = (row: Row): number =>
    sortValue(by, row, priceAt(row, now, live.feedGone(row.token.chain_id)))
  const byName = (a: Row, b: Row) => nameOf(a).localeCompare(nameOf(b)) || chainOf(a) - chainOf(b)
  const compare =
    by === 'token'
      ? byName
      : by === 'chain'
        ? (a: Row, b: Row) => chainOf(a) - chainOf(b) || byName(a, b)
        : (a: Row, b: Row) => valueOf(a) - valueOf(b) || byName(a, b)
  rows.sort(isDown ? (a, b) => compare(b, a) : compare)
  return rows.map(({ key }) => key)
}

/** Precise enough for sorting; rows without a value come first. */
function sortValue(by: Column, { beside }: Row, price: CompactState | null): number {
  if (by === 'depth') return Number(beside?.depthMicrousd ?? -1)
  if (price === null) return Number.NEGATIVE_INFINITY
  if (by === 'age') return -price.evaluated_at_ms
  if (price.state !== 'PRICED') return Number.NEGATIVE_INFINITY
  if (by === 'change') return beside?.h1Bps ?? Number.NEGATIVE_INFINITY
  return by === 'price' ? Number(price.price_usd.display) : price.confidence.score
}

/** `price` ascending, `-price` descending; by chain when the address names no sortable column. */
function sortingIn(settings: URLSearchParams): Sorting {
  const text = settings.get('sort') ?? ''
  const by = COLUMNS.find(({ id }) => id === text.replace(/^-/, '') && id !== 'day')?.id ?? 'chain'
  return { by, isDown: text.startsWith('-') }
}

const matches = (token: Row['token'], wanted: string): boolean =>
  (token.symbol ?? '').toLowerCase().includes(wanted) ||
  (token.name ?? '').toLowerCase().includes(wanted) ||
  token.token_address.startsWith(wanted)
