/**
 * The life of a chain: blocks at its pace, a round of trades in each, and feeds updated before they go stale. The
 * chain can be halted and its feeds frozen. Any other action on it happens in its lane, between two rounds.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Address } from 'viem'
import type { ChainNode } from './chainNode.ts'
import { Lane } from './lane.ts'
import type { ChainPlan } from './plan.ts'
import { type SeededChain, setAnswer } from './seeding.ts'
import type { Traders } from './traders.ts'
import type { WorldClock } from './worldClock.ts'

/** The pause after a round that failed or found nothing to do; in world time, like the next constant. */
const PAUSE_MS = 500
/** How often a stable's feed is updated: well within its heartbeat. */
const ANSWER_MS = 30_000
/** How often the state on disk is copied. */
const KEEP_MS = 60_000
/** The age in blocks at which a node is renewed: its memory and its state have grown by several megabytes. */
const RENEW_BLOCKS = 2000n

export class ChainLife {
  readonly #node: ChainNode
  readonly #plan: ChainPlan
  readonly #seeded: SeededChain
  readonly #traders: Traders
  readonly #clock: WorldClock
  readonly #lane = new Lane()
  readonly #answers: Map<string, number>
  readonly #frozen = new Set<string>()
  #isRenewing = false
  /** The last block of a chain with an accelerated clock. */
  #mined: Promise<unknown> = Promise.resolve()
  #isHalted = false
  #isLive = false
  #isOver = false
  #ended: Promise<unknown> = Promise.resolve()
  #answeredAtMs = performance.now()
  /** The first state is copied as soon as it exists: without a copy, a node that ends has no state to resume from. */
  #keptAtMs = Number.NEGATIVE_INFINITY
  #renewedAt = 0n

  constructor(node: ChainNode, plan: ChainPlan, seeded: SeededChain, traders: Traders, clock: WorldClock) {
    this.#node = node
    this.#plan = plan
    this.#seeded = seeded
    this.#traders = traders
    this.#clock = clock
    this.#answers = new Map(Object.keys(seeded.feeds).map(symbol => [symbol, 1]))
  }

  /** Starts automatic blocks and trades. */
  async start(renewEveryBlocks = RENEW_BLOCKS): Promise<void> {
    this.#isLive = true
    this.#renewedAt = await this.#height()
    await this.#pace()
    this.#ended = Promise.all([this.#run(renewEveryBlocks), this.#mineInHurry()])
  }

  exclusively<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#lane.run(task)
  }

  /** Sets the answer of a stable's feed in dollars from now on. Only inside the lane while the chain is live. */
  async answer(symbol: string, usd: number): Promise<void> {
    this.#answers.set(symbol, usd)
    await setAnswer(this.#node.client, this.#feedOf(symbol), usd, this.#clock.nowS())
  }

  /** Repeats the answer of every feed that is not frozen. Only inside the lane while the chain is live. */
  async answerFeeds(): Promise<void> {
    this.#answeredAtMs = performance.now()
    const due = [...this.#answers].filter(([symbol]) => !this.#frozen.has(symbol))
    const say = ([symbol, usd]: (typeof due)[number]) =>
      setAnswer(this.#node.client, this.#feedOf(symbol), usd, this.#clock.nowS())
    // In one block when blocks are automatic. When each transaction makes a block, two at once would use the same
    // nonce.
    if (this.#isLive) await Promise.all(due.map(say))
    else for (const each of due) await say(each)
  }

  /** A stable's feed is no longer updated; its last answer remains. */
  freeze(symbol: string): void {
    this.#feedOf(symbol)
    this.#frozen.add(symbol)
  }

  async thaw(symbol: string): Promise<void> {
    this.#frozen.delete(symbol)
    await this.answer(symbol, this.#answers.get(symbol) as number)
  }

  /** Whether blocks and trades are automatic. */
  get isLive(): boolean {
    return this.#isLive
  }

  get isHalted(): boolean {
    return this.#isHalted
  }

  async halt(): Promise<void> {
    this.#isHalted = true
    await this.#node.client.setIntervalMining({ interval: 0 })
    await this.#node.client.setAutomine(false)
  }

  async resume(): Promise<void> {
    this.#isHalted = false
    await this.#pace()
  }

  /** A reorganisation sets the node's clock back to the fork; a block brings it to the present. */
  keepTime(): Promise<void> {
    return this.#node.setClock(this.#clock.nowS)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    // A round that waits for its block fails with the node.
    await this.#node.close()
    await this.#ended
  }

  async #run(renewEveryBlocks: bigint): Promise<void> {
    while (!this.#isOver) {
      // A failed round, for example with the node, is lost, but the traders continue.
      const isBusy = await this.#lane.run(() => this.#round(renewEveryBlocks)).catch(() => false)
      if (!isBusy && !this.#isOver) await wait(PAUSE_MS / this.#clock.hurry)
    }
  }

  async #round(renewEveryBlocks: bigint): Promise<boolean> {
    if (this.#isHalted || this.#isOver) return false
    // A node that ended on its own resumes from the state it wrote last: its blocks since then are lost, as in a
    // reorganisation.
    const isOld = this.#node.hasEnded || (await this.#height()) - this.#renewedAt >= renewEveryBlocks
    if (isOld) await this.#renew()
    if (performance.now() - this.#keptAtMs >= KEEP_MS && this.#node.keepState())
      this.#keptAtMs = performance.now()
    const isBusy = await this.#traders.round()
    if ((performance.now() - this.#answeredAtMs) * this.#clock.hurry >= ANSWER_MS) await this.answerFeeds()
    return isBusy
  }

  /** Nothing mines meanwhile: a block of a node whose clock is not set yet would have a past timestamp. */
  async #renew(): Promise<void> {
    this.#isRenewing = true
    try {
      await this.#mined
      await this.#node.renew()
      await this.#node.setClock(this.#clock.nowS)
      await this.#pace()
      this.#renewedAt = await this.#height()
    } finally {
      this.#isRenewing = false
    }
  }

  #height(): Promise<bigint> {
    return this.#node.client.getBlockNumber()
  }

  /** A chain that is not live mines for every transaction. */
  async #pace(): Promise<void> {
    const { client } = this.#node
    if (!this.#isLive) await client.setAutomine(true)
    else if (this.#clock.hurry === 1) await client.setIntervalMining({ interval: this.#plan.blockTimeS })
    else {
      await client.setAutomine(false)
      await client.setBlockTimestampInterval({ interval: this.#plan.blockTimeS })
    }
  }

  /** A node's own interval supports whole seconds only. */
  async #mineInHurry(): Promise<void> {
    const { hurry } = this.#clock
    if (hurry === 1) return
    const intervalMs = (this.#plan.blockTimeS * 1000) / hurry
    for (
      let dueMs = performance.now();
      !this.#isOver;
      dueMs = Math.max(dueMs + intervalMs, performance.now())
    ) {
      // A node that is being renewed, or has ended, misses its turn.
      if (!this.#isHalted && !this.#isRenewing) {
        this.#mined = this.#node.client.mine({ blocks: 1 }).catch(() => undefined)
        await this.#mined
      }
      await wait(Math.max(0, dueMs + intervalMs - performance.now()))
    }
  }

  #feedOf(symbol: string): Address {
    const feed = this.#seeded.feeds[symbol]
    if (feed !== undefined) return feed
    const known = Object.keys(this.#seeded.feeds).join(', ')
    throw new Error(`${symbol} has no price feed on chain ${this.#plan.chainId}; ${known} have`)
  }
}
