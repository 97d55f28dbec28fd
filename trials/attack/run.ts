/** One attack on one stage, and the verdict on it. */
import { type Attack, type Judged, judge, worstOf } from '@assay/world'
import { EngineStage } from './engineStage.ts'

/**
 * `HELD`: as wanted. `OPEN`: expected to fail until a rule is built, and it fails. `WRONG`: it fails. `CLOSED`:
 * expected to fail but it does not, so its mark must be removed.
 */
export type Verdict = 'HELD' | 'OPEN' | 'WRONG' | 'CLOSED'

export type Outcome = {
  readonly attack: Attack
  readonly on: 'engine' | 'chain'
  readonly verdict: Verdict
  readonly shown: Judged
  readonly looks: readonly Judged[]
}

export async function runOnEngine(attack: Attack): Promise<Outcome> {
  const stage = new EngineStage()
  await attack.play(stage)
  return outcomeOf(
    attack,
    'engine',
    stage.looks.map(look => judge(attack, look)),
  )
}

export function outcomeOf(attack: Attack, on: Outcome['on'], looks: readonly Judged[]): Outcome {
  const isWrong = looks.some(({ faults }) => faults.length > 0)
  const verdict = attack.open === undefined ? (isWrong ? 'WRONG' : 'HELD') : isWrong ? 'OPEN' : 'CLOSED'
  return { attack, on, verdict, shown: worstOf(looks), looks }
}
