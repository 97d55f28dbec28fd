/**
 * The part of a chain that is followed: all of it, or some tokens and pools. The stream always covers the whole
 * chain, because only then can it be resumed; this filters the rest.
 *
 * Everything in scope is complete: a token with every pool it is in, a pool with both its tokens.
 */
import { type Address, type Id, isAddress, toId } from '../wire/identifier.ts'
import type { Pool } from '../wire/pool.ts'
import type { Envelope } from '../wire/stream.ts'

export type ScopeRequest = {
  /** By address or id. A token is followed with the pools it is in. */
  readonly token?: string | readonly string[]
  /** By address or id. A pool is followed with its two tokens. */
  readonly pool?: string | readonly string[]
}

export class Scope {
  readonly #tokens: ReadonlySet<Id>
  readonly #pools: ReadonlySet<Id>
  /** Tokens of the requested pools. */
  readonly #sides = new Set<Id>()
  readonly isWhole: boolean

  constructor({ token, pool }: ScopeRequest = {}) {
    this.#tokens = idsOf(token)
    this.#pools = idsOf(pool)
    this.isWhole = token === undefined && pool === undefined
  }

  /** Addresses whose pools are sufficient for a snapshot; null when it needs every page. */
  get tokenAddresses(): readonly Address[] | null {
    return this.isWhole || this.#pools.size > 0 ? null : [...this.#tokens].map(addressOf)
  }

  hasToken(tokenId: Id): boolean {
    return this.isWhole || this.#tokens.has(tokenId) || this.#sides.has(tokenId)
  }

  /** Called for each pool once it is known, because its tokens come with it. */
  takes({ pool_id, token0, token1 }: Pick<Pool, 'pool_id' | 'token0' | 'token1'>): boolean {
    return this.#takes(pool_id, [token0.token_id, token1.token_id])
  }

  has({ type, payload, routing }: Envelope): boolean {
    if (this.isWhole || type === 'FEED_HEALTH') return true
    return 'pool_id' in payload
      ? this.#takes(payload.pool_id, routing.token_ids)
      : this.hasToken(payload.token_id)
  }

  #takes(poolId: Id, sides: readonly Id[]): boolean {
    if (this.isWhole) return true
    if (this.#pools.has(poolId)) {
      for (const side of sides) this.#sides.add(side)
      return true
    }
    return sides.some(side => this.#tokens.has(side))
  }
}

const addressOf = (id: Id): Address => `0x${id.slice(26)}`

function idsOf(given: string | readonly string[] = []): Set<Id> {
  const list = typeof given === 'string' ? [given] : given
  return new Set(list.map(each => (isAddress(each) ? toId(each) : idIn(each))))
}

function idIn(text: string): Id {
  const id = text.toLowerCase()
  if (!/^0x[0-9a-f]{64}$/.test(id))
    throw new RangeError(`${JSON.stringify(text)} is neither an address nor an id`)
  return id as Id
}
