/** The engine: a pure fold from verified chain data to prices with their evidence and confidence. */
export { adapterOf, type AmmEvent, type AmmState, type Born } from './amm/families.ts'
export { FAMILIES, type Family, isFamily } from './amm/familyNames.ts'
export type { Slot, SlotEvent } from './amm/states.ts'
export type { V2State } from './amm/v2/kind.ts'
export type { V4Event, V4State } from './amm/v4/kind.ts'
export type { EntityKey, Pool, Token } from './entities.ts'
export * as tickBitmap from './amm/tickBitmap.ts'
export { rangeOfWords } from './amm/tickBook.ts'
export { MAX_TICK, MIN_TICK } from './amm/ticks.ts'
export { type Address, type BlockRef, type Hex, idOf, type NewPool, type PoolEvent } from './chain/block.ts'
export { bringForward, type Passed } from './chain/bringForward.ts'
export { poolsOf } from './chain/registry.ts'
export type { Before } from './chain/lookBackStart.ts'
export { LookBack, type PastBlock, toAsk, type Traveller, type Window } from './lookBack.ts'
export { decodeState, encodeEntity, entityKeys } from './stored/codec.ts'
export { createState } from './createState.ts'
export { step, type StepResult } from './engine.ts'
export type {
  FeedStatus,
  Input,
  LoadedPool,
  LookedBack,
  LookedPast,
  RecheckedPool,
  TokenFacts,
} from './input.ts'
export { computeCost } from './cost/computeCost.ts'
export { computeExit, type Sizes } from './exit/computeExit.ts'
export type { PoolBalances, SellabilityReading } from './sellabilityReading.ts'
export type { UnpricedPool } from './chain/block.ts'
export { computePoolQuote, computeTokenQuote, type QuoteNarrowing } from './onDemand.ts'
export { heldUntilMs, HOLD_MS } from './rules/decimals.ts'
export type { Round as StableAnswer } from './rules/feedAnswer.ts'
export { feedScore } from './rules/feedAndState.ts'
export { HISTORY_MS } from './rules/history.ts'
export { freshness, verifiedAt } from './rules/freshness.ts'
export { DEFAULT_POLICY, type Policy } from './policy/policy.ts'
export { mergePolicy } from './policy/policyOverride.ts'
export { type Part, SEQUENCE, sequenceText, Shared, Unreduced } from './price/publish/parts.ts'
export { membersOf } from './price/publish/hopJson.ts'
export { type QuoteJson, QuoteWriter, withChange, Written } from './price/publish/quoteJson.ts'
export type { EngineRecord } from './record.ts'
export { type ChainSetup, roleOf } from './setup.ts'
export type { Gap, State } from './state.ts'
export { type Count, count, type Ms, ms, type Tick, tick } from './units.ts'
