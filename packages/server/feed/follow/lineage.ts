/**
 * The delivered blocks that the consumer can still undo, and the block below them, which it can return to but not undo.
 * Numbers are consecutive, and each block is the parent of the next.
 */
import assert from 'node:assert/strict'
import type { Hex } from '../../ops/hex.ts'
import { digestOf } from '../proof/blockDigest.ts'
import type { BlockRef, Resume, VerifiedBlock } from '../feed.ts'

export type Position = { readonly number: number; readonly hash: Hex }

/** A block that was delivered without a proof that all its logs are there, with the `digest` of the delivered logs. */
export type Unproven = Position & { readonly digest: string }

export class Lineage {
  readonly #limit: number
  /** The lowest block that a reorganisation may return to; null before the first block. */
  #base: Position | null = null
  /** Above the base, oldest first. */
  #blocks: BlockRef[] = []
  #tip: BlockRef | null = null
  /** The last block before the gap, if the base follows one: a restart at the head may return to it. */
  #beforeGap: Position | null = null
  /** Oldest first. */
  #unproven: Unproven[] = []

  /** `limit`: how many blocks the consumer keeps undo data for. */
  constructor(resume: Resume | null, limit: number) {
    this.#limit = limit
    if (resume === null) return
    const undoable = resume.undoable.toSorted((a, b) => a.number - b.number)
    for (const [at, block] of undoable.entries())
      assert(
        block.number === resume.tip.number - undoable.length + 1 + at,
        `undoable blocks are not consecutive up to the tip ${resume.tip.number}: ${block.number}`,
      )
    assert(
      undoable.length === 0 || undoable.at(-1)?.hash === resume.tip.hash,
      'the last undoable block is the tip',
    )
    const { finalized, tip } = resume
    const lowest = undoable[0]
    this.#tip = tip
    if (lowest === undefined) this.#base = tip
    else if (finalized !== null && finalized.number >= lowest.number - 1) this.#base = finalized
    else this.#base = { number: lowest.number - 1, hash: lowest.parentHash }
    if (resume.beforeGap !== undefined && this.#base !== finalized) this.#beforeGap = resume.beforeGap
    const base = this.#base.number
    this.#blocks = undoable
      .filter(({ number }) => number > base)
      .map(({ number, hash, timeMs }) => ({ number, hash, timeMs }))
  }

  get tip(): BlockRef | null {
    return this.#tip
  }

  get base(): Position | null {
    return this.#base
  }

  /** Whether the blocks below the base were skipped although they are not final. */
  get isAfterGap(): boolean {
    return this.#beforeGap !== null
  }

  /** The blocks that a restart at the head may return to, oldest first. */
  get returnable(): readonly Position[] {
    return [this.#beforeGap, this.#base, ...this.#blocks].filter(each => each !== null)
  }

  /** Puts everything up to `block` behind a gap; below it only `ancestor` is known. */
  rebase(block: BlockRef, ancestor: Position): void {
    const { number, hash, timeMs } = block
    this.#tip = { number, hash, timeMs }
    this.#base = this.#tip
    this.#beforeGap = ancestor
    this.#blocks = []
    this.#unproven = []
  }

  /** Whether a reorganisation may return to this block. */
  has(hash: Hex): boolean {
    return this.#base?.hash === hash || this.#blocks.some(block => block.hash === hash)
  }

  /** A delivered block by number; the base counts only when it is the tip. */
  at(number: number): BlockRef | null {
    const first = this.#blocks[0]
    if (first !== undefined) return this.#blocks[number - first.number] ?? null
    return this.#tip?.number === number ? this.#tip : null
  }

  extend(block: VerifiedBlock): void {
    assert(
      this.#tip === null || (block.parentHash === this.#tip.hash && block.number === this.#tip.number + 1),
      `block ${block.number} ${block.hash} does not extend ${this.#tip?.number} ${this.#tip?.hash}`,
    )
    this.#base ??= { number: block.number - 1, hash: block.parentHash }
    this.#tip = { number: block.number, hash: block.hash, timeMs: block.timeMs }
    this.#blocks.push(this.#tip)
    if (block.proof === 'none')
      this.#unproven.push({ number: block.number, hash: block.hash, digest: digestOf(block) })
    const below = this.#blocks.length > this.#limit ? this.#blocks.shift() : undefined
    if (below === undefined) return
    this.#base = below
    this.#beforeGap = null
    // A block that can no longer be undone needs no proof.
    if (this.#unproven[0]?.hash === below.hash) this.#unproven.shift()
  }

  replace(ancestor: Hex, blocks: readonly VerifiedBlock[]): void {
    assert(this.has(ancestor), `${ancestor} is below what can be undone`)
    const kept = this.#blocks.findIndex(block => block.hash === ancestor) + 1
    this.#blocks.length = kept
    const isKept = new Set(this.#blocks.map(({ hash }) => hash))
    this.#unproven = this.#unproven.filter(({ hash }) => isKept.has(hash))
    this.#tip = this.#blocks.at(-1) ?? { ...(this.#base as Position), timeMs: 0 }
    for (const block of blocks) this.extend(block)
  }

  /** The oldest delivered block without a proof. */
  get unproven(): Unproven | null {
    return this.#unproven[0] ?? null
  }

  /** The delivered logs of this block are now proven complete. */
  prove(hash: Hex): void {
    this.#unproven = this.#unproven.filter(each => each.hash !== hash)
  }

  /** Blocks up to this one can no longer be undone. */
  finalize(number: number): void {
    const final = this.#blocks.findLast(block => block.number <= number)
    if (final === undefined) return
    this.#base = final
    this.#beforeGap = null
    this.#blocks = this.#blocks.filter(block => block.number > number)
    this.#unproven = this.#unproven.filter(block => block.number > number)
  }
}
