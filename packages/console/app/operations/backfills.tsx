/** Scans of the past: how far each is, and the start of another. */
import type { Backfill } from '@assay/sdk'
import { useEffect, useState } from 'preact/hooks'
import { useAnswer } from '../answer.ts'
import { chainName, count, duration, words } from '../format.ts'
import { type Live, useLive } from '../live.ts'
import { ErrorNote, Loading } from '../parts/note.tsx'

type Props = { readonly live: Live; readonly onChanged: () => void }

/** While one runs it is looked at so often. */
const LOOK_MS = 2000

export function Backfills({ live, onChanged }: Props) {
  const { chains } = useLive(live)
  const { admin } = live.client
  const [turn, setTurn] = useState(0)
  const [chosen, setChosen] = useState<number | null>(null)
  const [fault, setFault] = useState<Error | null>(null)
  const { value, failure, reload } = useAnswer('backfills', turn, signal => admin.fetchBackfills({ signal }))
  const isRunning = value?.backfills.some(({ status }) => status === 'RUNNING') ?? false
  useEffect(() => {
    if (!isRunning) return undefined
    const timer = setInterval(() => setTurn(n => n + 1), LOOK_MS)
    return () => clearInterval(timer)
  }, [isRunning])
  const chainId = chosen ?? [...chains.keys()][0]
  const start = () => {
    if (chainId === undefined) return
    admin.startBackfill({ chain_id: chainId }).then(
      () => {
        setFault(null)
        setTurn(n => n + 1)
        onChanged()
      },
      (error: unknown) => setFault(error as Error),
    )
  }
  const nameOf = (id: number) => chainName(chains.get(id)?.chain.name ?? `${id}`)
  return (
    <section class="card flush" aria-label="Back-fill">
      <header class="tools">
        <h2>Back-fill</h2>
        <select
          aria-label="Chain to scan"
          value={chainId}
          onChange={event => setChosen(Number(event.currentTarget.value))}
        >
          {[...chains.keys()].map(id => (
            <option key={id} value={id}>
              {nameOf(id)}
            </option>
          ))}
        </select>
        <button type="button" onClick={start}>
          Scan its past
        </button>
      </header>
      {(fault ?? failure) !== null && <ErrorNote failure={(fault ?? failure) as Error} onRetry={reload} />}
      {value === null ? (
        failure === null && <Loading what="scans" />
      ) : value.backfills.length === 0 ? (
        <p class="empty">No past has been scanned. Pools are then found as tokens are asked for.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Scans">
          <table>
            <thead>
              <tr>
                <th scope="col">Chain</th>
                <th scope="col">Status</th>
                <th scope="col">Progress</th>
                <th scope="col">Blocks</th>
                <th scope="col" class="right">
                  Events
                </th>
                <th scope="col">Remark</th>
              </tr>
            </thead>
            <tbody>
              {value.backfills.map(scan => (
                <tr key={scan.chain_id}>
                  <td>{nameOf(scan.chain_id)}</td>
                  <td>
                    <span class={`tag ${KINDS[scan.status] ?? 'busy'}`}>{words(scan.status)}</span>
                  </td>
                  <td>
                    <progress {...progressOf(scan)} aria-label={`Scan of ${nameOf(scan.chain_id)}`} />
                  </td>
                  <td class="number">
                    {[scan.from_block, scan.to_block]
                      .map(block => (block === null ? '…' : count(block)))
                      .join(' – ')}
                  </td>
                  <td class="right number">{count(scan.events)}</td>
                  <td>{scan.error ?? (scan.eta_s === null ? '' : `${duration(scan.eta_s * 1000)} to go`)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

/** Without a range it is not known yet how much there is: the bar then only moves. */
function progressOf({ from_block, to_block, next_block, status }: Backfill): {
  max?: number
  value?: number
} {
  if (status === 'DONE') return { max: 1, value: 1 }
  if (from_block === null || to_block === null || next_block === null) return {}
  return { max: Math.max(1, to_block - from_block), value: Math.max(0, next_block - from_block) }
}

const KINDS: Readonly<Record<string, string>> = { DONE: 'ok', FAILED: 'bad' }
