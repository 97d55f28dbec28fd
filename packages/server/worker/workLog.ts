/** Counts the work of a chain's thread for metrics. It wraps the host from outside, which does not know about it. */
import { step } from '@assay/engine'
import type { Feed } from '../feed/feed.ts'
import type { Work } from './chainService.ts'

export class WorkLog {
  #input = ''
  #stepMs = 0
  #commitMs = 0
  #verifiedBlocks = 0
  #reorgs = 0
  #feed: Feed | null = null

  /** The engine's step, timed. */
  readonly step: typeof step = (state, input) => {
    const startMs = performance.now()
    const result = step(state, input)
    this.#input = input.kind
    this.#stepMs = performance.now() - startMs
    return result
  }

  /** A commit, timed. */
  commit<Given, Outcome>(commit: (given: Given) => Promise<Outcome>): (given: Given) => Promise<Outcome> {
    return async given => {
      const startMs = performance.now()
      const outcome = await commit(given)
      this.#commitMs = performance.now() - startMs
      return outcome
    }
  }

  /** The same feed, with its items counted. */
  follow(feed: Feed): Feed {
    this.#feed = feed
    const count = (item: { readonly kind: string; readonly blocks?: readonly unknown[] }) => {
      if (item.kind === 'block' || item.kind === 'rebase') this.#verifiedBlocks += 1
      if (item.kind === 'reorg') {
        this.#reorgs += 1
        this.#verifiedBlocks += item.blocks?.length ?? 0
      }
    }
    return {
      async *items(signal) {
        for await (const item of feed.items(signal)) {
          count(item)
          yield item
        }
      },
      processed: block => feed.processed(block),
      rpc: feed.rpc,
      past: feed.past,
      simulator: feed.simulator,
      calls: () => feed.calls(),
      close: () => feed.close(),
    }
  }

  /** The counts as of the commit just made. */
  get work(): Work {
    return {
      input: this.#input,
      stepMs: this.#stepMs,
      commitMs: this.#commitMs,
      verifiedBlocks: this.#verifiedBlocks,
      reorgs: this.#reorgs,
      endpoints: this.#feed?.calls() ?? [],
    }
  }
}
