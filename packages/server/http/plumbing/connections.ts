/**
 * Open sockets, streams included. A fixed number is served at once; `places.ts` decides which one gives way to a
 * new one. If none can, the new client is asked to retry, and further ones are not accepted, so that clients can
 * never use up all file descriptors of the process: the feed and the store keep theirs. Idle connections are
 * closed.
 */
import { readFileSync } from 'node:fs'
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ClientAddresses, networkOf } from '../../access/clientAddress.ts'
import { type Place, Places } from './places.ts'

/** Served at once. */
export const MAX_CONNECTIONS = 2000
/** In addition to those: accepted to present a credential, to answer a probe, or to be refused with 503. */
const WAITING = 64
/** Files that are no connections of clients: the databases of all threads, endpoints, pipes. */
const OWN_FILES = 128
/** Even where hardly a file may be opened, an operator gets in. */
const LEAST = 16

/**
 * A connection over which nothing came and nothing went for so long is closed: longer than the minute that balancers keep
 * theirs. Node would set and clear a timer at every answer for it.
 */
const IDLE_MS = 72_000
/** How often the traffic of all connections is compared. */
const LOOK_MS = 2500

/**
 * Requests one connection may send ahead of their answers. Node starts all requests of one packet at once, so without a bound 50
 * sockets keep everyone else waiting for 10,000 answers. No browser pipelines; programs that do send a handful.
 */
const MAX_AHEAD = 32

/** No traffic is less than none: who has just come is there at the next look. */
const UNSEEN = -1
/** Behind a proxy everyone has the same address: its connections are of no network that could have too many. */
const PROXIES = 'proxies'

export class Connections {
  readonly most: number
  /** What one network may hold: of strangers never more, of others as long as nobody else needs a place. */
  readonly #share: number
  readonly #addresses: ClientAddresses
  readonly #idleLooks: number
  readonly #open = new Map<Socket, Place>()
  readonly #places = new Places()

  constructor(server: Server, addresses: ClientAddresses, { files = fileLimit(), idleMs = IDLE_MS } = {}) {
    this.#addresses = addresses
    this.most = Math.max(LEAST, Math.min(MAX_CONNECTIONS, files - OWN_FILES - WAITING))
    this.#share = this.most / 2
    this.#idleLooks = Math.ceil(idleMs / LOOK_MS)
    server.maxConnections = this.most + WAITING
    server.keepAliveTimeout = 0
    server.on('connection', socket => this.#take(socket))
    server.on('upgrade', ({ socket }) => {
      const place = this.#open.get(socket)
      if (place !== undefined) place.isStream = true
    })
    const looking = setInterval(() => this.#look(), LOOK_MS).unref()
    server.once('close', () => clearInterval(looking))
  }

  get isFull(): boolean {
    return this.#open.size > this.most
  }

  /**
   * A request has come over it; `answer` is its response. False when the client has sent too many requests ahead: the
   * caller drops this one, and the connection closes after the last answer that was promised.
   */
  heard(socket: Socket, answer: ServerResponse): boolean {
    const place = this.#open.get(socket)
    if (place === undefined) return true
    if (place.ahead === MAX_AHEAD) return false
    place.ahead = place.answer?.writableEnded === false ? place.ahead + 1 : 0
    place.answer = answer
    if (place.ahead === MAX_AHEAD) answer.shouldKeepAlive = false
    return true
  }

  /** Its credential is valid. False when there is no place for it. */
  admit(socket: Socket): boolean {
    const place = this.#open.get(socket)
    if (place === undefined) return true
    if (!place.isKnown) this.#places.know(place, true)
    if (!this.isFull) return true
    const least = this.#places.leastStranger() ?? this.#places.leastKnown(place, this.#share)
    if (least === null) return false
    this.#end(least)
    return true
  }

  /** It has no credential, or none that is valid. */
  distrust(socket: Socket): void {
    const place = this.#open.get(socket)
    if (place?.isKnown === true && place.network !== PROXIES) this.#places.know(place, false)
  }

  #take(socket: Socket): void {
    const { remoteAddress = '' } = socket
    const isProxy = this.#addresses.isTrusted(remoteAddress)
    const network = isProxy ? PROXIES : networkOf(remoteAddress)
    if (!isProxy) this.#makeRoom(network)
    const place: Place = {
      socket,
      network,
      isKnown: isProxy,
      isStream: false,
      answer: null,
      ahead: 0,
      traffic: UNSEEN,
      quietLooks: 0,
    }
    this.#open.set(socket, place)
    this.#places.enter(place)
    socket.once('close', () => this.#forget(place))
    if (isProxy && this.isFull) this.admit(socket)
  }

  /** Before another stranger is taken. A few may wait even where all places are held by connections with a credential. */
  #makeRoom(network: string): void {
    const places = this.#places
    if (places.strangersOf(network) >= this.#share) this.#end(places.leastStrangerOf(network))
    else if (this.#open.size >= this.most && places.strangers >= WAITING) this.#end(places.leastStranger())
  }

  /** Its place is free at once: the event of its end comes later. */
  #end(place: Place | null): void {
    if (place === null) return
    this.#forget(place)
    place.socket.destroy()
  }

  #forget(place: Place): void {
    if (this.#open.delete(place.socket)) this.#places.leave(place)
  }

  #look(): void {
    for (const place of this.#open.values()) {
      if (place.isStream) continue
      const { socket } = place
      const traffic = socket.bytesRead + socket.bytesWritten
      place.quietLooks = traffic === place.traffic ? place.quietLooks + 1 : 0
      place.traffic = traffic
      if (place.quietLooks >= this.#idleLooks) this.#end(place)
    }
  }
}

/** How many files this process may open; without bound where the system does not say. */
function fileLimit(): number {
  try {
    const text = readFileSync('/proc/self/limits', 'utf8')
    return Number(/^Max open files +(\d+)/m.exec(text)?.[1] ?? Number.POSITIVE_INFINITY)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
