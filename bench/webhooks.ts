/**
 * The cost of a thousand webhooks to the commits of a chain: the same blocks with and without a sender, on the same
 * disk.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { claimStore, openStore } from '../packages/server/store/openStore.ts'
import type { FullStore } from '../packages/server/store/testing/connect.ts'
import { address, commitOf } from '../packages/server/store/testing/drafts.ts'
import { pricedAt } from '../packages/server/webhooks/testing/script.ts'
import type { Benchmark } from './benchmark.ts'

const WEBHOOKS = 1000
/** Each block prices all of these; each has twenty webhooks. */
const TOKENS = 50
/** Commits per call, and the time between two: a fast chain, whose sender has time to report its blocks. */
const COMMITS = 10
const BLOCK_MS = 50

const tokens = Array.from({ length: TOKENS }, (_, at) => address(at + 1))
const conditions = Array.from({ length: WEBHOOKS }, (_, at) =>
  JSON.stringify({
    kind: 'price_crosses',
    chain_id: 1,
    token_address: tokens[at % TOKENS],
    // A twentieth of the webhooks match occasionally, the others never.
    price_usd: at < TOKENS ? '1' : '2',
  }),
)

/** One token per block crosses one dollar. */
const blockOf = (step: number) =>
  commitOf(1, step, {
    records: tokens.map((token, at) =>
      pricedAt(`${step}-${at}`, Math.floor((step + at) / TOKENS) % 2 === 0 ? 99n : 101n, 100n, 7, token),
    ),
  })

class Chain {
  readonly #folder = mkdtempSync(join(tmpdir(), 'assay-webhooks-'))
  readonly address = `sqlite:${join(this.#folder, 'assay.db')}`
  #store: FullStore | null = null
  #release: (() => Promise<void>) | null = null
  #step = 0
  #ns = 0
  sender: Worker | null = null

  async open(): Promise<void> {
    this.#release = await claimStore(this.address)
    this.#store = await openStore(this.address)
    await this.commitBlocks(1)
  }

  /** Without the pauses. */
  measuredNs = (): number => this.#ns

  async commitBlocks(count = COMMITS): Promise<void> {
    this.#ns = 0
    for (let at = 0; at < count; at++) {
      this.#step += 1
      const block = blockOf(this.#step)
      const startedMs = performance.now()
      await this.#store?.commit(block)
      this.#ns += (performance.now() - startedMs) * 1e6
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      this.sender?.postMessage('committed')
      await pause(BLOCK_MS)
    }
  }

  async close(): Promise<void> {
    await this.#store?.close()
    await this.#release?.()
    rmSync(this.#folder, { recursive: true })
  }
}

export const benchmarks: readonly Benchmark[] = [beside()]

function beside(): Benchmark {
  let chains: { readonly with: Chain; readonly without: Chain } | null = null
  const of = (side: 'with' | 'without'): Chain => {
    if (chains === null) throw new Error('not prepared')
    return chains[side]
  }
  const calls = new Int32Array(new SharedArrayBuffer(4))
  return {
    name: 'webhooks: durable commit of a block beside 1,000 of them, against without',
    unit: 'block',
    goal: { ratio: 1.1, sense: 'at most' },
    ours: {
      name: 'with 1,000 webhooks',
      operations: COMMITS,
      run: () => of('with').commitBlocks(),
      measuredNs: () => of('with').measuredNs(),
    },
    peer: {
      name: 'without',
      operations: COMMITS,
      run: () => of('without').commitBlocks(),
      measuredNs: () => of('without').measuredNs(),
    },
    rounds: 12,
    async prepare() {
      chains = { with: new Chain(), without: new Chain() }
      for (const chain of [chains.with, chains.without]) await chain.open()
      const sender = new Worker(new URL('webhookThread.ts', import.meta.url), {
        workerData: { address: chains.with.address, conditions, calls },
      })
      await once(sender, 'message')
      chains.with.sender = sender
    },
    notes: () => [`${calls[0]} messages were delivered meanwhile`],
    async close() {
      const { sender } = of('with')
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      sender?.postMessage('end')
      if (sender !== null) await once(sender, 'message')
      for (const side of ['with', 'without'] as const) await of(side).close()
      if (sender !== null && calls[0] === 0) throw new Error('no message was delivered: nothing was compared')
    },
  }
}
