/** What was published over time: the line breaks where there was no price, and every retraction is marked and told. */
import type { Client, HistoryEntry } from '@assay/sdk'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useAnswer, useNow } from '../answer.ts'
import { clockTime, words } from '../format.ts'
import type { Live } from '../live.ts'
import type { Retraction, Row } from '../row.ts'
import { Chart, type Mark, type Point } from '../parts/chart.tsx'
import { ErrorNote, Loading } from '../parts/note.tsx'

const MINUTE = 60_000
const RANGES = [
  { name: '15 min', ms: 15 * MINUTE, interval: null },
  { name: '1 h', ms: 60 * MINUTE, interval: null },
  { name: '24 h', ms: 1440 * MINUTE, interval: '5m' },
  { name: '7 d', ms: 10_080 * MINUTE, interval: '1h' },
] as const
type Range = (typeof RANGES)[number]

type Past = { readonly points: readonly Point[]; readonly marks: readonly Mark[] }

const PAGE = 1000
/** Records as they were published, at most: more than pixels. */
const MAX_PAGES = 4
/** Retractions that are listed; the chart marks them all. */
const LISTED = 5

export function History({ live, row }: { readonly live: Live; readonly row: Row }) {
  const [range, setRange] = useState<Range>(RANGES[1])
  const { value, failure, isLoading, reload } = useAnswer(`${row.key} ${range.name}`, 0, signal =>
    fetchPast(live.client, row, range, signal),
  )
  const seen = useSeen(row, range.name)
  const points = useMemo(() => [...(value?.points ?? []), ...seen.points], [value, seen])
  const marks = useMemo(() => merged(value?.marks ?? [], seen.marks), [value, seen])
  const now = useNow()
  const hasPrice = points.some(({ price }) => price !== null)
  return (
    <section class="card" aria-label="History">
      <header class="tools">
        <h2>History</h2>
        <div class="choices" role="group" aria-label="Range">
          {RANGES.map(each => (
            <button
              key={each.name}
              type="button"
              aria-pressed={each === range}
              onClick={() => setRange(each)}
            >
              {each.name}
            </button>
          ))}
        </div>
      </header>
      <ErrorNote failure={failure} onRetry={reload} />
      {isLoading && value === null && failure === null && <Loading what="the history" />}
      {hasPrice && (
        <Chart
          points={points}
          marks={marks}
          untilMs={now}
          about={`price of ${row.token.symbol ?? 'the token'}, last ${range.name}`}
        />
      )}
      {value !== null && !hasPrice && <p class="empty">There was no price in this time.</p>}
      <Retractions marks={marks} range={range} />
    </section>
  )
}

function Retractions({ marks, range }: { readonly marks: readonly Mark[]; readonly range: Range }) {
  const remark =
    range.interval === null ? '' : ' since this page was opened; shorter ranges show earlier ones'
  if (marks.length === 0) return <p class="small muted">Nothing was taken back{remark}.</p>
  const listed = marks.slice(-LISTED).reverse()
  return (
    <div class="retractions">
      <p class="small">
        <strong>Taken back {marks.length === 1 ? 'once' : `${marks.length} times`}</strong>
        {remark}
      </p>
      <ul class="plain small">
        {listed.map(({ atMs, reason }) => (
          <li key={`${atMs}${reason}`}>
            <span class="number">{clockTime(atMs)}</span> <span class="tag bad">{words(reason)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

async function fetchPast(client: Client, row: Row, range: Range, signal: AbortSignal): Promise<Past> {
  const { chain_id, token_address } = row.token
  const from_ms = Date.now() - range.ms
  if (range.interval !== null) {
    const { interval } = range
    const { candles } = await client.fetchCandles(
      { chain_id, token_address, from_ms, interval, limit: PAGE },
      { signal },
    )
    const step = candles[0] === undefined ? 0 : candles[0].to_ms - candles[0].from_ms
    const points = candles.flatMap(({ to_ms, from_ms: start, close }, at): Point[] => {
      const point = { atMs: Math.min(to_ms, Date.now()), price: Number(close.display) }
      // A bucket without a price is absent: the line must not run through it.
      const isGap = at > 0 && start - (candles[at - 1]?.to_ms ?? start) >= step
      return isGap ? [{ atMs: start, price: null }, point] : [point]
    })
    return { points, marks: [] }
  }
  // What was in force when the range began was said before it.
  const before = await client.fetchHistory({ chain_id, token_address, at_ms: from_ms }, { signal })
  const prices: HistoryEntry[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await client.fetchHistory(
      { chain_id, token_address, from_ms, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) },
      { signal },
    )
    prices.push(...answer.prices)
    if (answer.next_cursor === null) break
    cursor = answer.next_cursor
  }
  return {
    points: [
      ...before.prices.map(state => ({ atMs: from_ms, price: shownPrice(state) })),
      ...prices.map(state => ({ atMs: state.evaluated_at_ms, price: shownPrice(state) })),
    ],
    marks: prices.flatMap(({ retracts, evaluated_at_ms }) =>
      retracts === undefined ? [] : [{ atMs: evaluated_at_ms, reason: retracts.reason }],
    ),
  }
}

const shownPrice = (state: HistoryEntry | NonNullable<Row['price']>): number | null =>
  state.state === 'PRICED' ? Number(state.price_usd.display) : null

/** What the stream has said since the range was chosen. */
function useSeen(row: Row, range: string): Past {
  const [seen, setSeen] = useState<Past>({ points: [], marks: [] })
  const last = useRef<{ price: Row['price']; retraction: Retraction | null; range: string } | null>(null)
  useEffect(() => {
    const before = last.current
    last.current = { price: row.price, retraction: row.retraction, range }
    if (before === null || before.range !== range) {
      setSeen({ points: [], marks: [] })
      return
    }
    const { price, retraction } = row
    if (price === null || price === before.price) return
    setSeen(({ points, marks }) => ({
      points: [...points, { atMs: price.evaluated_at_ms, price: shownPrice(price) }],
      marks:
        retraction === null || retraction === before.retraction
          ? marks
          : [...marks, { atMs: price.evaluated_at_ms, reason: retraction.reason }],
    }))
  }, [row.price, range])
  return seen
}

/** A retraction may be both in the fetched past and seen on the stream. */
function merged(past: readonly Mark[], seen: readonly Mark[]): readonly Mark[] {
  const known = new Set(past.map(({ atMs }) => atMs))
  return [...past, ...seen.filter(({ atMs }) => !known.has(atMs))]
}
