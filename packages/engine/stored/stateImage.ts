/** The state of a pool as plain values, its history as the difference from another history. */
import type { PoolState } from '../entities.ts'
import type { Fraction } from '../exact/fraction.ts'
import * as temporal from '../memory/temporalTape.ts'
import type { Change } from '../rules/temporalWindow.ts'
import { deltaOf, earlierOf, type StoredList } from './listDelta.ts'
import { type VisitImage, visitFrom, visitImage } from './visitImage.ts'

/** A state written before gaps or visits existed lacks their fields. */
type PoolStateImage = Omit<PoolState, 'history' | 'visit' | 'isBeforeGap' | 'past'> & {
  readonly history: readonly Change[]
  readonly visit?: VisitImage | null
  readonly isBeforeGap?: boolean
  /** It also lacks a past that was read. */
  readonly past?: PoolState['past']
}

const stateFrom = (image: PoolStateImage): PoolState => ({
  ...image,
  isBeforeGap: image.isBeforeGap ?? false,
  past: image.past ?? null,
  history: temporal.restore(image.history),
  visit: image.visit == null ? null : visitFrom(image.visit),
})

/** A state whose history is stored as a difference from another history. */
export type DeltaState = Omit<PoolStateImage, 'history'> & { readonly history: StoredList<Change> }

export function deltaState(state: PoolState, other: temporal.History = temporal.EMPTY): DeltaState {
  const { past, history, ...plain } = state
  const [own, later] = [temporal.momentsOf(history), temporal.momentsOf(other)]
  return {
    ...plain,
    ...(past === null ? {} : { past }),
    visit: state.visit === null ? null : visitImage(state.visit),
    history: deltaOf(
      own,
      later,
      (at, from) => isSameRatio(own.valueAt(at), later.valueAt(from)),
      temporal.commonPart(history, other),
    ),
  }
}

export const stateFromDelta = (
  { history, ...image }: DeltaState,
  other: temporal.History | undefined,
): PoolState =>
  stateFrom({ ...image, history: earlierOf(history, temporal.changesOf(other ?? temporal.EMPTY)) })

export const isSameRatio = (a: Fraction, b: Fraction): boolean =>
  a === b || (a.num === b.num && a.den === b.den)
