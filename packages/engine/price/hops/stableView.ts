/** A stable at one moment: the guard's verdict on its newest answer. */
import type { Address } from '../../chain/block.ts'
import { ms } from '../../units.ts'
import type { StableView } from '../evaluation.ts'
import { finalityAt, type Moment } from '../moment.ts'
import { guardStable } from '../../rules/stableGuard.ts'
import { FOREVER } from '../../rules/timed.ts'

/** Before its first report the sequencer counts as down. */
const UNKNOWN_SEQUENCER = { up: false, sinceMs: ms(0) }

/** Null when the token is not one of the chain's stables. */
export function stableView(moment: Moment, token: Address): StableView | null {
  const setup = moment.state.setup.stables.find(each => each.token === token)
  if (setup === undefined) return null
  const stable = moment.state.stables.get(token)
  const { value: guarded, untilMs } = guardStable(
    {
      answer: stable?.reading ?? null,
      last: stable?.lastGood ?? null,
      feed: setup.feed,
      sequencer: moment.state.setup.hasSequencer ? (moment.state.chain.sequencer ?? UNKNOWN_SEQUENCER) : null,
    },
    moment.policy,
    moment.atMs,
  )
  return {
    token,
    usd: guarded.usd,
    score: guarded.score,
    status: guarded.status,
    source: guarded.source,
    caps: guarded.caps,
    updatedAtMs: guarded.updatedAtMs,
    // The nominal 1 was read from no block: it holds nothing back here, its cap does.
    finality:
      stable === undefined || guarded.source === 'NOMINAL'
        ? 'finalized'
        : finalityAt(moment, stable.block.number),
    dueMs: untilMs === FOREVER ? null : untilMs,
  }
}
