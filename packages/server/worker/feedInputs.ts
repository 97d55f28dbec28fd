/**
 * Turns items of the feed into inputs of the engine: blocks decoded to pool events, reorganisations, starts at the
 * head, finality and health. Each is one step, and the feed is notified of a block once it is committed.
 */
import { count, type Family, type Input, ms, type State, type StepResult } from '@assay/engine'
import type { BlockRef, Feed, FeedItem, HealthRecord, VerifiedBlock } from '../feed/feed.ts'
import type { Market } from '../market/market.ts'
import type { Address } from '../ops/hex.ts'
import type { Log } from '../ops/log.ts'
import { engineBlock, engineRef } from './engineBlock.ts'
import type { Dormancy } from './readings/dormancy.ts'
import type { Enrolments } from './readings/enrolments.ts'
import type { SellWatch } from './readings/sellWatch.ts'
import type { RecentBlocks } from './recentBlocks.ts'
import type { Reload } from './readings/reload.ts'
import { healthAtHead, reportedHealth } from './reportedHealth.ts'
import type { Upkeep } from './readings/upkeep.ts'

export type FeedInputsContext = {
  readonly state: State
  readonly feed: Pick<Feed, 'processed'>
  readonly market: Pick<Market, 'decode'>
  readonly recent: RecentBlocks
  readonly enrolments: Pick<Enrolments, 'isArriving'>
  readonly reload: Reload
  readonly upkeep: Pick<Upkeep, 'tend' | 'answersOf'>
  readonly dormancy: Dormancy
  /** Null when no endpoint can simulate calls. */
  readonly sellWatch?: Pick<SellWatch, 'note' | 'tend'> | undefined
  /** Call only inside the lane. */
  readonly apply: (input: Input) => Promise<StepResult>
  readonly now: () => Input['atMs']
  readonly onFailure: (failure: unknown) => void
  readonly signal: AbortSignal
  readonly log: Log
}

export class FeedInputs {
  readonly #context: FeedInputsContext
  /** The feed's latest report. */
  #health: HealthRecord | null = null

  constructor(context: FeedInputsContext) {
    this.#context = context
  }

  /** Call only inside the lane. */
  async take(item: FeedItem): Promise<void> {
    const { apply, now, recent, reload, feed } = this.#context
    switch (item.kind) {
      case 'block': {
        const block = this.#decoded(item.block, new Map())
        const applied = apply({ kind: 'block', block, atMs: now() })
        recent.append(block)
        await applied
        await this.#applyAnswers([item.block])
        this.#context.sellWatch?.note({ logs: item.block.logs, events: block.events })
        return this.#settled(item.block, [item.block])
      }
      case 'reorg': {
        // A pool created in one block of the branch is not in the state yet when the next block mentions it.
        const born = new Map<Address, Family>()
        const { ancestor } = item
        const blocks = item.blocks.map(block => this.#decoded(block, born))
        const applied = apply({ kind: 'reorg', ancestor, blocks, atMs: now() })
        recent.replace(ancestor, blocks)
        await applied
        await this.#applyAnswers(item.blocks)
        reload.reorganised()
        if (reload.isRebasing) await this.tellAgain()
        const tip = item.blocks.at(-1)
        return tip === undefined ? undefined : this.#settled(tip, item.blocks, { isReorg: true })
      }
      case 'rebase':
        await this.#rebase(item)
        return feed.processed(refOf(item.block))
      case 'finalize':
        await apply({ kind: 'finalize', number: count(item.number), hash: item.hash, atMs: now() })
        return
      case 'health':
        this.#health = item.record
        await this.#tellHealth(item.record)
        await this.#context.dormancy.tend()
    }
  }

  /** Applies the feed's latest health again, as it reads now. Call only inside the lane. */
  async tellAgain(): Promise<void> {
    if (this.#health !== null) await this.#tellHealth(this.#health)
  }

  async #tellHealth(record: HealthRecord): Promise<void> {
    const { state, reload, apply, now } = this.#context
    const nowMs = now()
    const { isRebasing } = reload
    const view = { isPaused: state.chain.paused, isRebasing, gap: state.gaps.at(-1), nowMs }
    await apply({ kind: 'health', health: reportedHealth(record, view), atMs: nowMs })
  }

  /** Restarts at the head: everything known before is read again, and the skipped blocks are recorded as a gap. */
  async #rebase({ block, ancestor }: Extract<FeedItem, { kind: 'rebase' }>): Promise<void> {
    const { state, reload, recent, apply, now, log } = this.#context
    const { chainId } = state.setup
    const { tip, finalized, paused } = state.chain
    const nowMs = now()
    const gap = { fromBlock: count(ancestor.number + 1), toBlock: count(block.number), atMs: nowMs }
    reload.rebased()
    recent.restart({ ...block, timeMs: ms(block.timeMs) })
    const record = healthAtHead(chainId, block, finalized, this.#health, nowMs)
    await apply({
      kind: 'rebase_head',
      block: engineRef(block),
      ancestor: ancestor.hash,
      health: reportedHealth(record, { isPaused: paused, isRebasing: true, gap, nowMs }),
      atMs: nowMs,
    })
    log.warn('after a long stop the chain starts again at its head; the blocks in between are skipped', {
      chain_id: chainId,
      from_block: gap.fromBlock,
      to_block: gap.toBlock,
      is_last_block_still_canonical: tip?.hash === ancestor.hash,
    })
    reload.start()
  }

  /** Feed answers logged in these blocks, oldest first, each at its block. */
  async #applyAnswers(blocks: readonly VerifiedBlock[]): Promise<void> {
    const { upkeep, apply, now } = this.#context
    for (const block of blocks) {
      const answers = upkeep.answersOf(block)
      if (answers.length > 0)
        await apply({ kind: 'feed_answer', block: engineRef(block), answers, atMs: now() })
    }
  }

  /** After the commit of a block: notify the feed, then read the state that blocks do not contain. */
  #settled(
    block: VerifiedBlock,
    blocks: readonly VerifiedBlock[],
    kind?: { readonly isReorg: boolean },
  ): void {
    const { feed, upkeep, sellWatch, signal, onFailure } = this.#context
    feed.processed(refOf(block))
    const tended = [
      upkeep.tend(blocks, kind),
      ...(sellWatch === null || sellWatch === undefined ? [] : [sellWatch.tend()]),
    ]
    Promise.all(tended).catch((failure: unknown) => {
      if (!signal.aborted) onFailure(failure)
    })
  }

  /** `born` contains pools created earlier in the same input; those created in this block are added. */
  #decoded(block: VerifiedBlock, born: Map<Address, Family>): Extract<Input, { kind: 'block' }>['block'] {
    const { state, market, recent, enrolments } = this.#context
    const { pools, tokens, setup } = state
    const isAnchor = (token: Address) =>
      setup.routingAssets.includes(token) || setup.stables.some(stable => stable.token === token)
    const isWanted = (token: Address) =>
      isAnchor(token) || tokens.get(token)?.enrolledAtMs != null || enrolments.isArriving(token)
    const events = market.decode(
      block,
      pool => pools.get(pool)?.terms.family ?? born.get(pool) ?? recent.familyOf(pool),
      (token0, token1) => (isAnchor(token0) || isAnchor(token1)) && isWanted(token0) && isWanted(token1),
    )
    for (const { event, pool, family } of events) if (event.kind === 'CREATED') born.set(pool, family)
    return engineBlock(block, events)
  }
}

const refOf = ({ number, hash, timeMs }: BlockRef): BlockRef => ({ number, hash, timeMs })
