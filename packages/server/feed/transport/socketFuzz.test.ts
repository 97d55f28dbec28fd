/** Whatever a node sends over a WebSocket: the call has its answer or a failure of the node, and heads are heads or nothing. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { Secret } from '../../ops/secret.ts'
import { expectUntouched, jsonText, runs, SECRET, spoiled, text } from '../../ops/testing/hostile.ts'
import { parseAddress } from './address.ts'
import { DEFAULT_LIMITS } from './connection.ts'
import { isFeedError } from '../feedError.ts'
import { proofRulesOf } from '../proof/proofRules.ts'
import { decodePushed } from '../proof/header.ts'
import { RPC_MEMBERS } from '../testing/rpcMembers.ts'
import { openWebSocket } from './webSocketConnection.ts'

const NAME = 'own'
const LIMITS = { ...DEFAULT_LIMITS, deadlineMs: 60_000, bodyBytes: 100_000, answerBytes: 100_000 }

let server: WebSocketServer
let url: string
beforeAll(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/v3/${SECRET}`
})
afterAll(() => {
  for (const client of server.clients) client.terminate()
  server.close()
})

const KEYS = [...RPC_MEMBERS, 'method', 'params', 'subscription', 'number', 'hash']
const VALUES = [
  '2',
  '"eth_subscription"',
  '"0x1"',
  `{"subscription":"0x1","result":{}}`,
  `"${SECRET}"`,
  '{"number":"0x1"}',
]
const message = fc.oneof(
  spoiled(jsonText(KEYS, VALUES)),
  jsonText(KEYS, VALUES).map(each => `{"jsonrpc":"2.0","id":2,"result":${each}}`),
  jsonText(KEYS, VALUES).map(each => `{"jsonrpc":"2.0","id":2,"error":${each}}`),
  jsonText(KEYS, VALUES).map(each => `{"method":"eth_subscription","params":${each}}`),
  jsonText(KEYS, VALUES).map(
    each => `{"method":"eth_subscription","params":{"subscription":"0x1","result":${each}}}`,
  ),
  text(100),
  fc.uint8Array({ maxLength: 50 }).map(each => Buffer.from(each)),
  fc.constant('x'.repeat(LIMITS.bodyBytes + 1)),
)

/** The subscription is answered as it should be; the call after it with whatever there is, and then with the end. */
function speak(socket: WebSocket, messages: readonly (string | Buffer)[]): void {
  socket.once('message', () => {
    socket.send('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
    socket.once('message', () => {
      for (const each of messages) socket.send(each, () => undefined)
      socket.close()
    })
  })
}

it('arbitrary messages end in a result or in a failure of the node', async () => {
  let answered = 0
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 4 }), async messages => {
      server.once('connection', socket => speak(socket, messages))
      const { signal } = new AbortController()
      const address = parseAddress(NAME, new Secret(url))
      const connection = await openWebSocket({ name: NAME, address, limits: LIMITS }, signal)
      const from = { name: NAME, proofRules: proofRulesOf({}) }
      await connection.subscribe?.(head => decodePushed(from, head), signal)
      const result: unknown = await connection
        .call('eth_any', [], signal)
        .catch((failure: unknown) => failure)
      connection.close()
      if (result instanceof Error) {
        expect(isFeedError(result)).toBe(true)
        expect(result.message).not.toContain(SECRET)
      } else answered++
      expectUntouched()
    }),
    runs(150),
  )
  expect(answered).toBeGreaterThan(0)
})
