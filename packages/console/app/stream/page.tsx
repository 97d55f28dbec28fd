/** Stream: the log of a chain as it grows, with filters, a pause that keeps its place, and the state of the connection. */
import { type Envelope, fromId, RECORD_TYPES } from '@assay/sdk'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { count, words } from '../format.ts'
import { type Live, useLive } from '../live.ts'
import { ChainChoice } from '../parts/chainChoice.tsx'
import { Checks } from '../parts/checks.tsx'
import { Loading } from '../parts/note.tsx'
import { Table } from '../parts/table.tsx'
import { NAMES, RecordRow } from './recordRow.tsx'
import { Tail, type TailState } from './tail.ts'

const SHOWN = 200
const EMPTY: TailState = { status: 'connecting', reason: null, sequence: null, replayed: 0, records: [] }

export function StreamPage({ live }: { readonly live: Live }) {
  const { chains } = useLive(live)
  const [chosen, setChosen] = useState<number | null>(null)
  const chainId = chosen ?? [...chains.keys()][0] ?? null
  if (chainId === null) return <Loading what="chains" />
  return (
    <>
      <h1 class="hidden">Stream</h1>
      <ChainTail key={chainId} live={live} chainId={chainId} onChain={setChosen} />
    </>
  )
}

type Props = {
  readonly live: Live
  readonly chainId: number
  readonly onChain: (chainId: number | null) => void
}

function ChainTail({ live, chainId, onChain }: Props) {
  const [state, setState] = useState<TailState>(EMPTY)
  const [types, setTypes] = useState<readonly Envelope['type'][]>(RECORD_TYPES)
  const [text, setText] = useState('')
  const tail = useRef<Tail | null>(null)
  const open = (after: number | null) => {
    tail.current?.close()
    tail.current = new Tail(live.client, chainId, after, setState)
  }
  useEffect(() => {
    open(null)
    return () => tail.current?.close()
  }, [])
  const shown = useMemo(
    () =>
      state.records
        .filter(record => types.includes(record.type) && speaksOf(live, record, text))
        .slice(0, SHOWN),
    [state.records, types, text],
  )
  const isPaused = state.status === 'paused'
  return (
    <section class="card flush" aria-label="Live tail">
      <header class="tools">
        <h2>Stream</h2>
        <ChainChoice live={live} about="Chain" chosen={chainId} onChoose={onChain} />
        <input
          type="search"
          aria-label="Only records of this symbol or address"
          placeholder="Symbol or address"
          value={text}
          onInput={event => setText(event.currentTarget.value)}
        />
        <button
          type="button"
          class="primary"
          onClick={() =>
            isPaused || state.status === 'refused' ? tail.current?.resume() : tail.current?.pause()
          }
        >
          {isPaused || state.status === 'refused' ? 'Resume' : 'Pause'}
        </button>
      </header>
      <div class="tools second">
        <Checks
          about="Types of records"
          values={RECORD_TYPES}
          chosen={types}
          onChoose={setTypes}
          nameOf={type => NAMES[type]}
        />
        <From sequence={state.sequence} onOpen={open} />
      </div>
      <p class="tail-state" role="status">
        <span class={`tag ${kindOf(state.status)}`}>{words(state.status)}</span>{' '}
        {state.sequence !== null && (
          <>
            at sequence <span class="number">{state.sequence}</span>
          </>
        )}
        {state.replayed > 0 && <span class="muted">, {count(state.replayed)} replayed</span>}
        {state.reason !== null && <span class="muted"> {state.reason}</span>}
      </p>
      {shown.length === 0 ? (
        <p class="empty">
          {state.records.length === 0 ? 'Waiting for the next record.' : 'No record passes the filter.'}
        </p>
      ) : (
        <Table
          about="Records, newest first"
          columns={[
            ['Sequence', 'right wide'],
            'Time',
            'Type',
            'About',
            'Content',
            ['Dollars', 'right wide'],
            ['Block', 'right wide'],
          ]}
          class="tail"
        >
          {shown.map(record => (
            <RecordRow key={record.stream_sequence} live={live} record={record} />
          ))}
        </Table>
      )}
    </section>
  )
}

const kindOf = (status: TailState['status']): string =>
  status === 'live' ? 'ok' : status === 'reconnecting' || status === 'refused' ? 'bad' : 'busy'

/** A position in the log to resume from, as a stored cursor would. */
function From({
  sequence,
  onOpen,
}: {
  readonly sequence: number | null
  readonly onOpen: (after: number) => void
}) {
  const [text, setText] = useState('')
  const isSequence = /^\d{1,16}$/.test(text.trim())
  return (
    <form
      class="from"
      onSubmit={event => {
        event.preventDefault()
        if (isSequence) onOpen(Number(text.trim()))
      }}
    >
      <label for="after">Replay after sequence</label>
      <input
        id="after"
        inputMode="numeric"
        size={9}
        placeholder={sequence === null ? '' : `${Math.max(0, sequence - 100)}`}
        value={text}
        onInput={event => setText(event.currentTarget.value)}
      />
      <button type="submit" disabled={!isSequence}>
        Replay
      </button>
    </form>
  )
}

function speaksOf(live: Live, { routing }: Envelope, text: string): boolean {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return true
  return [...routing.token_ids, ...routing.pool_ids].some(id => {
    const address = fromId(id)
    return (
      address.startsWith(wanted) ||
      (live.row(routing.chain_id, address)?.token.symbol ?? '').toLowerCase().includes(wanted)
    )
  })
}
