/**
 * Open sockets, streams included. A fixed number is served at once; `connectionSlots.ts` decides which one gives way to a new
 * one. If none can, the new client is asked to retry, and further ones are not accepted, so that clients can never use
 * up all file descriptors of the process: the feed and the store keep theirs. Idle connections are closed.
 */
import { readFileSync } from 'node:fs'
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ClientAddresses, networkOf } from '../../access/clientAddress.ts'
import { type Slot, ConnectionSlots } from './connectionSlots.ts'

/** Connections served at once. */
export const MAX_CONNECTIONS = 2000
/** In addition to those: accepted to present a credential, to answer a probe, or to be refused with 503. */
const WAITING = 64
/** File descriptors for other uses: the databases of all threads, endpoints, pipes. */
const OWN_FILES = 128
/** Even with very few file descriptors, an operator can connect. */
const LEAST = 16

/**
 * A connection without traffic for this long is closed: longer than the one minute of common load balancers. Node would
 * set and clear a timer for it at every answer.
 */
const IDLE_MS = 72_000
/** Interval of the traffic checks. */
const LOOK_MS = 2500

/**
 * Requests one connection may pipeline. Node starts all requests of one packet at once, so without a bound 50 sockets
 * could make all others wait for 10,000 answers. No browser pipelines; programs that do send a handful.
 */
const MAX_AHEAD = 32

/** Below any real traffic, so a new connection counts as active until the next check. */
const UNSEEN = -1
/**
 * Behind a proxy all clients share its address, so its connections belong to no network that could exceed its share.
 */
const PROXIES = 'proxies'

export class Connections {
  readonly most: number
  /** The share of one network: a hard limit for unauthenticated connections, and for others only while a slot is needed. */
  readonly #share: number
  readonly #addresses: ClientAddresses
  readonly #idleLooks: number
  readonly #open = new Map<Socket, Slot>()
  readonly #slots = new ConnectionSlots()

  constructor(server: Server, addresses: ClientAddresses, { files = fileLimit(), idleMs = IDLE_MS } = {}) {
    this.#addresses = addresses
    this.most = Math.max(LEAST, Math.min(MAX_CONNECTIONS, files - OWN_FILES - WAITING))
    this.#share = this.most / 2
    this.#idleLooks = Math.ceil(idleMs / LOOK_MS)
    server.maxConnections = this.most + WAITING
    server.keepAliveTimeout = 0
    server.on('connection', socket => this.#take(socket))
    server.on('upgrade', ({ socket }) => {
      const slot = this.#open.get(socket)
      if (slot !== undefined) slot.isStream = true
    })
    const looking = setInterval(() => this.#look(), LOOK_MS).unref()
    server.once('close', () => clearInterval(looking))
  }

  get isFull(): boolean {
    return this.#open.size > this.most
  }

  /**
   * Call when a request arrives; `answer` is its response. False when the client pipelines too many requests: the
   * caller drops this one, and the connection closes after the last pending answer.
   */
  heard(socket: Socket, answer: ServerResponse): boolean {
    const slot = this.#open.get(socket)
    if (slot === undefined) return true
    if (slot.ahead === MAX_AHEAD) return false
    slot.ahead = slot.answer?.writableEnded === false ? slot.ahead + 1 : 0
    slot.answer = answer
    if (slot.ahead === MAX_AHEAD) answer.shouldKeepAlive = false
    return true
  }

  /** Its credential is valid. False when there is no slot for it. */
  admit(socket: Socket): boolean {
    const slot = this.#open.get(socket)
    if (slot === undefined) return true
    if (!slot.isKnown) this.#slots.know(slot, true)
    if (!this.isFull) return true
    const least = this.#slots.leastUnauthenticated() ?? this.#slots.leastAuthenticated(slot, this.#share)
    if (least === null) return false
    this.#end(least)
    return true
  }

  /** It has no valid credential. */
  distrust(socket: Socket): void {
    const slot = this.#open.get(socket)
    if (slot?.isKnown === true && slot.network !== PROXIES) this.#slots.know(slot, false)
  }

  #take(socket: Socket): void {
    const { remoteAddress = '' } = socket
    const isProxy = this.#addresses.isTrusted(remoteAddress)
    const network = isProxy ? PROXIES : networkOf(remoteAddress)
    if (!isProxy) this.#makeRoom(network)
    const slot: Slot = {
      socket,
      network,
      isKnown: isProxy,
      isStream: false,
      answer: null,
      ahead: 0,
      traffic: UNSEEN,
      quietLooks: 0,
    }
    this.#open.set(socket, slot)
    this.#slots.enter(slot)
    socket.once('close', () => this.#forget(slot))
    if (isProxy && this.isFull) this.admit(socket)
  }

  /** Call before another unauthenticated connection is accepted. A few may wait even when authenticated connections hold all slots. */
  #makeRoom(network: string): void {
    const slots = this.#slots
    if (slots.unauthenticatedOf(network) >= this.#share) this.#end(slots.leastUnauthenticatedOf(network))
    else if (this.#open.size >= this.most && slots.unauthenticated >= WAITING)
      this.#end(slots.leastUnauthenticated())
  }

  /** Frees its slot at once, because the close event comes later. */
  #end(slot: Slot | null): void {
    if (slot === null) return
    this.#forget(slot)
    slot.socket.destroy()
  }

  #forget(slot: Slot): void {
    if (this.#open.delete(slot.socket)) this.#slots.leave(slot)
  }

  #look(): void {
    for (const slot of this.#open.values()) {
      if (slot.isStream) continue
      const { socket } = slot
      const traffic = socket.bytesRead + socket.bytesWritten
      slot.quietLooks = traffic === slot.traffic ? slot.quietLooks + 1 : 0
      slot.traffic = traffic
      if (slot.quietLooks >= this.#idleLooks) this.#end(slot)
    }
  }
}

/** How many files this process may open; infinite when the system does not report it. */
function fileLimit(): number {
  try {
    const text = readFileSync('/proc/self/limits', 'utf8')
    return Number(/^Max open files +(\d+)/m.exec(text)?.[1] ?? Number.POSITIVE_INFINITY)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
