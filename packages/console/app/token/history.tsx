/** The published history: the line breaks where there was no price, and every retraction is marked and explained. */
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useAnswer, useNow } from '../answer.ts'
import { changeText, clockTime, count, price, words } from '../format.ts'
import type { Live } from '../live.ts'
import type { Retraction, Row } from '../row.ts'
import { Chart } from '../parts/chart.tsx'
import type { Mark } from '../parts/chartData.ts'
import { ErrorNote, Loading } from '../parts/note.tsx'
import { fetchPast, markOf, type Past, pointOf, type Range, RANGES, withPoints } from './past.ts'

/** The most retractions listed; the chart marks them all. */
const LISTED = 5

type Props = {
  readonly live: Live
  readonly row: Row
  /** Below it, once it has its length: what was taken back takes as many lines as it needs. */
  readonly children: ComponentChildren
}

export function History({ live, row, children }: Props) {
  const [range, setRange] = useState<Range>(RANGES[1])
  const { value, failure, isLoading, reload } = useAnswer(`${row.key} ${range.name}`, 0, signal =>
    fetchPast(live.client, row, range, signal),
  )
  const hasAnswered = useRef(false)
  hasAnswered.current ||= value !== null || failure !== null
  const seen = useSeen(row, range.name)
  const points = useMemo(() => [...(value?.points ?? []), ...seen.points], [value, seen])
  const marks = useMemo(() => merged(value?.marks ?? [], seen.marks), [value, seen])
  const candles = useMemo(
    () =>
      value === null || range.interval === null ? [] : withPoints(value.candles, seen.points, range.stepMs),
    [value, seen, range],
  )
  const now = useNow()
  const hasPrice = candles.length > 0 || points.some(point => point.price !== null)
  return (
    <>
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
        {hasPrice ? (
          <Chart
            key={range.name}
            points={points}
            candles={candles}
            marks={marks}
            fromMs={now - range.ms}
            untilMs={now}
            about={`price of ${row.token.symbol ?? 'the token'}, last ${range.name}`}
          />
        ) : (
          <>
            <p class="readout" />
            <div class="chart empty">
              {isLoading && value === null && failure === null ? (
                <Loading what="the history" />
              ) : (
                value !== null && <p>There was no price in this time.</p>
              )}
            </div>
          </>
        )}
        {value === null ? <p class="small">{'\u00A0'}</p> : <Retractions marks={marks} range={range} />}
      </section>
      {hasAnswered.current && children}
    </>
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
        {listed.map(mark => (
          <li key={`${mark.atMs}${mark.reason}`}>
            <span class="number">{clockTime(mark.atMs)}</span>{' '}
            <span class="tag bad">{words(mark.reason)}</span> {takenBack(mark)}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The retracted price, the state that replaced it, and the difference between them. */
function takenBack({ withdrawn, now, bps, block }: Mark): string {
  const what =
    withdrawn === null ? 'a price no longer retained' : `${price(withdrawn.price)} (score ${withdrawn.score})`
  const instead =
    now === null ? 'no price instead' : `${price(now)} instead${bps === null ? '' : `, ${changeText(bps)}`}`
  return `${what} withdrawn, ${instead}, at block ${count(block)}`
}

const NOTHING: Past = { points: [], candles: [], marks: [] }

/** Records received from the stream since the range was chosen. */
function useSeen(row: Row, range: string): Past {
  const [seen, setSeen] = useState<Past>(NOTHING)
  const last = useRef<{ price: Row['price']; retraction: Retraction | null; range: string } | null>(null)
  useEffect(() => {
    const before = last.current
    last.current = { price: row.price, retraction: row.retraction, range }
    if (before === null || before.range !== range) {
      setSeen(NOTHING)
      return
    }
    const { price: state, retraction } = row
    if (state === null || state === before.price) return
    setSeen(({ points, candles, marks }) => ({
      points: [...points, pointOf(state)],
      candles,
      marks:
        retraction === null || retraction === before.retraction
          ? marks
          : [...marks, markOf(retraction.reason, before.price, state)],
    }))
  }, [row.price, range])
  return seen
}

/** A retraction may be both in the fetched past and received from the stream. */
function merged(past: readonly Mark[], seen: readonly Mark[]): readonly Mark[] {
  const known = new Set(past.map(({ atMs }) => atMs))
  return [...past, ...seen.filter(({ atMs }) => !known.has(atMs))]
}
