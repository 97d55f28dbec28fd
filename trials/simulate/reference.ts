/**
 * An engine that only ever sees the final chain: the blocks that stayed, the readings at them, and outside inputs at
 * the height at which they came (R-fold-5). An engine that went through reorganisations, crashes and restarts must
 * reach the same state.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Block } from '../../packages/engine/chain/block.ts'
import {
  type ChainSetup,
  createState,
  decodeState,
  encodeEntity,
  entityKeys,
  type EntityKey,
  type Hex,
  type Input,
  ms,
  type State,
  step,
} from '../../packages/engine/index.ts'
import { currentState } from '../../packages/engine/testing/currentState.ts'
import type { Verdict } from './verdict.ts'

/** A block, or the block at which the chain was restarted at its head, with the readings at it. */
type Kept = {
  readonly block: Pick<Block, 'number' | 'hash'>
  readonly input: Input
  readonly readings: Input[]
}
type Outside = { readonly after: number; readonly input: Input }

/** Reorganisations between two checks: each check folds everything that is not final. */
const REORGS = 8
/** Beyond the interval at which climbing depth is evaluated again. */
const LATER_MS = 64_000

export class Reference {
  readonly #verdict: Verdict
  /** Everything up to the last final block is permanently folded into it. */
  readonly #base: State
  #kept: Kept[] = []
  #outside: Outside[] = []
  #finalized = 0
  #reorgs = 0

  constructor(setup: ChainSetup, verdict: Verdict) {
    this.#base = createState(setup)
    this.#verdict = verdict
  }

  /** Notes an input whose commit took place. */
  note(input: Input): void {
    if (input.kind === 'block') {
      this.#keep(input.block)
      return
    }
    if (input.kind === 'reorg' || input.kind === 'rebase_head') {
      this.#reorgs += 1
      this.#kept.length = this.#kept.findIndex(({ block }) => block.hash === input.ancestor) + 1
      if (input.kind === 'reorg') for (const block of input.blocks) this.#keep(block)
      else this.#keepRebase(input)
      return
    }
    if ('block' in input) {
      this.#at(input.block.hash)?.readings.push(input)
      return
    }
    if (input.kind === 'finalize') this.#finalized = input.number
    this.#outside.push({ after: this.#kept.at(-1)?.block.number ?? 0, input })
  }

  get isDue(): boolean {
    return this.#reorgs >= REORGS
  }

  /** Compares a state that has just been committed with that of the final chain. */
  check(state: State, atMs: number): void {
    this.#reorgs = 0
    this.#advance()
    const straight = copyOf(this.#base)
    fold(straight, this.#kept, this.#outside)
    const through = copyOf(state)
    const timer: Input = { kind: 'timer', atMs: ms(atMs + LATER_MS) }
    for (const each of [straight, through]) step(each, timer)
    const [expected, seen] = [currentState(straight, timer.atMs), currentState(through, timer.atMs)]
    this.#verdict.check(
      'finalChain',
      isDeepStrictEqual(seen, expected),
      () =>
        `chain ${state.setup.chainId}: the engine is not that of the final chain; ${difference(seen, expected)}`,
    )
  }

  #keep(block: Block): void {
    this.#kept.push({ block, input: { kind: 'block', block, atMs: block.timeMs }, readings: [] })
  }

  /** It carries a health report itself: earlier outside inputs stay before it, at whatever height. */
  #keepRebase(input: Extract<Input, { kind: 'rebase_head' }>): void {
    const { number } = input.block
    this.#outside = this.#outside.map(each => ({ ...each, after: Math.min(each.after, number - 1) }))
    this.#kept.push({ block: input.block, input, readings: [] })
  }

  #at(hash: Hex): Kept | undefined {
    return this.#kept.findLast(({ block }) => block.hash === hash)
  }

  /** Final blocks are folded in and dropped; the last final block stays, as an ancestor. */
  #advance(): void {
    const final = this.#kept.findLastIndex(({ block }) => block.number < this.#finalized)
    if (final < 0) return
    const settled = this.#kept.splice(0, final + 1)
    const { number } = (settled.at(-1) as Kept).block
    const isPast = ({ after }: Outside) => after < number
    fold(this.#base, settled, this.#outside.filter(isPast))
    this.#outside = this.#outside.filter(each => !isPast(each))
  }
}

/** Blocks in order, each with its readings, and each outside input after the height at which it came. */
function fold(state: State, kept: readonly Kept[], outside: readonly Outside[]): void {
  let at = 0
  const flush = (below: number) => {
    for (; at < outside.length && (outside[at] as Outside).after < below; at++)
      step(state, (outside[at] as Outside).input)
  }
  for (const { block, input, readings } of kept) {
    flush(block.number)
    step(state, input)
    for (const reading of readings) step(state, reading)
  }
  flush(Number.MAX_SAFE_INTEGER)
}

/** Copied through its entities, as a restart would restore it. */
const copyOf = (state: State): State =>
  decodeState(
    state.setup,
    [...entityKeys(state)].map((key): [EntityKey, string] => [key, encodeEntity(state, key) as string]),
  )

/** The first place where two values differ. */
function difference(seen: unknown, expected: unknown, path = 'state'): string {
  if (typeof seen !== 'object' || typeof expected !== 'object' || seen === null || expected === null)
    return `${path} is ${show(seen)}, expected ${show(expected)}`
  for (const key of new Set([...Object.keys(seen), ...Object.keys(expected)])) {
    const [a, b] = [(seen as Record<string, unknown>)[key], (expected as Record<string, unknown>)[key]]
    if (!isDeepStrictEqual(a, b)) return difference(a, b, `${path}.${key}`)
  }
  return `${path} differs in kind`
}

const show = (value: unknown): string =>
  typeof value === 'bigint'
    ? `${value}n`
    : (
        JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each)) ??
        'nothing'
      ).slice(0, 200)
