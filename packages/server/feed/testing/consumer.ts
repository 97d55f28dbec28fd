/**
 * A consumer of a feed for tests: it pulls in the background, folds the items into a chain and fails on
 * anything that does not link up. Tests wait for conditions on what it has.
 */
import type { Feed, FeedItem, HealthRecord, VerifiedBlock } from '../feed.ts'

export class Consumer {
  readonly items: FeedItem[] = []
  readonly chain: VerifiedBlock[] = []
  readonly healths: HealthRecord[] = []
  finalized: { readonly number: number; readonly hash: string } | null = null
  readonly #abort = new AbortController()
  readonly #waiting = new Set<() => void>()
  readonly #feed: Feed
  readonly #running: Promise<void>
  #failure: unknown
  #isOver = false

  /** `commits` false: takes items and never reports them processed. `history`: what it had before. */
  constructor(
    feed: Feed,
    options: { readonly commits?: boolean; readonly history?: readonly VerifiedBlock[] } = {},
  ) {
    this.#feed = feed
    this.chain.push(...(options.history ?? []))
    this.#running = this.#pull(options.commits ?? true).catch((failure: unknown) => {
      this.#failure = failure
      this.#wake()
    })
  }

  get tip(): VerifiedBlock | undefined {
    return this.chain.at(-1)
  }

  get health(): HealthRecord | undefined {
    return this.healths.at(-1)
  }

  of<Kind extends FeedItem['kind']>(kind: Kind): Extract<FeedItem, { kind: Kind }>[] {
    return this.items.filter(item => item.kind === kind) as Extract<FeedItem, { kind: Kind }>[]
  }

  /** Resolves once the condition holds; fails with what is there when it does not in time. */
  async until(what: string, condition: (consumer: this) => boolean, limitMs = 60_000): Promise<void> {
    const endMs = performance.now() + limitMs
    while (!condition(this)) {
      if (this.#failure !== undefined) throw this.#failure
      if (this.#isOver) throw new Error(`the feed ended before: ${what}`)
      const leftMs = endMs - performance.now()
      if (leftMs <= 0)
        throw new Error(`not in time: ${what}; tip ${this.tip?.number}, ${JSON.stringify(this.health)}`)
      await this.#change(leftMs)
    }
  }

  async untilTip(block: { readonly hash: string }): Promise<void> {
    await this.until(`tip ${block.hash}`, ({ tip }) => tip?.hash === block.hash)
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await this.#running
    await this.#feed.close()
    if (this.#failure !== undefined) throw this.#failure
  }

  async #pull(commits: boolean): Promise<void> {
    for await (const item of this.#feed.items(this.#abort.signal)) {
      this.#fold(item)
      this.items.push(item)
      const { tip } = this
      if (
        commits &&
        tip !== undefined &&
        (item.kind === 'block' || item.kind === 'reorg' || item.kind === 'rebase')
      )
        this.#feed.processed(tip)
      this.#wake()
    }
    this.#isOver = true
    this.#wake()
  }

  #fold(item: FeedItem): void {
    switch (item.kind) {
      case 'block':
        return this.#append(item.block)
      case 'reorg': {
        const ancestor = this.chain.findIndex(({ hash }) => hash === item.ancestor)
        // The parent of the first block given is an ancestor that we do not have.
        if (ancestor === -1 && this.chain[0]?.parentHash !== item.ancestor)
          throw new Error(`no ancestor ${item.ancestor} on our chain`)
        this.chain.length = ancestor + 1
        for (const block of item.blocks) this.#append(block)
        return
      }
      case 'rebase': {
        const ancestor = this.chain.findIndex(({ hash }) => hash === item.ancestor.hash)
        if (ancestor === -1) throw new Error(`no ancestor ${item.ancestor.hash} on our chain`)
        this.chain.length = ancestor + 1
        this.chain.push(item.block)
        return
      }
      case 'finalize':
        if (this.finalized !== null && item.number <= this.finalized.number)
          throw new Error(`finalized ${item.number} after ${this.finalized.number}`)
        if (!this.chain.some(({ number, hash }) => number === item.number && hash === item.hash))
          throw new Error(`finalized ${item.number}, which we do not have`)
        this.finalized = item
        return
      case 'health':
        this.healths.push(item.record)
    }
  }

  #append(block: VerifiedBlock): void {
    const { tip } = this
    if (tip !== undefined && (block.parentHash !== tip.hash || block.number !== tip.number + 1))
      throw new Error(`block ${block.number} ${block.hash} does not extend ${tip.number} ${tip.hash}`)
    this.chain.push(block)
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
  }

  #change(limitMs: number): Promise<void> {
    return new Promise(resolve => {
      const wake = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, limitMs)
      this.#waiting.add(wake)
    })
  }
}
