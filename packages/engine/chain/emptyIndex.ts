/** The index of a state without pools and tokens. */
import { DueQueue } from '../memory/dueQueue.ts'
import type { State } from '../state.ts'

export const emptyIndex = (): State['index'] => ({
  pairs: new Map(),
  ownPools: new Map(),
  poolsInto: new Map(),
  agreements: new Map(),
  dues: new DueQueue(),
  touched: null,
  priced: new Set(),
  aged: new Set(),
  watches: new Map(),
  depths: new Map(),
  changed: new Set(),
  evaluations: new Map(),
})
