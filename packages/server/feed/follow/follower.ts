/**
 * Turns announced heads into items: every block after the tip in order and linked by hash, or one reorganisation with
 * its whole replacement branch.
 *
 * All blocks of a step are fetched and verified before the lineage changes, so a failure at any point leaves the
 * lineage as it was and the walk restarts from a fresh head.
 */
import type { Clock } from '../../ops/clock.ts'
import { ConditionVariable } from '../conditionVariable.ts'
import { fetchVerified, type WhichBlock } from '../proof/block.ts'
import { confirmReplaced, fetchBranch } from './replacementBranch.ts'
import type { FeedLog } from '../feedLog.ts'
import type { EndpointSet } from '../endpoints/endpointSet.ts'
import type { BlockRef, FeedItem, VerifiedBlock } from '../feed.ts'
import { FeedError, isFeedError } from '../feedError.ts'
import type { SeenHead } from './headChoice.ts'
import type { Head } from '../proof/header.ts'
import type { HeaderBook } from './headerBook.ts'
import type { Lineage } from './lineage.ts'
import { fetchRebase, isLongStop } from './longStop.ts'

type FollowerOptions = {
  readonly chainId: number
  readonly endpoints: EndpointSet
  readonly lineage: Lineage
  /** Known headers, which need no fetch. */
  readonly book: HeaderBook
  readonly processed: BlockRef | null
  /** How many blocks below the head the first walk begins. */
  readonly startBehind: number
  readonly clock: Clock
  readonly log: FeedLog
  /** The walk to the announced head failed. */
  readonly onBlocked: (head: SeenHead) => void
  /** A new item is available, or the progress changed. */
  readonly onChange: () => void
}

/** Progress of the follower and the consumer; times named `AtMs` are monotonic. */
export type Progress = {
  /** The chain's head, no matter how far the walk has come; a head above a refused block does not count. */
  readonly head: (BlockRef & { readonly seenAtMs: number }) | null
  readonly processed: BlockRef | null
  /** When the oldest known but unprocessed block was first seen. */
  readonly nextSeenAtMs: number | null
  readonly refusedSinceMs: number | null
  /** Number of verified blocks that the consumer has processed. */
  readonly processedBlocks: number
  /** Proof of the newest verified block. */
  readonly proof: VerifiedBlock['proof'] | null
  readonly isHalted: boolean
}

type ChainItem = Extract<FeedItem, { kind: 'block' | 'reorg' | 'rebase' }>
type Given = { readonly hash: string; readonly seenAtMs: number; readonly blocks: number }

/** Blocks fetched but not yet taken; a few megabytes at most. */
const AHEAD = 8
/** Pause between two attempts of a failed walk; a new head cuts it short. */
const RETRY_MS = { first: 100, most: 2000 } as const
/** Only the lowest one matters at a time, so dropping heads above the limit loses nothing. */
const MOST_KNOWN = 1024
/** Safe to wait long: every change notifies. */
const IDLE_MS = 60_000

export class Follower {
  readonly #options: FollowerOptions
  readonly #changed = new ConditionVariable()
  readonly #items: ChainItem[] = []
  /** Items whose last block is not processed yet, oldest first. */
  #given: Given[] = []
  #announced: SeenHead | null = null
  /** The last head that a walk reached. */
  #reachedHash: string | null = null
  #isTrusted = false
  #verifiedBlocks = 0
  /** Heads above all verified blocks, lowest first, with the time each was first seen. */
  #known: { readonly number: number; readonly seenAtMs: number }[] = []
  #progress: Progress

