/** Arbitrary responses and messages, from a service or an impostor, become values, an `AssayError`, or an outcome. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { expectUntouched, jsonText, runs, SECRET, spoiled, text } from '../../server/ops/testing/hostile.ts'
import { AssayError } from './failure.ts'
import { call } from './http.ts'
import { type Socket, Stream } from './stream.ts'

const KEYS = ['type', 'payload', 'stream_sequence', 'routing', 'reason', 'code', 'message', 'detail', 'error']
const VALUES = ['"PRICE_UPSERT"', '"RESET_REQUIRED"', '{}', '7', '"NO_ROUTE"', '[]']
const bytes = fc.oneof(jsonText(KEYS, VALUES), spoiled(jsonText(KEYS, VALUES)), text(200))

it('a response of any status and text is a body or an AssayError, without the key', async () => {
  const status = fc.constantFrom(200, 202, 204, 304, 400, 401, 403, 404, 418, 422, 429, 500, 503)
  const later = fc.constantFrom('1', '-1', '1e9', '9'.repeat(30), 'Sun, 15 Nov 2026 00:00:00 GMT', '')
  await fc.assert(
    fc.asyncProperty(status, bytes, later, async (code, body, retryAfter) => {
      const isBare = [204, 304].includes(code)
      const fetch = async () =>
        new Response(isBare ? null : body, { status: code, headers: { 'retry-after': retryAfter } })
      const http = { baseUrl: new URL('http://service.example'), apiKey: SECRET, fetch }
      const answer: unknown = await call(http, { path: 'v1/chains' }).catch((failure: unknown) => failure)
      if (answer instanceof Error) {
        expect(answer).toBeInstanceOf(AssayError)
        expect(`${answer.message} ${JSON.stringify(answer)}`).not.toContain(SECRET)
      } else expect(typeof answer).toBe('object')
      expectUntouched()
    }),
    runs(300),
  )
})

/** One end of a socket that a test speaks through. */
class Line implements Socket {
  readonly #listeners = new Map<string, (event: { data?: unknown }) => void>()
  send(): void {}
  close(): void {}
  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void {
    this.#listeners.set(type, listener)
  }
  say(type: string, event: { data?: unknown; code?: number; reason?: string } = {}): void {
    this.#listeners.get(type)?.(event)
  }
}

it('messages of any text are envelopes with a sequence, or the end', async () => {
  let heard = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(bytes, fc.constant(new Uint8Array(3))), { maxLength: 5 }),
      text(),
      async (messages, reason) => {
        const line = new Line()
        const stream = new Stream(line, { filter: { chain_ids: [1] } })
        line.say('open')
        for (const data of ['{"type":"A","payload":{},"stream_sequence":1}', ...messages])
          line.say('message', { data })
        line.say('close', { code: 1013, reason })
        for await (const envelope of stream) {
          heard++
          expect(Number.isSafeInteger(envelope.stream_sequence)).toBe(true)
          expect(typeof envelope.payload).toBe('object')
        }
        expect(['CLOSED', 'GIVEN_UP', 'RESET_REQUIRED']).toContain((await stream.outcome).kind)
        expectUntouched()
      },
    ),
    runs(300),
  )
  expect(heard).toBeGreaterThan(0)
})
