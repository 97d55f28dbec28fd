/**
 * Who holds the places at the door, and who gives one up when there are no more. Strangers (connections without a valid
 * credential) go first: of the network that holds most of them, the one that has been quiet longest. So no network keeps
 * more than the others leave it, and one newcomer always finds a place beside any number of silent sockets. A connection
 * with a credential gives its place only to another one, and only while it is idle.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A connection is idle after so many looks without traffic, when somebody with a credential needs its place. */
const IDLE_LOOKS = 2
/** An answer that its client has not read for so many looks no longer keeps its place: longer than any handler takes. */
const STALLED_LOOKS = 8

export type Place = {
  readonly socket: Socket
  /** The address, or the /64 of an IPv6 address; the same for all trusted proxies. */
  readonly network: string
  /** A valid credential came over it. */
  isKnown: boolean
  /** An open stream ends by its own rules. */
  isStream: boolean
  /** The answer to its last request. */
  answer: ServerResponse | null
  /** Requests that came before the answer to the one before them was written. */
  ahead: number
  /** The bytes that had gone over it at the last look, and for how many looks they have been the same. */
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

  /** Its last credential was valid, or not. */
  know(place: Place, isKnown: boolean): void {
    this.leave(place)
    place.isKnown = isKnown
    this.enter(place)
  }

  /** The stranger that gives way to any newcomer; null when there is none. */
  leastStranger(): Place | null {
    for (const [, places] of this.#strangers.largestFirst()) return quietest(places)
    return null
  }

  leastStrangerOf(network: string): Place | null {
    return quietest(this.#strangers.of(network))
  }

  /** The idle connection that gives way to one with a credential; of a network beyond its share any that is not at work. */
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

/** Connections by network, the oldest first. */
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

  /** The largest is found without sorting the others: mostly it is all that is asked for. */
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
