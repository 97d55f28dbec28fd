/** Which published states a step withdraws by name, and why. */
import type { Pool, Token } from '../../entities.ts'
import type { EngineRecord } from '../../record.ts'
import type { RetractReason, UnpricedReason } from '../../rules/reasons.ts'
import type { Work } from '../../work.ts'
import type { Evaluation } from '../evaluation.ts'

type Payload = Extract<EngineRecord, { type: 'PRICE_RETRACT' }>['payload']
export type Retraction = Pick<Payload, 'reason' | 'retracted'>

/** R-retract-1, R-retract-2: PRICED → UNPRICED, or a published state whose block was orphaned; null otherwise. */
export function tokenRetraction({ published }: Token, evaluation: Evaluation, work: Work): Retraction | null {
  if (published === null) return null
  if (isOrphaned(work, () => published.compact.as_of.block_hash)) return retracting(published, 'REORG')
  if (published.compact.state !== 'PRICED' || evaluation.kind === 'PRICED') return null
  return retracting(published, work.retractAs ?? retractReasonFor(evaluation.reason))
}

/** R-retract-4: a published state whose block was orphaned, while the pool itself remains; null otherwise. */
export function poolRetraction({ published }: Pool, work: Work): Retraction | null {
  if (published === null || !isOrphaned(work, () => published.state.block_hash)) return null
  return retracting(published, 'REORG')
}

export const retracting = (
  { recordId }: { readonly recordId: string },
  reason: RetractReason,
): Retraction => ({ reason, retracted: { record_id: recordId } })

function retractReasonFor(reason: UnpricedReason): RetractReason {
  if (reason === 'NO_POOL') return 'NO_ROUTE'
  return reason === 'DORMANT' ? 'OPERATOR' : reason
}

/** Few steps orphan a block; until one does, skip the look-up. */
const isOrphaned = ({ orphaned }: Work, blockHash: () => string): boolean =>
  orphaned.size > 0 && orphaned.has(blockHash())