  constructor(options: FollowerOptions) {
    this.#options = options
    this.#progress = {
      head: null,
      processed: options.processed,
      nextSeenAtMs: null,
      refusedSinceMs: null,
      processedBlocks: 0,
      proof: null,
      isHalted: false,
    }
  }

  get progress(): Progress {
    return { ...this.#progress, nextSeenAtMs: (this.#given[0] ?? this.#known[0])?.seenAtMs ?? null }
  }

  announce(head: SeenHead): void {
    this.#announced = head
    this.#known = this.#known.filter(({ number }) => number < head.number)
    if (!this.#options.lineage.has(head.hash) && this.#known.length < MOST_KNOWN)
      this.#known.push({ number: head.number, seenAtMs: head.seenAtMs })
    if (this.#isTrusted) this.#know({ head })
    this.#changed.notify()
  }

  take(): ChainItem | null {
    const item = this.#items.shift() ?? null
    if (item !== null) this.#changed.notify()
    return item
  }

  processed(block: BlockRef): void {
    const at = this.#given.findIndex(({ hash }) => hash === block.hash)
    const done = this.#given.splice(0, at + 1)
    const processedBlocks = done.reduce((sum, { blocks }) => sum + blocks, this.#progress.processedBlocks)
    this.#know({ processed: block, processedBlocks })
  }

  /** Runs until the signal aborts or the chain is halted. */
  async run(signal: AbortSignal): Promise<void> {
    let retryMs: number = RETRY_MS.first
    while (!signal.aborted && !this.#progress.isHalted) {
      const head = this.#announced
      if (head === null || this.#isReached(head) || this.#items.length >= AHEAD) {
        await this.#changed.wait(signal, IDLE_MS)
        continue
      }
      const verifiedBlocks = this.#verifiedBlocks
      try {
        if (await this.#advance(head, signal)) this.#reach(head)
        this.#trust()
        retryMs = RETRY_MS.first
      } catch (error) {
        if (signal.aborted) return
        if (!isFeedError(error)) throw error
        this.#distrust(error, head)
        // Part of the walk succeeded, so this failure starts a new series.
        if (this.#verifiedBlocks > verifiedBlocks) retryMs = RETRY_MS.first
        await this.#changed.wait(signal, retryMs)
        retryMs = Math.min(retryMs * 2, RETRY_MS.most)
      }
    }
  }

  /** Walks one stretch towards the head; true when the head is reached. */
  async #advance(head: SeenHead, signal: AbortSignal): Promise<boolean> {
    const { lineage } = this.#options
    const { tip, base } = lineage
    if (tip === null || base === null) {
      const { startBehind } = this.#options
      const isAtHead = startBehind === 0 || head.number <= startBehind
      const [which] = this.#wanted(isAtHead ? head.number : head.number - startBehind, 1, head)
      if (which !== undefined) this.#extend(await this.#fetch(which, head, signal))
      return isAtHead
    }
    // At or below the tip: the endpoint is slightly behind; the chain is not shorter.
    if (lineage.has(head.hash)) {
      const isBack = head.isReturn && head.number < tip.number && head.number > base.number
      return isBack ? this.#reorganise(head, head, signal) : true
    }
    if (head.number < base.number) {
      head.endpoint.isLagging = true
      const sentence = `its head ${head.number} is below block ${base.number}, which cannot be undone`
      throw new FeedError('ENDPOINT_BEHIND', head.endpoint.name, sentence)
    }
    if (await isLongStop(this.#options, head, signal)) return this.#rebase(head, signal)
    if (head.number <= tip.number) return this.#reorganise(head, head, signal)
    return this.#extendTowards(head, tip, signal)
  }

  async #extendTowards(head: SeenHead, tip: BlockRef, signal: AbortSignal): Promise<boolean> {
    const last = Math.min(head.number, tip.number + AHEAD - this.#items.length)
    const wanted = this.#wanted(tip.number + 1, last - tip.number, head)
    const fetches = wanted.map(which => this.#fetch(which, head, signal))
    // A later fetch may fail while an earlier one is awaited; all must finish before the next stretch begins.
    const all = Promise.allSettled(fetches)
    try {
      for (const [at, fetch] of fetches.entries()) {
        const block = await fetch
        if (block.parentHash === this.#options.lineage.tip?.hash) this.#extend(block)
        else return at === 0 ? await this.#reorganise(block, head, signal) : false
      }
    } finally {
      await all
    }
    return last === head.number
  }

  async #reorganise(fork: Head, head: SeenHead, signal: AbortSignal): Promise<boolean> {
    const { lineage, endpoints } = this.#options
    const source = { endpoints, lineage, ahead: AHEAD, source: head.endpoint }
    const branch = await fetchBranch(source, fork, head, signal)
    if (branch.kind === 'too_deep') {
      await confirmReplaced(source, head, signal)
      // We restarted at a head that was replaced: restarting again undoes nothing that was followed before the gap.
      return lineage.isAfterGap ? this.#rebase(head, signal) : this.#halt(head)
    }
    const { ancestor, blocks } = branch
    if (blocks.length === 0)
      throw new FeedError('BLOCK_REFUSED', null, `the branch of ${fork.number} ${fork.hash} does not link up`)
    lineage.replace(ancestor, blocks)
    this.#give({ kind: 'reorg', ancestor, blocks }, blocks)
    return lineage.tip?.hash === head.hash
  }

  async #rebase(head: SeenHead, signal: AbortSignal): Promise<boolean> {
    const { lineage, endpoints } = this.#options
    const rebase = await fetchRebase(this.#options, head, signal)
    if (rebase.kind === 'too_deep') {
      await confirmReplaced({ endpoints, lineage, ahead: AHEAD, source: head.endpoint }, head, signal)
      return this.#halt(head)
    }
    const { block, ancestor } = rebase
    lineage.rebase(block, ancestor)
    this.#give({ kind: 'rebase', block, ancestor }, [block])
    return true
  }

  #halt(head: SeenHead): boolean {
    const { lineage, log, chainId } = this.#options
    log('error', 'a reorganisation reaches below what can be undone; the chain is halted', {
      chain_id: chainId,
      base_number: lineage.base?.number,
      base_hash: lineage.base?.hash,
      head_number: head.number,
      head_hash: head.hash,
    })
    this.#know({ isHalted: true })
    return false
  }

  /** This many blocks from a number up, each by its header where we have it. */
  #wanted(from: number, blocks: number, head: SeenHead): readonly WhichBlock[] {
    const headers = new Map(
      this.#options.book.downFrom(head.hash, from).map(header => [header.number, header]),
    )
    const numbers = Array.from({ length: blocks }, (_, at) => from + at)
    return numbers.map(number => headers.get(number) ?? (number === head.number ? head.hash : number))
  }

  #fetch(which: WhichBlock, { endpoint }: SeenHead, signal: AbortSignal): Promise<VerifiedBlock> {
    return fetchVerified(this.#options.endpoints, which, signal, endpoint)
  }

  #extend(block: VerifiedBlock): void {
    this.#options.lineage.extend(block)
    this.#give({ kind: 'block', block }, [block])
  }

  #give(item: ChainItem, blocks: readonly VerifiedBlock[]): void {
    const [first, last] = [blocks[0], blocks.at(-1)]
    if (first === undefined || last === undefined) return
    const known = this.#known.find(({ number }) => number >= first.number)
    const seenAtMs = known?.seenAtMs ?? this.#options.clock.monotonicMs()
    this.#items.push(item)
    this.#given.push({ hash: last.hash, seenAtMs, blocks: blocks.length })
    this.#verifiedBlocks += blocks.length
    this.#known = this.#known.filter(({ number }) => number > last.number)
    this.#know({ refusedSinceMs: null, proof: last.proof })
  }

  /** A head that was reached and then left for a short-lived branch has to be walked to again. */
  #isReached({ hash }: SeenHead): boolean {
    return hash === this.#reachedHash && this.#options.lineage.has(hash)
  }

  #reach(head: SeenHead): void {
    this.#reachedHash = head.hash
    if (this.#announced === head) this.#known = []
  }

  #trust(): void {
    if (this.#progress.isHalted) return
    this.#isTrusted = true
    this.#know({ head: this.#announced })
  }

  /** After a failed check the head falls back to the verified tip; after any other failure it stays. */
  #distrust(error: FeedError, head: SeenHead): void {
    const { log, lineage, clock, chainId, onBlocked } = this.#options
    const fields = { chain_id: chainId, head_number: head.number, code: error.code, reason: error.message }
    log('warn', 'the next block cannot be verified', fields)
    if (error.code === 'BLOCK_REFUSED' || error.code === 'ENDPOINT_BEHIND') this.#isTrusted = false
    if (error.code === 'BLOCK_REFUSED') {
      const { tip } = lineage
      const seenAtMs = this.#progress.head?.seenAtMs ?? clock.monotonicMs()
      this.#know({
        refusedSinceMs: this.#progress.refusedSinceMs ?? clock.monotonicMs(),
        head: tip === null || this.#progress.head === null ? null : { ...tip, seenAtMs },
      })
    }
    onBlocked(head)
  }

  #know(news: Partial<Progress>): void {
    this.#progress = { ...this.#progress, ...news }
    this.#options.onChange()
  }
}
