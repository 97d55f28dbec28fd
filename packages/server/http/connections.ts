/**
 * Sockets at the door, streams included. Those beyond what is served are told to come back; those beyond that are not
 * taken, so that the files a process may open are never all in the hands of strangers: the feed and the store keep
 * theirs. One address may not take all places without saying anything, and nobody keeps one without using it.
 */
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { ClientAddresses } from '../access/clientAddress.ts'

/** Served at once. */
export const MAX_CONNECTIONS = 2000
/** Beyond those: taken to be told that there is no place. */
const TOLD = 64
/** Files that are no connections of clients: the databases of all threads, endpoints, pipes. */
const OWN_FILES = 128
/** Even where hardly a file may be opened, an operator gets in. */
const LEAST = 16
/** Sockets of one address that have not sent a request yet: half of all, and they have five seconds. */
const MAX_SILENT = MAX_CONNECTIONS / 2

/**
 * A connection over which nothing came and nothing went between two looks so far apart is closed: longer than the
 * minute that balancers keep theirs. Node would set and clear a timer at every answer for it.
 */
const IDLE_MS = 72_000

/** No traffic is less than none: who has just come is there at the next look. */
const UNSEEN = -1

export class Connections {
  readonly most: number
  readonly #addresses: ClientAddresses
  /** Those of which no request has come, and how many they are by address. */
  readonly #waiting = new WeakMap<Socket, string>()
  readonly #silent = new Map<string, number>()
  /** By connection, the bytes that had gone over it at the last look. Streams look after themselves. */
  readonly #traffic = new Map<Socket, number>()
  #open = 0

  constructor(server: Server, addresses: ClientAddresses, { files = fileLimit(), idleMs = IDLE_MS } = {}) {
    this.#addresses = addresses
    this.most = Math.max(LEAST, Math.min(MAX_CONNECTIONS, files - OWN_FILES - TOLD))
    server.maxConnections = this.most + TOLD
    server.keepAliveTimeout = 0
    server.on('connection', socket => this.#take(socket))
    server.on('upgrade', ({ socket }) => {
      this.heard(socket)
      this.#traffic.delete(socket)
    })
    const looking = setInterval(() => this.#closeIdle(), idleMs).unref()
    server.once('close', () => clearInterval(looking))
  }

  get isFull(): boolean {
    return this.#open > this.most
  }

  #take(socket: Socket): void {
    this.#open += 1
    this.#traffic.set(socket, UNSEEN)
    socket.once('close', () => {
      this.#open -= 1
      this.#traffic.delete(socket)
      this.heard(socket)
    })
    const { remoteAddress: address = '' } = socket
    // Behind a proxy everyone has the same.
    if (this.#addresses.isTrusted(address)) return
    const silent = (this.#silent.get(address) ?? 0) + 1
    if (silent > MAX_SILENT) {
      socket.destroy()
      return
    }
    this.#silent.set(address, silent)
    this.#waiting.set(socket, address)
  }

  #closeIdle(): void {
    for (const [socket, before] of this.#traffic) {
      const traffic = socket.bytesRead + socket.bytesWritten
      if (traffic === before) socket.destroy()
      else this.#traffic.set(socket, traffic)
    }
  }

  /** A request has come of it. */
  heard(socket: Socket): void {
    // Mostly nobody is silent, and then nobody has to be looked for.
    if (this.#silent.size === 0) return
    const address = this.#waiting.get(socket)
    if (address === undefined) return
    this.#waiting.delete(socket)
    const left = (this.#silent.get(address) ?? 1) - 1
    if (left === 0) this.#silent.delete(address)
    else this.#silent.set(address, left)
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
