/**
 * Assigns connection slots, and chooses which connection gives one up. Strangers (connections without a valid
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

export type Place = {
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

export class Places {
  readonly #strangers = new Crowd()
  readonly #known = new Crowd()

  get strangers(): number {
    return this.#strangers.size
  }

  strangersOf(network: string): number {
    return this.#strangers.countOf(network)
  }

  enter(place: Place): void {
    this.#crowdOf(place).add(place)
  }

  leave(place: Place): void {
    this.#crowdOf(place).delete(place)
  }

  /** Records whether its last credential was valid. */
  know(place: Place, isKnown: boolean): void {
    this.leave(place)
    place.isKnown = isKnown
    this.enter(place)
  }

  /** The unauthenticated connection that gives way to any new one; null when there is none. */
  leastStranger(): Place | null {
    for (const [, places] of this.#strangers.largestFirst()) return quietest(places)
    return null
  }

  leastStrangerOf(network: string): Place | null {
    return quietest(this.#strangers.of(network))
  }

  /**
   * The idle connection that gives way to an authenticated one; if a network exceeds its share, any of its connections
   * that is not answering a request.
   */
  leastKnown(newcomer: Place, share: number): Place | null {
    for (const [network, places] of this.#known.largestFirst()) {
      const isGreedy = places.size > share && network !== newcomer.network
      const least = quietest([...places].filter(place => place !== newcomer && mayGo(place, isGreedy)))
      if (least !== null) return least
    }
    return null
  }

  #crowdOf({ isKnown }: Place): Crowd {
    return isKnown ? this.#known : this.#strangers
  }
}

/** Connections by network, oldest first. */
class Crowd {
  readonly #byNetwork = new Map<string, Set<Place>>()
  size = 0

  add(place: Place): void {
    const places = this.#byNetwork.get(place.network)
    if (places === undefined) this.#byNetwork.set(place.network, new Set([place]))
    else places.add(place)
    this.size += 1
  }

  delete(place: Place): void {
    const places = this.#byNetwork.get(place.network)
    if (places?.delete(place) !== true) return
    this.size -= 1
    if (places.size === 0) this.#byNetwork.delete(place.network)
  }

  of(network: string): Iterable<Place> {
    return this.#byNetwork.get(network) ?? []
  }

  countOf(network: string): number {
    return this.#byNetwork.get(network)?.size ?? 0
  }

  /** Finds the largest without sorting the others, because callers mostly need only that one. */
  *largestFirst(): Generator<readonly [string, ReadonlySet<Place>]> {
    let largest: readonly [string, ReadonlySet<Place>] | null = null
    for (const each of this.#byNetwork) if (largest === null || each[1].size > largest[1].size) largest = each
    if (largest === null) return
    yield largest
    const [first] = largest
    const others = [...this.#byNetwork].filter(([network]) => network !== first)
    yield* others.sort(([, a], [, b]) => b.size - a.size)
  }
}

function quietest(places: Iterable<Place>): Place | null {
  let least: Place | null = null
  for (const place of places) if (least === null || place.quietLooks > least.quietLooks) least = place
  return least
}

function mayGo({ isStream, answer, quietLooks }: Place, isGreedy: boolean): boolean {
  if (isStream) return false
  const isAtWork = answer !== null && !answer.writableFinished
  return isAtWork ? quietLooks >= STALLED_LOOKS : isGreedy || quietLooks >= IDLE_LOOKS
}
