/** Feeds and their consumers in tests: opened in a line, closed after the test in reverse order. */
import { afterAll, afterEach } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../../world/proxy/faultProxy.ts'
import { type Clock, systemClock } from '../../ops/clock.ts'
import type { ChainConfig } from '../../config/config.ts'
import { Secret } from '../../ops/secret.ts'
import type { BlockRef, Feed, Resume } from '../feed.ts'
import { type FeedOptions, openFeed } from '../openFeed.ts'
import { Consumer } from './consumer.ts'
import { type LocalChain, mine, startLocalChain } from './localChain.ts'

type Opened = { close(): unknown }
type FollowOptions = Partial<FeedOptions> & {
  readonly config?: Partial<ChainConfig>
  readonly commits?: boolean
  /** The consumer that the feed takes over from. */
  readonly after?: Consumer
}

const opened: Opened[] = []

/** Closed by `closeAll`, last opened first. */
export function keep<Thing extends Opened>(thing: Thing): Thing {
  opened.push(thing)
  return thing
}

export async function closeAll(): Promise<void> {
  for (const thing of opened.splice(0).reverse()) await thing.close()
}

/** The chain of a test file, with this many blocks; each test closes what it kept, and the file its chain. */
export async function chainOfFile(blocks: number): Promise<LocalChain> {
  const chain = await startLocalChain()
  afterAll(() => chain.close())
  afterEach(closeAll)
  await mine(chain, blocks)
  return chain
}

/** The same with a proxy in front of it, which keeps no fault from one test to the next. */
export async function proxiedChainOfFile(
  blocks = 0,
): Promise<{ readonly chain: LocalChain; readonly proxy: FaultProxy }> {
  const chain = await chainOfFile(blocks)
  const proxy = await startFaultProxy({ url: chain.anvil.url })
  afterAll(() => proxy.close())
  afterEach(() => proxy.clear())
  return { chain, proxy }
}

/** Names them node-1, node-2 and so on. */
export const endpointsOf = (...urls: readonly string[]): ChainConfig['endpoints'] =>
  urls.map((url, at) => ({ name: `node-${at + 1}`, url: new Secret(url) }))

export async function start(chain: LocalChain, { config, ...options }: FollowOptions = {}): Promise<Feed> {
  return keep(await openFeed({ chain: chain.config(config), clock: systemClock, resume: null, ...options }))
}

export async function follow(chain: LocalChain, options: FollowOptions = {}): Promise<Consumer> {
  const { after, commits, ...rest } = options
  const resume = options.resume ?? (after === undefined ? null : resumeOf(after))
  const feed = await start(chain, { ...rest, resume })
  return keep(new Consumer(feed, { commits: commits ?? true, history: after?.chain ?? [] }))
}

/** The real clock, which can be set forward: time passes without anyone waiting for it. */
export function forwardClock(): { readonly clock: Clock; readonly forward: (ms: number) => void } {
  let aheadMs = 0
  return {
    clock: {
      nowMs: () => systemClock.nowMs() + aheadMs,
      monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    },
    forward: ms => {
      aheadMs += ms
    },
  }
}

export function resumeOf({ chain }: Consumer): Resume {
  const undoable = chain.map(block => ({ ...refOf(block), parentHash: block.parentHash }))
  const tip = undoable.at(-1)
  if (tip === undefined) throw new Error('nothing to resume from')
  return { tip, undoable, finalized: null }
}

export const refOf = ({ number, hash, timeMs }: BlockRef): BlockRef => ({ number, hash, timeMs })
