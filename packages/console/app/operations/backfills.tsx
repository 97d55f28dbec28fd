/** Back-fills: the progress of each, and a form to start another. */
import type { Backfill } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { useAnswer, useLooks } from '../answer.ts'
import { count, duration, words } from '../format.ts'
import { type Live, useLive } from '../live.ts'
import { Answered } from '../parts/answered.tsx'
import { WideCard } from '../parts/card.tsx'
import { ChainChoice } from '../parts/chainChoice.tsx'
import { ErrorNote } from '../parts/note.tsx'
import { Table } from '../parts/table.tsx'
import { useAttempt } from './attempt.ts'

type Props = { readonly live: Live; readonly onChanged: () => void }

/** The polling interval while one runs. */
const LOOK_MS = 2000

export function Backfills({ live, onChanged }: Props) {
  const { chains } = useLive(live)
  const { admin } = live.client
  const [chosen, setChosen] = useState<number | null>(null)
  const [fault, attempt] = useAttempt()
  const answer = useAnswer('backfills', 0, signal => admin.fetchBackfills({ signal }))
  const { value, reload } = answer
  const isRunning = value?.backfills.some(({ status }) => status === 'RUNNING') ?? false
  useLooks(isRunning, LOOK_MS, reload)
  const chainId = chosen ?? [...chains.keys()][0] ?? null
  const start = () => {
    if (chainId === null) return
    attempt(admin.startBackfill({ chain_id: chainId }), () => {
      reload()
      onChanged()
    })
  }
  return (
    <WideCard
      name="Back-fill"
      tools={
        <>
          <ChainChoice live={live} about="Chain to scan" chosen={chainId} onChoose={setChosen} />
          <button type="button" onClick={start}>
            Scan past blocks
          </button>
        </>
      }
    >
      <ErrorNote failure={fault} />
      <Answered answer={answer} what="scans">
        {({ backfills }) =>
          backfills.length === 0 ? (
            <p class="empty">No back-fill has run. Pools are found as their tokens are requested.</p>
          ) : (
            <Table
              about="Scans"
              columns={['Chain', 'Status', 'Progress', 'Blocks', ['Events', 'right'], 'Remark']}
            >
              {backfills.map(scan => (
                <Scan key={scan.chain_id} scan={scan} chain={live.chainName(scan.chain_id)} />
              ))}
            </Table>
          )
        }
      </Answered>
    </WideCard>
  )
}

const Scan = ({ scan, chain }: { readonly scan: Backfill; readonly chain: string }) => (
  <tr>
    <td>{chain}</td>
    <td>
      <span class={`tag ${KINDS[scan.status] ?? 'busy'}`}>{words(scan.status)}</span>
    </td>
    <td>
      <progress {...progressOf(scan)} aria-label={`Scan of ${chain}`} />
    </td>
    <td class="number">
      {[scan.from_block, scan.to_block].map(block => (block === null ? '…' : count(block))).join(' – ')}
    </td>
    <td class="right number">{count(scan.events)}</td>
    <td>{scan.error ?? (scan.eta_s === null ? '' : `${duration(scan.eta_s * 1000)} to go`)}</td>
  </tr>
)

/** Without a range the total is unknown: the bar then only shows activity. */
function progressOf({ from_block, to_block, next_block, status }: Backfill): {
  max?: number
  value?: number
} {
  if (status === 'DONE') return { max: 1, value: 1 }
  if (from_block === null || to_block === null || next_block === null) return {}
  return { max: Math.max(1, to_block - from_block), value: Math.max(0, next_block - from_block) }
}

const KINDS: Readonly<Record<string, string>> = { DONE: 'ok', FAILED: 'bad' }
