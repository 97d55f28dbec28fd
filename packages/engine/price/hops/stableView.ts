/**
 * The stables at one moment: the guard's verdict on the newest answer of each, and the disputes raised by pools of
 * two stables.
 */
import type { Address } from '../../chain/block.ts'
import { guardStable, type StableVerdict } from '../../rules/stableGuard.ts'
import { earlier, FOREVER, type Timed } from '../../rules/timed.ts'
import type { StableSetup } from '../../setup.ts'
import { type Ms, ms, type Score, weaker } from '../../units.ts'
import type { DisputeParty, StableView, ViewedDispute } from '../evaluation.ts'
import { finalityAt, type Moment } from '../moment.ts'
import { pairDispute } from './stablePools.ts'

/** Before its first report the sequencer counts as down. */
const UNKNOWN_SEQUENCER = { up: false, sinceMs: ms(0) }

/** A stable while its pairs are evaluated. */
type Draft = {
  readonly party: DisputeParty
  readonly verdict: StableVerdict
  readonly disputes: ViewedDispute[]
  untilMs: Ms
}

/** Every stable of the chain. */
export function stableViews(moment: Moment): ReadonlyMap<Address, StableView> {
  const drafts = moment.state.setup.stables.map(stable => draftOf(stable, guarded(moment, stable)))
  // Of two stables, the one listed first is Y.
  drafts.forEach((y, at) => {
    for (const x of drafts.slice(at + 1)) comparePair(moment, x, y)
  })
  return new Map(drafts.map(draft => [draft.party.token, viewOf(moment, draft)]))
}

function guarded({ state, policy, atMs }: Moment, setup: StableSetup): Timed<StableVerdict> {
  const stable = state.stables.get(setup.token)
  return guardStable(
    {
      answer: stable?.reading ?? null,
      last: stable?.lastGood ?? null,
      feed: setup.feed,
      sequencer: state.setup.hasSequencer ? (state.chain.sequencer ?? UNKNOWN_SEQUENCER) : null,
    },
    policy,
    atMs,
  )
}

const draftOf = ({ token }: StableSetup, { value: verdict, untilMs }: Timed<StableVerdict>): Draft => ({
  party: { token, usd: verdict.usd, source: verdict.source, isFresh: verdict.source === 'CHAINLINK' },
  verdict,
  disputes: [],
  untilMs,
})

/** A dispute belongs to the stable it caps; the time at which it starts or ends concerns both. */
function comparePair(moment: Moment, x: Draft, y: Draft): void {
  const pair = moment.state.index.pairs.get(`${x.party.token}-${y.party.token}`)
  if (pair === undefined) return
  const { value, untilMs } = pairDispute(moment, pair, x.party, y.party)
  x.untilMs = earlier(x.untilMs, untilMs)
  y.untilMs = earlier(y.untilMs, untilMs)
  if (value === null) return
  const side = value.disputed === 'X' ? x : y
  side.disputes.push({ ...value, x: x.party, y: y.party })
}

function viewOf(moment: Moment, { party, verdict, disputes, untilMs }: Draft): StableView {
  const stable = moment.state.stables.get(party.token)
  const cap = disputes.reduce<Score | null>(
    (least, dispute) => (least === null ? dispute.cap : weaker(least, dispute.cap)),
    null,
  )
  return {
    ...verdict,
    token: party.token,
    score: cap === null ? verdict.score : weaker(verdict.score, cap),
    caps: cap === null ? verdict.caps : [...verdict.caps, { code: 'STABLE_DISPUTED', cap }],
    disputes,
    // The nominal 1 was read from no block: it does not lower the state score here, its cap does.
    finality:
      stable === undefined || verdict.source === 'NOMINAL'
        ? 'finalized'
        : finalityAt(moment, stable.block.number),
    dueMs: untilMs === FOREVER ? null : untilMs,
  }
}
