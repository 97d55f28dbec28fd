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
  readonly signal: AbortSignal
  readonly log: Log
}

export class RequestedReadings {
  readonly #context: RequestedContext
  readonly #pools = new Set<Address>()
  readonly #tokens = new Set<Address>()
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
    if (this.#isReading || (this.#pools.size === 0 && this.#tokens.size === 0)) return
    this.#isReading = true
    this.#read()
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

  /** Reads what the engine requested. What cannot be read is requested again with the next step, and delays nothing else. */
  async #read(): Promise<void> {
    const { intake, market, signal } = this.#context
    const own = { market, signal }
    await inHalves(
      [...this.#tokens],
      async some => {
        await intake.facts(some, own)
        for (const token of some) this.#tokens.delete(token)
      },
      (token, failure) => this.#notYet('a token', token, failure),
      signal,
    )
    const found = await this.#identify([...this.#pools])
    // From here on, another request for the same pool is a new one.
    for (const address of found.keys()) this.#pools.delete(address)
    const pools = [...found.values()].filter(each => each !== null)
    try {
      await inHalves(
        pools,
        some => intake.pools(some, own),
        ({ address }, failure) => {
          this.#pools.add(address)
          this.#notYet('a pool', address, failure)
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
        for (const [at, address] of some.entries()) found.set(address, read[at] ?? null)
      },
      (address, failure) => this.#notYet('a pool', address, failure),
      signal,
    )
    return found
  }

  #notYet(what: string, address: Address, { message }: FeedError): void {
    this.#context.log.warn(`${what} could not be read again yet`, { address, reason: message })
  }
}
