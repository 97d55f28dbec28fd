/** Who gives up a place: on sockets of no system, so that every place and every look is the test's own. */
import { EventEmitter } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ClientAddresses } from '../../access/clientAddress.ts'
import { Connections } from './connections.ts'

/** Sixteen places, as where hardly a file may be opened; and 64 beyond them for those who have yet to show a credential. */
const FILES = 0
const PLACES = 16
const WAITING = 64
const LOOK_MS = 2500

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string
  bytesRead = 0
  bytesWritten = 0
  destroyed = false

  constructor(remoteAddress: string) {
    super()
    this.remoteAddress = remoteAddress
  }

  /** Its event comes later, as a socket's does. */
  destroy(): void {
    this.destroyed = true
    queueMicrotask(() => this.emit('close'))
  }
}

let server: EventEmitter
let connections: Connections
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  server = new EventEmitter()
  const addresses = new ClientAddresses({ trusted: ['10.0.0.1/32'], allowed: [] })
  connections = new Connections(server as Server, addresses, { files: FILES })
})
afterEach(() => {
  server.emit('close')
  vi.useRealTimers()
})

const look = (times: number) => vi.advanceTimersByTime(times * LOOK_MS)
const asSocket = (socket: FakeSocket) => socket as unknown as Socket

function come(address: string): FakeSocket {
  const socket = new FakeSocket(address)
  server.emit('connection', socket)
  return socket
}

/** One that has shown a key; `answer` is what it is given. */
function comeWithKey(address: string, { isFinished = true } = {}): FakeSocket {
  const socket = come(address)
  connections.heard(asSocket(socket), { writableFinished: isFinished } as ServerResponse)
  expect(connections.admit(asSocket(socket))).toBe(true)
  return socket
}

const crowd = (count: number, from: (address: string) => FakeSocket, address: string) =>
  Array.from({ length: count }, () => from(address))
const isGone = ({ destroyed }: FakeSocket) => destroyed

test('an address without a credential has half of the slots; beyond them its own quietest gives way to its newest', () => {
  const first = crowd(PLACES / 2, come, '192.0.2.1')
  const [, used] = first as [FakeSocket, FakeSocket]
  look(1)
  used.bytesRead = 1
  look(1)
  const next = crowd(PLACES / 2 - 1, come, '192.0.2.1')
  expect(first.filter(each => !isGone(each))).toEqual([used])
  expect(next.some(isGone)).toBe(false)
})

test('the addresses of a /64 have one share, those of IPv4 one each', () => {
  const first = crowd(PLACES / 2, come, '2001:db8:0:1::1')
  come('2001:db8::1:ffff:0:0:2')
  expect(first.filter(isGone)).toHaveLength(1)
  crowd(PLACES / 2, come, '::ffff:192.0.2.1')
  expect(come('::ffff:192.0.2.2').destroyed).toBe(false)
})

test('when slots are scarce the address with most unauthenticated connections gives way, and an authenticated one stays', () => {
  const key = comeWithKey('192.0.2.9')
  const few = Array.from({ length: WAITING }, (_, n) => come(`198.51.100.${n}`))
  const many = [come('192.0.2.1'), come('192.0.2.1')]
  const newcomer = come('192.0.2.2')
  expect(many.map(isGone)).toEqual([true, false])
  // The two that came before there was a larger address took the places of the two oldest.
  expect([key, newcomer, ...few.slice(2)].some(isGone)).toBe(false)
})

test('an authenticated connection takes the slot of an unauthenticated one, even of a new one', () => {
  crowd(PLACES - 1, comeWithKey, '192.0.2.1')
  const newcomer = come('192.0.2.2')
  comeWithKey('192.0.2.3')
  expect(newcomer.destroyed).toBe(true)
  expect(connections.isFull).toBe(false)
})

test('of authenticated connections only an idle one gives way, and only to another authenticated one', () => {
  const held = crowd(PLACES / 2, comeWithKey, '192.0.2.1')
  held.push(...crowd(PLACES / 2, comeWithKey, '192.0.2.2'))
  const refused = come('192.0.2.3')
  expect(connections.admit(asSocket(refused))).toBe(false)
  refused.emit('close')
  look(3)
  come('192.0.2.3')
  expect(held.some(isGone)).toBe(false)
  comeWithKey('192.0.2.3')
  // The unauthenticated connection gave way, and no other did.
  expect(held.some(isGone)).toBe(false)
  comeWithKey('192.0.2.3')
  expect(held.filter(isGone)).toHaveLength(1)
})

test('an address with more than half of the slots gives one to others, never an active one or a stream', () => {
  const working = comeWithKey('192.0.2.1', { isFinished: false })
  const stream = comeWithKey('192.0.2.1')
  server.emit('upgrade', { socket: stream })
  const held = crowd(PLACES - 2, comeWithKey, '192.0.2.1')
  const other = come('192.0.2.1')
  expect(connections.admit(asSocket(other))).toBe(false)
  other.emit('close')
  for (let n = 0; n < PLACES / 2; n++) comeWithKey('192.0.2.2')
  expect([working, stream].some(isGone)).toBe(false)
  expect(held.filter(isGone)).toHaveLength(PLACES / 2)
})

test('a response unread for twenty seconds keeps no slot', () => {
  const stalled = comeWithKey('192.0.2.1', { isFinished: false })
  const held = crowd(PLACES - 1, address => comeWithKey(address, { isFinished: false }), '192.0.2.2')
  look(1)
  look(7)
  const early = come('192.0.2.3')
  expect(connections.admit(asSocket(early))).toBe(false)
  early.emit('close')
  for (const each of held) each.bytesWritten += 1
  look(1)
  comeWithKey('192.0.2.3')
  expect(stalled.destroyed).toBe(true)
  expect(held.some(isGone)).toBe(false)
})

test('a trusted proxy has no share, and its connections do not count as unauthenticated', () => {
  const proxied = crowd(PLACES, come, '10.0.0.1')
  crowd(WAITING + 10, come, '192.0.2.1')
  expect(proxied.some(isGone)).toBe(false)
})

test('a connection whose credential has ended counts as unauthenticated again', () => {
  const revoked = comeWithKey('192.0.2.1')
  const held = crowd(PLACES - 1, comeWithKey, '192.0.2.2')
  connections.distrust(asSocket(revoked))
  comeWithKey('192.0.2.3')
  expect(revoked.destroyed).toBe(true)
  expect(held.some(isGone)).toBe(false)
})
