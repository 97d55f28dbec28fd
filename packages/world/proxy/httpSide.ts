/** The proxy over HTTP: one request, one answer or a list of them, delivered whole or as a fault requires. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Delivery, type Outcome, pause } from './exchange.ts'
import { answerText, deliveryOf } from './message.ts'
import type { RpcCall } from './rule.ts'

export async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  handle: (calls: readonly RpcCall[]) => Promise<readonly Outcome[]>,
  signal: AbortSignal,
): Promise<void> {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as RpcCall | readonly RpcCall[]
  const calls = Array.isArray(body) ? (body as readonly RpcCall[]) : [body as RpcCall]
  const outcomes = await handle(calls)
  const delivery = deliveryOf(outcomes)
  if (delivery === 'handled') return
  await deliver(response, answerText(calls, outcomes, Array.isArray(body)), delivery, signal)
}

async function deliver(
  response: ServerResponse,
  text: string,
  delivery: Delivery | null,
  signal: AbortSignal,
): Promise<void> {
  const bytes = Buffer.from(text)
  const head = (length: number): ServerResponse =>
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': length })
  switch (delivery?.kind) {
    case undefined:
      head(bytes.length).end(bytes)
      return
    case 'drop':
      response.destroy()
      return
    case 'status':
      response.writeHead(delivery.status, delivery.headers).end(delivery.body ?? '')
      return
    case 'truncate': {
      const part = bytes.subarray(0, Math.floor(bytes.length * delivery.share))
      if (delivery.isClean === true) head(part.length).end(part)
      else head(bytes.length).write(part, () => response.destroy())
      return
    }
    case 'hang':
      if (delivery.after === 'headers') head(bytes.length + 1).flushHeaders()
      return
    case 'drip':
      head(bytes.length)
      for (let at = 0; at < bytes.length && isOpen(response, signal); at += delivery.bytes) {
        response.write(bytes.subarray(at, at + delivery.bytes))
        await pause(delivery.everyMs, signal)
      }
      response.end()
      return
    case 'body':
      response.writeHead(200, { 'content-type': 'application/json' })
      for (let n = 0; n < (delivery.repeat ?? 1) && isOpen(response, signal); n++)
        if (!response.write(delivery.body)) await drained(response)
      response.end()
  }
}

/** Resolves when there is room again, or when the reader is gone; either way, no listener remains. */
async function drained(response: ServerResponse): Promise<void> {
  const over = new AbortController()
  const { signal } = over
  const waits = [once(response, 'drain', { signal }), once(response, 'close', { signal })]
  await Promise.race(waits)
  over.abort()
  await Promise.allSettled(waits)
}

const isOpen = (response: ServerResponse, signal: AbortSignal): boolean =>
  !signal.aborted && !response.destroyed && response.socket !== null
