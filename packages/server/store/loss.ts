/**
 * Records that were handed out but are no longer on the log: the device lost them, an older copy was restored, or a
 * replica was promoted without them. A new epoch begins, so none of their sequences is used again. The process that
 * found the loss reports it once, and it stays on the audit trail.
 */
import type { Log } from '../ops/log.ts'
import type { AuditRow, Sequence } from './port.ts'

/**
 * BEHIND: the mark is above the head. MARK_MISSING, MARK_DAMAGED: the mark cannot be compared.
 * PROMOTED: the PostgreSQL server has another timeline.
 */
export const LOSSES = ['BEHIND', 'MARK_MISSING', 'MARK_DAMAGED', 'PROMOTED'] as const

export type Loss = {
  readonly why: (typeof LOSSES)[number]
  /** The present end of the log. */
  readonly head: Sequence
  /** The last sequence that was handed out; null when unknown. */
  readonly mark: Sequence | null
  /** The minimum number of lost records; null when unknown. */
  readonly lost: number | null
  /** The epoch that begins with this loss. */
  readonly epoch: number
}

export type OnLoss = (loss: Loss) => void

export const auditOf = (loss: Loss, atMs: number): AuditRow => ({
  atMs,
  actor: 'service',
  action: 'epoch.begin',
  subject: `epoch ${loss.epoch}`,
  detail: JSON.stringify(loss),
})

/** Logs a loss. */
export const logLoss = (log: Pick<Log, 'error'>, { why, head, mark, lost, epoch }: Loss): void =>
  log.error('published records are missing from the log: a new epoch begins', {
    why,
    log_ends_at: head,
    given_out_up_to: mark,
    lost_records: lost,
    epoch,
  })
