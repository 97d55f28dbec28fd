/**
 * Answers of dollar feeds, of stables and of routing assets: those that a proven block logs, and those read from the
 * feed at a block (R-reading-2, R-reading-3). Both are undone with their block, and an older answer never replaces a
 * newer one.
 */
import type { FeedAnswer, Input, StableReading } from '../input.ts'
import { withGood } from '../price/hops/unitWorth.ts'
import { isGood } from '../rules/feedAnswer.ts'
import type { State } from '../state.ts'
import { triggers } from '../triggers.ts'
import type { Work } from '../work.ts'
import type { BlockRef } from './block.ts'
import { isReplacedAbove, placeOf, setSequencer, setStable } from './changes.ts'

type Of<Kind extends Input['kind']> = Extract<Input, { kind: Kind }>

export const applyFeedAnswers = (state: State, { block, answers }: Of<'feed_answer'>, work: Work): void =>
  takeAnswers(state, block, answers, work)

export function applyStable(state: State, { block, answers, sequencer }: Of<'stable'>, work: Work): void {
  if (placeOf(state, block) === null) return
  takeAnswers(state, block, answers, work)
  const { sequencer: known } = state.chain
  if (sequencer?.up === known?.up && sequencer?.sinceMs === known?.sinceMs) return
  setSequencer(state, block, sequencer)
  triggers.external(
    work,
    state.setup.stables.map(({ token }) => token),
  )
}

/** An answer equal in value, time and completeness changes nothing, not even its block. */
function takeAnswers(
  state: State,
  block: BlockRef,
  answers: readonly (StableReading | FeedAnswer)[],
  work: Work,
): void {
  const place = placeOf(state, block)
  if (place === null) return
  for (const { token, answer } of answers) {
    const before = state.stables.get(token)
    if ((before?.block.number ?? 0) > block.number || isReplacedAbove(state, block, 'stables', token))
      continue
    const lastGood = isGood(answer) ? answer : (before?.lastGood ?? null)
    const isSame =
      before !== undefined &&
      before.reading?.value === answer?.value &&
      before.reading?.updatedAtMs === answer?.updatedAtMs &&
      before.reading?.complete === answer?.complete
    if (isSame) continue
    const earlier = before?.good ?? []
    const good = isGood(answer) ? withGood(earlier, { answer, readMs: block.timeMs }) : earlier
    setStable(state, token, { reading: answer, lastGood, block, good }, place.journal)
    triggers.answer(state, work, token)
  }
}
