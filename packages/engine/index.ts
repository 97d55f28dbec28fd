/** The engine: a pure fold from verified chain data to prices with their evidence and confidence. */
export { decodeState, encodeEntity, entityKeys } from './codec.ts'
export { createState } from './createState.ts'
export { step, type StepResult } from './engine.ts'
export type { Input } from './input.ts'
export type { EngineRecord } from './record.ts'
export type { ChainSetup } from './setup.ts'
export type { EntityKey, State } from './state.ts'
