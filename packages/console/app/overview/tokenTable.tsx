/** All tokens of all chains, live. Sorting looks at values once a second; drawing looks only at rows in sight. */
import type { CompactState } from '@assay/sdk'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useNow } from '../answer.ts'
import { count } from '../format.ts'
import { type Live, useLive } from '../live.ts'
import { WideCard } from '../parts/card.tsx'
import { ChainChoice } from '../parts/chainChoice.tsx'
import { WindowedTable } from '../parts/windowed.tsx'
import { priceAt, type Row } from '../row.ts'
import { Changes } from './changes.ts'
import { TokenRow } from './tokenRow.tsx'

const COLUMNS = [
  { id: 'token', name: 'Token', className: 'token' },
  { id: 'chain', name: 'Chain', className: 'chain-name wide' },
  { id: 'price', name: 'Price, USD', className: 'price-now right' },
  { id: 'change', name: 'Last hour', className: 'change right wide' },
  { id: 'score', name: 'Confidence', className: 'confidence' },
  { id: 'age', name: 'Age', className: 'age right wide' },
] as const
type Column = (typeof COLUMNS)[number]['id']
type Sorting = { readonly by: Column; readonly isDown: boolean }

export function TokenTable({ live }: { readonly live: Live }) {
  useLive(live)
  const now = useNow()
  const [sorting, setSorting] = useState<Sorting>({ by: 'chain', isDown: false })
  const [text, setText] = useState('')
  const [chainId, setChainId] = useState<number | null>(null)
  const [, setNews] = useState(0)
  const changes = useMemo(() => new Changes(live.client, () => setNews(n => n + 1)), [live])
  useEffect(() => () => changes.close(), [changes])

  // Names stay where they are; everything else moves, and is put in order once a second.
  const isStill = sorting.by === 'token' || sorting.by === 'chain'
  const keys = useMemo(
    () => ordered(live, sorting, text, chainId, now),
    [live.structure, sorting, text, chainId, isStill ? 0 : now],
  )
  const sight = useRef<readonly [number, number]>([0, 0])
  const want = (from: number, to: number) => {
    sight.current = [from, to]
    const rows = keys.slice(from, to).flatMap(key => live.rows.get(key) ?? [])
    changes.want(
      rows
        .filter(({ price }) => price?.state === 'PRICED')
        .map(({ key, token }) => ({ key, chainId: token.chain_id, address: token.token_address })),
    )
  }
  useEffect(() => want(...sight.current), [keys])

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
          onSight={want}
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
                reference={changes.of(key)}
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
  if (id === 'change')
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
  const valueOf = (row: Row): number => sortValue(by, priceAt(row, now, live.feedGone(row.token.chain_id)))
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

/** Good enough to sort by; what is without a price comes first. */
function sortValue(by: Column, price: CompactState | null): number {
  if (price === null) return -1
  if (by === 'age') return -price.evaluated_at_ms
  if (price.state !== 'PRICED') return -1
  return by === 'price' ? Number(price.price_usd.display) : price.confidence.score
}

const matches = (token: Row['token'], wanted: string): boolean =>
  (token.symbol ?? '').toLowerCase().includes(wanted) ||
  (token.name ?? '').toLowerCase().includes(wanted) ||
  token.token_address.startsWith(wanted)
