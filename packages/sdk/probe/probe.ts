/** Whether a token can be sold, and how much is lost on the way, found by simulation on a node at a block. */
export type { Hex } from './hex.ts'
export {
  type Judgement,
  judge,
  type SellabilityMethod,
  type SellabilityReason,
  type SellabilityStatus,
  taxBps,
  unknownFor,
} from './judge.ts'
export type { ProbeFamily, ProbeHop, ProbePlan, Trip } from './plan.ts'
export { MOST_HOPS, needsFee, probeFamily } from './plan.ts'
export { type Ask, lookLater, lookNow, probe, type ProbeRequest } from './run.ts'
