/**
 * Assigns connection slots, and chooses which connection gives one up. Unauthenticated connections (without a valid
 * credential) go first: of the network with the most of them, the one that has been quiet longest. So no network keeps
 * more than the others leave it, and one newcomer always gets a slot beside any number of silent sockets.
 *
 * A connection with a credential gives its slot only to another one, and only while it is idle.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A connection is idle after this many checks without traffic, when an authenticated one needs its slot. */
const IDLE_LOOKS = 2
/**
 * An answer that its client has not read for this many checks no longer keeps the slot: longer than any handler takes.
 */
const STALLED_LOOKS = 8

export type Slot = {
  readonly socket: Socket
  /** The address, or the /64 of an IPv6 address; one value for all trusted proxies. */
  readonly network: string
  /** Whether a valid credential arrived over it. */
  isKnown: boolean
  /** An open stream, which ends by its own rules. */
  isStream: boolean
  /** The answer to its last request. */
  answer: ServerResponse | null
  /** Requests that arrived before the answer to the previous one was written. */
  ahead: number
  /** Bytes transferred at the last check, and the number of checks since they changed. */
  traffic: number
  quietLooks: number
}

export class ConnectionSlots {
  readonly #unauthenticated = new Crowd()
  readonly #known = new Crowd()

  get unauthenticated(): number {
    return this.#unauthenticated.size
  }

  unauthenticatedOf(network: string): number {
    return this.#unauthenticated.countOf(network)
  }

  enter(slot: Slot): void {
    this.#crowdOf(slot).add(slot)
  }

  leave(slot: Slot): void {
    this.#crowdOf(slot).delete(slot)
  }

  /** Records whether its last credential was valid. */
  know(slot: Slot, isKnown: boolean): void {
    this.leave(slot)
    slot.isKnown = isKnown
    this.enter(slot)
  }

  /** The unauthenticated connection that gives way to any new one; null when there is none. */
  leastUnauthenticated(): Slot | null {
    for (const [, slots] of this.#unauthenticated.largestFirst()) return quietest(slots)
    return null
  }

  leastUnauthenticatedOf(network: string): Slot | null {
    return quietest(this.#unauthenticated.of(network))
  }

  /**
   * The idle connection that gives way to an authenticated one; if a network exceeds its share, any of its connections
   * that is not answering a request.
   */
  leastAuthenticated(newcomer: Slot, share: number): Slot | null {
    for (const [network, slots] of this.#known.largestFirst()) {
      const isGreedy = slots.size > share && network !== newcomer.network
      const least = quietest([...slots].filter(slot => slot !== newcomer && mayGo(slot, isGreedy)))
      if (least !== null) return least
    }
    return null
  }

  #crowdOf({ isKnown }: Slot): Crowd {
    return isKnown ? this.#known : this.#unauthenticated
  }
}

/** Connections by network, oldest first. */
class Crowd {
  readonly #byNetwork = new Map<string, Set<Slot>>()
  size = 0

  add(slot: Slot): void {
    const slots = this.#byNetwork.get(slot.network)
    if (slots === undefined) this.#byNetwork.set(slot.network, new Set([slot]))
    else slots.add(slot)
    this.size += 1
  }

  delete(slot: Slot): void {
    const slots = this.#byNetwork.get(slot.network)
    if (slots?.delete(slot) !== true) return
    this.size -= 1
    if (slots.size === 0) this.#byNetwork.delete(slot.network)
  }

  of(network: string): Iterable<Slot> {
    return this.#byNetwork.get(network) ?? []
  }

  countOf(network: string): number {
    return this.#byNetwork.get(network)?.size ?? 0
  }

  /** Finds the largest without sorting the others, because callers mostly need only that one. */
  *largestFirst(): Generator<readonly [string, ReadonlySet<Slot>]> {
    let largest: readonly [string, ReadonlySet<Slot>] | null = null
    for (const each of this.#byNetwork) if (largest === null || each[1].size > largest[1].size) largest = each
    if (largest === null) return
    yield largest
    const [first] = largest
    const others = [...this.#byNetwork].filter(([network]) => network !== first)
    yield* others.sort(([, a], [, b]) => b.size - a.size)
  }
}

function quietest(slots: Iterable<Slot>): Slot | null {
  let least: Slot | null = null
  for (const slot of slots) if (least === null || slot.quietLooks > least.quietLooks) least = slot
  return least
}

function mayGo({ isStream, answer, quietLooks }: Slot, isGreedy: boolean): boolean {
  if (isStream) return false
  const isAtWork = answer !== null && !answer.writableFinished
  return isAtWork ? quietLooks >= STALLED_LOOKS : isGreedy || quietLooks >= IDLE_LOOKS
}
