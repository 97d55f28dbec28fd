/**
 * Reads what the engine requests from the chain: decimals of tokens it met, and whole pools whose state it cannot
 * derive. All reading happens beside the lane. What cannot be read delays nothing else.
 */
import type { Input, LoadedPool, State, StepResult } from '@assay/engine'
import type { FeedError } from '../../feed/feedError.ts'
import type { Market } from '../../market/market.ts'
import type { Address } from '../../ops/hex.ts'
import type { Log } from '../../ops/log.ts'
import { bornAs } from './audit.ts'
import { inHalves } from './inHalves.ts'
import type { Intake } from './intake.ts'

type BlockRef = Extract<Input, { kind: 'load' }>['block']
type NewPool = LoadedPool['pool']

export type RequestedContext = {
  readonly state: State
  readonly intake: Pick<Intake, 'read' | 'facts' | 'pools'>
  readonly market: Market
  readonly now: () => Input['atMs']
  readonly signal: AbortSignal
  readonly log: Log
}

/** The wait after a failure, and the longest after several: what can never be read must not use up a chain's calls. */
const WAIT_MS = 1000
const LONGEST_WAIT_MS = 300_000

type Wait = { readonly forMs: number; readonly untilMs: number }

export class RequestedReadings {
  readonly #context: RequestedContext
  readonly #pools = new Set<Address>()
  readonly #tokens = new Set<Address>()
  /** What failed, until it is read. */
  readonly #waits = new Map<Address, Wait>()
  #isReading = false

  constructor(context: RequestedContext) {
    this.#context = context
  }

  /** Records requests of a step. They are kept until loaded, because a step requests once. */
  note(needs: StepResult['needs']): void {
    for (const need of needs)
      if (need.kind === 'load' && need.why === 'REBASED') continue
      else if (need.kind === 'load') this.#pools.add(need.pool)
      else this.#tokens.add(need.token)
    if (this.#isReading) return
    const tokens = this.#due(this.#tokens)
    const pools = this.#due(this.#pools)
    if (tokens.length === 0 && pools.length === 0) return
    this.#isReading = true
    this.#read(tokens, pools)
      .catch((failure: unknown) => {
        if (!this.#context.signal.aborted)
          this.#context.log.warn('what the engine requested could not be read yet', {
            error: String(failure),
          })
      })
      .finally(() => {
        this.#isReading = false
      })
  }

  async #read(tokens: readonly Address[], addresses: readonly Address[]): Promise<void> {
    const { intake, market, signal } = this.#context
    const own = { market, signal }
    await inHalves(
      tokens,
      async some => {
        await intake.facts(some, own)
        for (const token of some) {
          this.#tokens.delete(token)
          this.#waits.delete(token)
        }
      },
      (token, failure) => this.#postpone('a token', token, failure),
      signal,
    )
    const found = await this.#identify(addresses)
    // From here on, another request for the same pool is a new one.
    for (const address of found.keys()) this.#pools.delete(address)
    const pools = [...found.values()].filter(each => each !== null)
    try {
      await inHalves(
        pools,
        async some => {
          await intake.pools(some, own)
          for (const { address } of some) this.#waits.delete(address)
        },
        ({ address }, failure) => {
          this.#pools.add(address)
          this.#postpone('a pool', address, failure)
        },
        signal,
      )
    } catch (failure) {
      for (const { address } of pools) this.#pools.add(address)
      throw failure
    }
  }

  /** Null for what is no pool any more, such as one whose creation was orphaned. */
  async #identify(wanted: readonly Address[]): Promise<ReadonlyMap<Address, NewPool | null>> {
    const { intake, market, signal, state } = this.#context
    const found = new Map<Address, NewPool | null>()
    const identityOf = async (address: Address, block: BlockRef): Promise<NewPool | null> => {
      const known = state.pools.get(address)
      if (known !== undefined) return bornAs(known)
      const identity = await market.identify(address, block, signal)
      return identity.kind === 'pool' ? identity.pool : null
    }
    await inHalves(
      wanted,
      async some => {
        const read = await intake.read({ market, signal }, block =>
          Promise.all(some.map(address => identityOf(address, block))),
        )
        for (const [at, address] of some.entries()) {
          found.set(address, read[at] ?? null)
          if (read[at] === null) this.#waits.delete(address)
        }
      },
      (address, failure) => this.#postpone('a pool', address, failure),
      signal,
    )
    return found
  }

  #due(requested: ReadonlySet<Address>): readonly Address[] {
    const nowMs = this.#context.now()
    return [...requested].filter(address => (this.#waits.get(address)?.untilMs ?? 0) <= nowMs)
  }

  #postpone(what: string, address: Address, { message }: FeedError): void {
    const { log, now } = this.#context
    const lastMs = this.#waits.get(address)?.forMs ?? WAIT_MS / 2
    const forMs = Math.min(2 * lastMs, LONGEST_WAIT_MS)
    this.#waits.set(address, { forMs, untilMs: now() + forMs })
    log.warn(`${what} could not be read again yet`, { address, reason: message, again_in_ms: forMs })
  }
}
